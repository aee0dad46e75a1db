import type { ServiceError } from '../errors.js'
import { html } from './html.js'
import type { PageContext } from './page-context.js'
import { titledPage } from './titled-page.js'

/** Renders the 404 page. It is the same for unknown paths and for datasets that are not public. */
export function missingPage(context: PageContext): string {
  const { words, link } = context
  return titledPage(
    context,
    words.missing,
    html`<p class="lead">${words.missingText} <a href="${link('/')}">${words.missingLink}</a>.</p>`,
  )
}

const laterCodes: readonly string[] = ['service_unavailable', 'timeout', 'rate_limit_exceeded']

/**
 * Renders an error other than 404 in the language of the page. What is wrong with an address, only
 * the text for developers says, which is in English.
 */
export function problemPage(context: PageContext, error: ServiceError): string {
  const { code, detail, retryAfterSeconds: seconds } = error
  const { problems, refusals, retryAfter } = context.words
  const isLater = laterCodes.includes(code)
  const other = code === 'internal_error' ? problems.failed : problems.refused
  const isSaid = isLater || code === 'row_quota_exceeded'
  const wait = isLater && seconds !== undefined ? ` ${retryAfter(seconds)}` : ''
  return titledPage(
    context,
    isLater ? problems.later : other.title,
    html`<p class="lead">${isSaid ? `${refusals[code]}${wait}` : other.text}</p>
      ${isSaid ? null : html`<p lang="en">${detail}</p>`}`,
  )
}
