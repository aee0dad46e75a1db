import { strFromU8, unzipSync } from 'fflate'
import t from 'tap'
import type { Test } from 'tap'
import { logged } from '../support/logged.js'
import type { World } from '../support/world.js'
import { headingOf, summaryColumns } from '../../src/portal/browser/analyse/summary-columns.js'
import type { DatasetColumn } from '../../src/portal/browser/question/page-column.js'
import { englishWords } from '../../src/portal/portal-words-en.js'
import { allTexts } from './fixtures/all-texts.js'
import { startFirms } from './fixtures/firms-world.js'

// Guarantee: where people read, a code stands with its label, no number is a raw double, and each
// figure has its unit in its row, its column or its section.

const pages = [
  '/',
  '/datasets/firms',
  '/datasets/firms/find?q=firm',
  '/datasets/firms/find?q=firm&with=01',
  '/datasets/firms/01',
  '/datasets/firms/02?line=margin',
  '/datasets/firms/compare?keys=01,02,03,04',
  '/datasets/firms/compare?keys=01,02&line=margin&line=profit&chart=margin&period=2020',
  '/datasets/firms/list',
  '/datasets/firms/nobody',
  '/datasets/firms/compare?keys=01',
] as const
/** Every heading and choice of a page, and of a workbook's sheets. */
const files = [
  '/v1/firms?format=xlsx',
  '/v1/firms/aggregate?group=prefix(branch,2),year&labels=true&format=xlsx&measures=' +
    'count,sum(revenue),net_margin,ratio(profit/revenue),median(margin)',
  '/datasets/firms/01?format=xlsx',
  '/datasets/firms/compare?keys=01,02,03&format=xlsx',
] as const
/** Columns that have a label in each language. */
const codes = /^(revenue|profit|margin|branch|price|day|inn|net_margin|count)(?!\w)/
const headings = /<(th|dt|legend|label|figcaption|option)\b[^>]*>(.*?)<\/\1>/gs
const units = { en: /thousand RUB|share|₽|RUB|%/, ru: /тыс\. руб\.|доля|share|₽|RUB|%/ } as const

/** The first row of each sheet of figures. */
async function headingsOf({ app }: World, path: string, lang: string): Promise<readonly string[]> {
  const authorization = 'Bearer das_demo_entity'
  const { rawPayload } = await app.server.inject({
    url: `${path}&lang=${lang}`,
    headers: { authorization },
  })
  const parts = unzipSync(rawPayload)
  const part = (name: string) => strFromU8(parts[name] ?? new Uint8Array())
  const texts = [...part('xl/sharedStrings.xml').matchAll(/<si>(.*?)<\/si>/gs)].map(
    ([, each = '']) => wordsOf(each).trim(),
  )
  const sheets = Object.keys(parts).filter((name) => name.startsWith('xl/worksheets/sheet'))
  return sheets.slice(0, -1).flatMap((sheet) => {
    const [row = ''] = /<row r="1".*?<\/row>/s.exec(part(sheet)) ?? []
    return [...row.matchAll(/<v>(\d+)<\/v>/g)].map(([, at]) => texts[Number(at)] ?? '')
  })
}

/** What a person reads of a page. */
async function readOn(world: World, path: string, lang: string): Promise<string> {
  const { status, text } = await world.get(`${path}${path.includes('?') ? '&' : '?'}lang=${lang}`)
  t.ok([200, 400, 404].includes(status), path)
  return mainOf(text)
}

/** No code to copy, no data for machines, no values of fields. */
function mainOf(page: string): string {
  const body = page.replace(/^.*?<main/s, '<main')
  return body.replaceAll(/<(script|pre|style|template)\b.*?<\/\1>/gs, ' ')
}

/** No number is written as a machine holds it. */
function hasNoRaw(t: Test, words: string, name: string): void {
  t.notMatch(words, /\d[eE][+-]?\d/, `no exponent: ${name}`)
  for (const [number] of words.matchAll(/\d+(?:[.,]\d+)?/g)) {
    const digits = number.replace(/\D/g, '').replace(/^0+/, '')
    if (digits.length > 15) t.fail(`a raw double, ${number}: ${name}`)
  }
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
      hasNoRaw(t, words, name)
      for (const [, code = ''] of words.matchAll(/(62\.0\d)(?! ·)/g)) {
        t.fail(`${code} alone: ${name}`)
      }
      for (const [, tag, heading = ''] of html.matchAll(headings)) {
        const text = wordsOf(heading).trim()
        t.notMatch(text, codes, `a label comes first: ${name}`)
        if (tag === 'label') t.notMatch(text, /^\d+$/, `a key has its label: ${name}`)
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
    for (const path of files) {
      const headings = await headingsOf(world, path, lang)
      t.ok(headings.length > 2, path)
      for (const heading of headings) t.notMatch(heading, codes, `a label first: ${lang} ${path}`)
    }
  }
})

/** What machines call a dataset and its plans, unless a title is before it; `ids` are no words. */
const names = /(?<!Starter |Начальный |Whole |Полный |[/\w])(?:things|start|pro)(?![\w/])/
const ids = /\b(?:sub|ord|lst|hook)_\w+|\S+@\S+|https?:\S+/g
/** Words of one language in a part of a page of the other, which says so where it is meant. */
const foreign = { en: /[а-яё]+/i, ru: /\b[a-z]+(?: [a-z]+){3,}/i } as const
const prices = /(?<![\d,. ₽])(?:990|9[ ,]900|3[ ,]900)\b(.{0,4})/g
/** Code, what was typed, and texts whose language is said. */
const said =
  /<(code|select|textarea|[a-z]+ lang="en")(?=[ >]).*?<\/(?:code|select|textarea|p|span)>/gs

const portal = `portal:
  owners: [owner@example.org]
  legal: {name: {en: Acme, ru: Акме}, inn: "7707083893", address: {en: Main, ru: Главная}, vat: 20}
  pages: {terms: terms.md}
`
const terms = '# Terms, Условия\n\nPay **990 ₽**.\n'

await t.test('pages for buyers, subscribers and the owner say what people say', async (t) => {
  const found = await allTexts(t, portal, t.testdir({ 'terms.md': terms }))
  const pages = [...found].filter(([, text]) => text.includes('<main'))
  const isThere = (part: string) => pages.some(([where]) => where.includes(part))
  for (const part of ['/account/orders/', '/account quote', 'owner ', '/order/code', '/terms']) {
    t.ok(isThere(part), part)
  }
  for (const [where, page] of pages) {
    const language = page.includes('<html lang="ru"') ? 'ru' : 'en'
    const html = mainOf(page).replaceAll(said, ' ')
    const words = wordsOf(html).replaceAll(ids, ' ')
    hasNoRaw(t, words, where)
    t.notMatch(words, names, `titles in place of names: ${where}`)
    t.notMatch(words, /\b20\d\d-\d\d\b/, `a month is a word: ${where}`)
    t.notMatch(words, language === 'ru' ? /\d%/ : /\d\s%/, `percent as the language: ${where}`)
    for (const [, beside = ''] of words.matchAll(prices)) {
      t.match(beside, /₽|RUB|[.,]00/, `roubles have their sign: ${where}`)
    }
    for (const [, text = ''] of html.matchAll(/>([^<>]+)</g)) {
      if (where.includes('terms')) continue
      t.notMatch(text.replaceAll(ids, ' '), foreign[language], `one language: ${where}`)
    }
  }
})

await t.test('groups and measures that are asked for have headings with labels', (t) => {
  const column = (name: string, label: string, type: DatasetColumn['type'] = 'number') => ({
    ...{ name, label, type, section: '', unit: 'thousand RUB', description: '', operators: [] },
    ...{ isKey: false, isQuantity: type === 'number', measures: [], groups: [] },
    ...{ levels: {}, levelLabels: {} },
  })
  const code = {
    ...column('branch', 'Branch', 'string'),
    levels: { class: 'prefix(branch,2)', section: 'branch:section' },
    levelLabels: { class: 'class', section: 'section' },
  }
  const facts = {
    columns: [
      column('2110', 'Revenue'),
      column('2400', 'Profit'),
      code,
      column('day', 'Day', 'date'),
    ],
    measures: [{ name: 'net_margin', label: 'Net margin', unit: 'share', description: '' }],
    history: 'day',
  }
  const asked = {
    group: ['branch', 'prefix(branch,2)', 'branch:section', 'branch:class', 'month(day)'],
    measures: [
      ...['count', 'sum(2110)', 'p90(2400/2110)', 'net_margin', 'm:net_margin', 'x:sum(2110)'],
      ...['growth(2110@2020/2110@2021)', 'ratio(2400+2110/2110)', 'median(365*2400/2110)'],
    ],
  }
  const shown = summaryColumns(facts, asked, englishWords)
  const chosen = (kind: 'group' | 'measures', text: string) =>
    headingOf(facts, kind, text, englishWords)
  t.equal(chosen('group', 'branch:class'), 'Branch, class · branch:class')
  t.equal(chosen('measures', 'ratio(2400/2110)'), 'Profit / Revenue, ratio · ratio(2400/2110)')
  t.same(
    shown.groups.map(({ label }) => label),
    ['Branch', 'Branch, class', 'Branch, section', 'Branch, class', 'Day, month'],
  )
  t.same(
    shown.measures.map(({ label, unit }) => [label, unit]),
    [
      ['number of rows', ''],
      ['Revenue, sum', 'thousand RUB'],
      ['Profit / Revenue, 90th percentile', ''],
      ['Net margin', 'share'],
      ['Net margin', 'share'],
      ['Revenue, sum', 'thousand RUB'],
      ['Revenue@2020 / Revenue@2021, growth', 'share'],
      ['Profit+Revenue / Revenue, ratio', ''],
      ['365*Profit / Revenue, median', ''],
    ],
  )
  t.end()
})
