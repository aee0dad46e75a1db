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

/** Renders an error other than 404; its text for developers is in English. */
export function problemPage(context: PageContext, { code, detail }: ServiceError): string {
  const isLater = ['service_unavailable', 'timeout', 'rate_limit_exceeded'].includes(code)
  const { later, failed, refused } = context.words.problems
  const { title, text } = isLater ? later : code === 'internal_error' ? failed : refused
  return titledPage(
    context,
    title,
    html`<p class="lead">${code === 'row_quota_exceeded' ? context.words.refusals[code] : text}</p>
      <p lang="en">${detail}</p>`,
  )
}
