import { isLanguage } from '../language.js'
import type { Words } from '../portal-words-en.js'
import { wordsOf } from '../words.js'

const { lang } = document.documentElement

/** What the portal says, in the language of this page. */
export const words: Words = wordsOf(isLanguage(lang) ? lang : 'en')
