/** An element of a list as the grammar of queries quotes it. */
export function listElement(text: string): string {
  if (text !== '' && !/[",\\]|^\(/.test(text)) return text
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}

/** Percent-encoded so that neither a URL nor a shell sees anything special in it. */
export function encodeForUrl(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** The same for every element of a list, `a,b,c`. */
export function encodeList(texts: readonly string[]): string {
  return texts.map((text) => encodeForUrl(listElement(text))).join(',')
}

/** A parameter's name for an example in an error: legible where it can be, and never long. */
export function writtenName(name: string): string {
  if (/^[\p{L}\p{N}_]{1,40}$/u.test(name)) return name
  return name !== '' && name.length <= 40 ? encodeForUrl(name) : 'column'
}
