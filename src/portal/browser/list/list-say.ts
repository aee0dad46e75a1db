import { listWords } from '../../list-words.js'
import { labels } from '../page-words.js'

/** The texts of the page of lists in the language of this page. */
export const say = listWords(labels === 'ru' ? 'ru' : 'en')
