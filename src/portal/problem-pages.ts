import type { ServiceError } from '../errors.js'
import { html } from './html.js'
import { layout } from './layout.js'
import type { PageContext } from './page-context.js'

/** Renders the 404 page. It is the same for unknown paths and for datasets that are not public. */
export function missingPage(context: PageContext): string {
  const { words, link } = context
  return layout(
    context,
    { title: `${words.missing} · ${words.service}`, description: null },
    html`<section class="about">
      <h1>${words.missing}</h1>
      <p class="lead">${words.missingText} <a href="${link('/')}">${words.missingLink}</a>.</p>
    </section>`,
  )
}

/** Renders an error other than 404; its text for developers is in English. */
export function problemPage(context: PageContext, { code, detail }: ServiceError): string {
  const { words } = context
  const isLater = ['service_unavailable', 'timeout', 'rate_limit_exceeded'].includes(code)
  const { later, failed, refused } = words.problems
  const { title, text } = isLater ? later : code === 'internal_error' ? failed : refused
  return layout(
    context,
    { title: `${title} · ${words.service}`, description: null },
    html`<section class="about">
      <h1>${title}</h1>
      <p class="lead">${text}</p>
      <p lang="en">${detail}</p>
    </section>`,
  )
}
