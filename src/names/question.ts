import { badRequest } from '../errors.js'
import { many } from '../text.js'
import { looksMistyped, otherLayouts } from './letters.js'
import { withoutLegalForms } from './legal-forms.js'
import { wordsOf } from './words.js'
import type { Word } from './words.js'

/** Full names of companies are shorter. */
const lettersMax = 300
const wordsMax = 24

/** The words of a question, without legal forms. */
export interface NameQuestion {
  readonly typed: readonly Word[]
  /** As typed, and with other layouts of the keyboard; the likely first, none of them empty. */
  readonly readings: readonly (readonly Word[])[]
}

/**
 * Reads a question for a name.
 *
 * @throws ServiceError bad_request when it is too long, or has no letter or digit
 */
export function readNameQuestion(q: string): NameQuestion {
  if (q.length > lettersMax) {
    throw badRequest(`q must have at most ${many(lettersMax, 'letter')}, it has ${q.length}`)
  }
  const typed = withoutLegalForms(wordsOf(q), true)
  if (typed.length > wordsMax) {
    throw badRequest(`q must have at most ${many(wordsMax, 'word')}, it has ${typed.length}`)
  }
  const others = otherLayouts(q).map((text) => withoutLegalForms(wordsOf(text), true))
  const all = looksMistyped(q) ? [...others, typed] : [typed, ...others]
  const readings = all.filter(({ length }) => length > 0 && length <= wordsMax)
  if (readings.length === 0) {
    throw badRequest('q must have a letter or a digit: a name, or a key or its beginning')
  }
  return { typed, readings }
}
