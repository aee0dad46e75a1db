import { isLanguage } from '../language.js'
import type { PortalWords } from '../portal-words-en.js'
import { signInWords } from '../sign-in-words.js'
import type { SignInWords } from '../sign-in-words.js'
import { wordsOf } from '../words.js'
import type { LabelsParameter } from './question/summary-question.js'

const { lang } = document.documentElement

/** The names of codes in the language of this page. */
export const labels: LabelsParameter = lang === 'ru' ? 'ru' : 'true'

const language = isLanguage(lang) ? lang : 'en'

/** The portal's texts in the language of this page. */
export const words: PortalWords = wordsOf(language)

/** The texts about people who sign in. */
export const signInSay: SignInWords = signInWords(language)
