import { englishAccountWords } from '../../account-words-en.js'
import type { AccountWords } from '../../account-words-en.js'
import { russianAccountWords } from '../../account-words-ru.js'

const isRussian = document.documentElement.lang === 'ru'

/** The account's texts in the language of this page. */
export const say: AccountWords = isRussian ? russianAccountWords : englishAccountWords
