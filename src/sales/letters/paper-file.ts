import type { Language } from '../../config.js'
import type { Letter } from '../../control/letters.js'
import { showOrder } from '../../control/orders.js'
import type { ControlStore } from '../../control/store/store.js'
import type { Registry } from '../../registry/registry.js'
import { paperOf } from '../orders/papers/paper.js'
import type { Paper } from '../orders/papers/paper.js'
import { escaped } from './render.js'

/** Letters to a buyer about an order come with its invoice or receipt. */
const withPaper: readonly Letter['kind'][] = ['new-token', 'order-confirmed', 'order-received']

const style =
  '@page{margin:1.5cm}tr{break-inside:avoid}' +
  'body{max-width:45rem;margin:2rem auto;font:1rem/1.5 sans-serif;overflow-wrap:anywhere}' +
  'dt{color:#555}dd{margin:0 0 .5rem}table{width:100%;border-collapse:collapse}' +
  'th,td{padding:.25rem .5rem;border:1px solid #888;text-align:left}' +
  'th+th,td+td{text-align:right;white-space:nowrap}h1{font-size:1.4rem}' +
  '@media print{body{max-width:none;margin:0;padding:0 1px}}'

/** The invoice or receipt that a letter comes with; null for a letter without one. */
export async function paperFor(
  store: ControlStore,
  { kind, orderId }: Letter,
  registry: Registry | null,
): Promise<{ readonly filename: string; readonly html: string } | null> {
  if (orderId === null || !withPaper.includes(kind)) return null
  const order = await showOrder(store, orderId)
  const paper = paperOf(registry, order)
  if (!paper) return null
  return { filename: `${paper.kind}-${orderId}.html`, html: paperFile(order.language, paper) }
}

/** A paper as an HTML file of its own, to open and print without the portal. */
function paperFile(language: Language, paper: Paper): string {
  const { title, parties, headings, lines, notes } = paper
  const cells = (tag: 'th' | 'td', texts: readonly string[]) =>
    `<tr>${texts.map((text) => `<${tag}>${escaped(text)}</${tag}>`).join('')}</tr>`
  return [
    '<!doctype html>',
    `<html lang="${language}">`,
    `<head><meta charset="utf-8"><title>${escaped(title)}</title><style>${style}</style></head>`,
    `<body><h1>${escaped(title)}</h1>`,
    `<dl>${parties.map(party).join('')}</dl>`,
    // On paper the headings stand above the lines of every page.
    `<table><thead>${cells('th', headings)}</thead>`,
    `<tbody>${lines.map((line) => cells('td', line)).join('')}</tbody></table>`,
    ...notes.map((note) => `<p>${escaped(note)}</p>`),
    '</body></html>',
    '',
  ].join('\n')
}

function party([name, value]: Paper['parties'][number]): string {
  return `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`
}
