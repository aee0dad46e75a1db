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

/** An element of a list as the grammar of queries quotes it. */
function listElement(text: string): string {
  if (text !== '' && !/[",\\]|^\(/.test(text)) return text
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}
