import { isLanguage } from '../language.js'
import type { PortalWords } from '../portal-words-en.js'
import { wordsOf } from '../words.js'

const { lang } = document.documentElement

/** The portal's texts in the language of this page. */
export const words: PortalWords = wordsOf(isLanguage(lang) ? lang : 'en')
