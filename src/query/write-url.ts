/** Quotes an element of a list for a query. */
export function listElement(text: string): string {
  if (text !== '' && !/[",\\]|^\(/.test(text)) return text
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}

/** Percent-encodes every character that is special in a URL or a shell. */
export function encodeForUrl(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Does the same for every element of a list, `a,b,c`. */
export function encodeList(texts: readonly string[]): string {
  return texts.map((text) => encodeForUrl(listElement(text))).join(',')
}

/** Shortens a parameter's name for an example in an error, and keeps it legible if possible. */
export function writtenName(name: string): string {
  if (/^[\p{L}\p{N}_]{1,40}$/u.test(name)) return name
  return name !== '' && name.length <= 40 ? encodeForUrl(name) : 'column'
}
