import { isLanguage } from '../language.js'
import type { PortalWords } from '../portal-words-en.js'
import { wordsOf } from '../words.js'
import type { LabelsParameter } from './question/summary-question.js'

const { lang } = document.documentElement

/** The names of codes in the language of this page. */
export const labels: LabelsParameter = lang === 'ru' ? 'ru' : 'true'

/** The portal's texts in the language of this page. */
export const words: PortalWords = wordsOf(isLanguage(lang) ? lang : 'en')
