import type { Language } from '../config.js'
import { englishWords } from './words-en.js'
import type { Words } from './words-en.js'
import { russianWords } from './words-ru.js'

const words: Readonly<Record<Language, Words>> = { en: englishWords, ru: russianWords }

/** What the portal says in a language. */
export function wordsOf(language: Language): Words {
  return words[language]
}
