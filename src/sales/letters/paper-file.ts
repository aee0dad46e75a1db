import type { Language } from '../../config.js'
import type { Paper } from '../orders/papers/paper.js'
import { escaped } from './render.js'

const style =
  'body{max-width:45rem;margin:2rem auto;font:1rem/1.5 sans-serif}' +
  'dt{color:#555}dd{margin:0 0 .5rem}table{width:100%;border-collapse:collapse}' +
  'th,td{padding:.25rem .5rem;border:1px solid #888;text-align:left}'

/** A paper as an HTML file of its own, to open and print without the portal. */
export function paperFile(language: Language, paper: Paper): string {
  const { title, parties, headings, line, notes } = paper
  const cells = (tag: 'th' | 'td', texts: readonly string[]) =>
    `<tr>${texts.map((text) => `<${tag}>${escaped(text)}</${tag}>`).join('')}</tr>`
  return [
    '<!doctype html>',
    `<html lang="${language}">`,
    `<head><meta charset="utf-8"><title>${escaped(title)}</title><style>${style}</style></head>`,
    `<body><h1>${escaped(title)}</h1>`,
    `<dl>${parties.map(party).join('')}</dl>`,
    `<table>${cells('th', headings)}${cells('td', line)}</table>`,
    ...notes.map((note) => `<p>${escaped(note)}</p>`),
    '</body></html>',
    '',
  ].join('\n')
}

function party([name, value]: Paper['parties'][number]): string {
  return `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`
}
