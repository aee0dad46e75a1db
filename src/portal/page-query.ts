import type { PageContext } from './page-context.js'

/** A link to a page of the portal with these parameters, in the chosen language. */
export function queryLink(
  { link }: Pick<PageContext, 'link'>,
  path: string,
  parameters: readonly (readonly [name: string, value: string])[],
): string {
  const to = link(path)
  const query = parameters.map((each) => each.map(encodeURIComponent).join('=')).join('&')
  return query === '' ? to : `${to}${to.includes('?') ? '&' : '?'}${query}`
}
