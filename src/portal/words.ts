import type { Language } from '../config.js'
import { englishWords } from './portal-words-en.js'
import type { Words } from './portal-words-en.js'
import { russianWords } from './portal-words-ru.js'

const words: Readonly<Record<Language, Words>> = { en: englishWords, ru: russianWords }

/** What the portal says in a language. */
export function wordsOf(language: Language): Words {
  return words[language]
}
