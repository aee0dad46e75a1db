/** Where a person goes who came from nowhere. */
const start = '/account'
const lengthMax = 2000
const site = 'http://site.invalid'

/**
 * A path of this site with its query and fragment, from a text that anyone may have written into a
 * link; the account page for every other text. So a sign-in never leads to another site.
 */
export function ownPath(text: string): string {
  // Browsers read `//host` and `/\host` as another site, and leave out tabs and newlines.
  if (text.length > lengthMax || !/^\/(?![/\\])[!-~]*$/.test(text)) return start
  if (!URL.canParse(text, site)) return start
  const { origin, pathname, search, hash } = new URL(text, site)
  if (origin !== site || pathname.startsWith('//') || pathname.startsWith('/sign-in')) return start
  return `${pathname}${search}${hash}`
}
