import type { Language } from '../config.js'
import { englishAccountWords } from './account-words-en.js'
import type { AccountWords } from './account-words-en.js'
import { russianAccountWords } from './account-words-ru.js'

const words: Readonly<Record<Language, AccountWords>> = {
  en: englishAccountWords,
  ru: russianAccountWords,
}

/** The texts of the account page in a language. */
export function accountWordsOf(language: Language): AccountWords {
  return words[language]
}
