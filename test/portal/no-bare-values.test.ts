import t from 'tap'
import { logged } from '../support/logged.js'
import type { World } from '../support/world.js'
import { startFirms } from './fixtures/firms-world.js'

// Guarantee: where people read, a code stands with its label, no number is a raw double, and each
// figure has its unit in its row, its column or its section.

const pages = [
  '/',
  '/datasets/firms',
  '/datasets/firms/find?q=firm',
  '/datasets/firms/01',
  '/datasets/firms/02?line=margin',
  '/datasets/firms/compare?keys=01,02,03,04',
  '/datasets/firms/compare?keys=01,02&line=margin&line=profit&chart=margin&period=2020',
] as const
/** Columns that have a label in each language. */
const codes = /^(revenue|profit|margin|branch|price|day|inn)(?!\w)/
const headings = /<(th|dt|legend|label|figcaption|option)\b[^>]*>(.*?)<\/\1>/gs
const units = { en: /thousand RUB|share|₽|RUB|%/, ru: /тыс\. руб\.|доля|share|₽|RUB|%/ } as const

/** What a person reads of a page: no code to copy, no data for machines, no values of fields. */
async function readOn(world: World, path: string, lang: string): Promise<string> {
  const { status, text } = await world.get(`${path}${path.includes('?') ? '&' : '?'}lang=${lang}`)
  t.equal(status, 200, path)
  const body = text.replace(/^.*?<main/s, '<main')
  return body.replaceAll(/<(script|pre|style|template)\b.*?<\/\1>/gs, ' ')
}

function wordsOf(html: string): string {
  return html
    .replaceAll(/ title="([^"]*)"[^>]*/g, '> $1 <br')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
}

await t.test('codes stand with labels, figures with units, and none is raw', async (t) => {
  const world = await startFirms(t)
  void world.app.prepare()
  await logged(world, '"packed"')
  for (const lang of ['en', 'ru'] as const) {
    for (const path of pages) {
      const html = await readOn(world, path, lang)
      const words = wordsOf(html)
      const name = `${lang} ${path}`
      t.notMatch(words, /\d[eE][+-]?\d/, `no exponent: ${name}`)
      for (const [number] of words.matchAll(/\d+(?:[.,]\d+)?/g)) {
        const digits = number.replace(/\D/g, '').replace(/^0+/, '')
        if (digits.length > 15) t.fail(`a raw double, ${number}: ${name}`)
      }
      for (const [, code = ''] of words.matchAll(/(62\.0\d)(?! ·)/g)) {
        t.fail(`${code} alone: ${name}`)
      }
      for (const [, , heading = ''] of html.matchAll(headings)) {
        t.notMatch(wordsOf(heading).trim(), codes, `a label comes first: ${name}`)
      }
      for (const [row = ''] of html.matchAll(/<tr>.*?<\/tr>/gs)) {
        const text = wordsOf(row)
        const [, heading = ''] = /<th scope="row">(.*?)<\/th>/s.exec(row) ?? []
        const isFigure = /<td[^>]*>\s*[\d−]/.test(row) && /revenue|profit|margin/.test(heading)
        if (isFigure && !units[lang].test(text)) {
          const [before = ''] = html.split(row, 1)
          const section = wordsOf(before.slice(before.lastIndexOf('<h2')))
          t.match(section, units[lang], `the unit of ${wordsOf(heading)}: ${name}`)
        }
      }
      for (const [figure = ''] of html.matchAll(/<figure.*?<\/figure>/gs)) {
        t.match(wordsOf(figure), units[lang], `the unit of a chart: ${name}`)
      }
    }
  }
})
