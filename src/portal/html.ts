const brand = Symbol('html')

/** A piece of a page whose text is safe to send: only `html` makes it. */
export interface Html {
  readonly [brand]: string
}

type Part = Html | string | number | null | readonly Part[]

/**
 * Joins a template into a piece of a page. Every value is escaped, unless it is a piece itself;
 * lists are joined, null is nothing. Attributes stand in double quotes.
 */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { [brand]: String.raw({ raw: texts }, ...parts.map(partText)) }
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
