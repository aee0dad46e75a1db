import { accountWordsOf } from '../../account-words.js'
import { isLanguage } from '../../language.js'

const { lang } = document.documentElement

/** The account's texts in the language of this page. */
export const say = accountWordsOf(isLanguage(lang) ? lang : 'en')
