import type { Refusal } from './ask-page.js'
import { words } from './page-words.js'

/** Longer waits are said as a date. */
const secondsMax = 120

/** Why there is no answer and what to do, in the language of the page where it has words for it. */
export function refusalText({ code, detail, isTranslated, retry }: Refusal): string {
  const known = code === null || isTranslated ? undefined : words.refusals[code]
  const text = known ?? detail ?? words.failed
  if (retry === null || isTranslated) return text
  const { seconds, at } = retry
  const wait = at === null || seconds < secondsMax ? words.retryAfter(seconds) : words.retryOn(at)
  return `${text} ${wait}`
}
