const brand = Symbol('html')

/** A part of a page whose text is safe to send. Only `html` creates it. */
export interface Html {
  readonly [brand]: string
}

type Part = Html | string | number | null | readonly Part[]

/**
 * Joins a template into a part of a page. Escapes every value that is not such a part; joins lists;
 * omits null. Write attributes in double quotes.
 */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { [brand]: String.raw({ raw: texts }, ...parts.map(partText)) }
}

/** A name with its value, in a list of facts. */
export function fact(name: string, value: Html | string): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`
}

/** The text of a whole page. */
export function pageText(page: Html): string {
  return `<!doctype html>\n${page[brand]}\n`
}

function partText(part: Part): string {
  if (part === null) return ''
  if (typeof part !== 'object') return escaped(String(part))
  return brand in part ? part[brand] : part.map(partText).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
}
