import type { Language } from '../config.js'
import { englishWords } from './portal-words-en.js'
import type { PortalWords } from './portal-words-en.js'
import { russianWords } from './portal-words-ru.js'

const words: Readonly<Record<Language, PortalWords>> = { en: englishWords, ru: russianWords }

/** The portal's texts in a language. */
export function wordsOf(language: Language): PortalWords {
  return words[language]
}
