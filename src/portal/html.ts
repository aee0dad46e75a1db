import markdownIt from 'markdown-it'

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

/** The text of an XML document. */
export function xmlText(root: Html): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root[brand]}\n`
}

/** Facts for search engines. No text in them can end the block or be read as markup. */
export function jsonLd(facts: object): Html {
  const json = JSON.stringify({ '@context': 'https://schema.org', ...facts })
  const text = json.replace(/[<>&'\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
  return { [brand]: `<script type="application/ld+json">${text}</script>` }
}

const markdownReader = markdownIt({ html: false, linkify: true }).disable('image')

/** A text in Markdown as a part of a page. Tags in it are text, and no link runs a script. */
export function markdown(text: string): Html {
  return { [brand]: markdownReader.render(text) }
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
