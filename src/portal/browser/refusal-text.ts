import type { Refusal } from './ask-page.js'
import { element } from './element.js'
import { words } from './page-words.js'

/** Longer waits are said as a date. */
const secondsMax = 120

/**
 * Says in this place why there is no answer and what to do, in the language of the page; below it,
 * what the server says in English.
 */
export function sayRefusal(place: HTMLElement, refusal: Refusal): void {
  const { code, detail, isTranslated } = refusal
  const known = code === null || isTranslated ? null : words.refusals[code]
  const text = `${known ?? detail ?? words.failed}${waitText(refusal)}`
  if (known === null || detail === null) place.replaceChildren(text)
  else place.replaceChildren(text, ' ', element('span', { class: 'detail', lang: 'en' }, detail))
}

/** When to try again, unless the text says it. */
function waitText({ isTranslated, retry }: Refusal): string {
  if (retry === null || isTranslated) return ''
  const { seconds, at } = retry
  const isShort = at === null || seconds < secondsMax
  return ` ${isShort ? words.retryAfter(seconds) : words.retryOn(at)}`
}
