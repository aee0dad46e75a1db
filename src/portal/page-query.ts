import { html } from './html.js'
import type { Html } from './html.js'
import type { PageContext } from './page-context.js'

/** Parameters of an address, each as often as it stands there. */
export type QueryParts = readonly (readonly [name: string, value: string])[]

/** A link to a page of the portal with these parameters, in the chosen language. */
export function queryLink(
  { link }: Pick<PageContext, 'link'>,
  path: string,
  parameters: QueryParts,
): string {
  const to = link(path)
  const query = parameters.map((each) => each.map(encodeURIComponent).join('=')).join('&')
  return query === '' ? to : `${to}${to.includes('?') ? '&' : '?'}${query}`
}

/** Fields of a form that keeps these parameters, and the language. */
export function keptFields(
  { language }: Pick<PageContext, 'language'>,
  parameters: QueryParts,
): readonly Html[] {
  return [...parameters, ['lang', language] as const].map(
    ([name, value]) => html`<input name="${name}" type="hidden" value="${value}" />`,
  )
}

/** What a comparison is asked for besides its entities; the search for more of them keeps it. */
const ofComparison: readonly string[] = ['line', 'period', 'chart']

/** The parameters of a comparison in an address. */
export function comparisonParts(query: URLSearchParams): QueryParts {
  return [...query].filter(([name]) => ofComparison.includes(name))
}
