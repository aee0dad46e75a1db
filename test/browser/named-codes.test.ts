import type { Page } from 'playwright-core'
import t from 'tap'
import { logged } from '../support/logged.js'
import { startShipped } from '../support/shipped.js'
import { answered, builtPortal, listen, startChromium, visit } from './fixtures/chromium.js'

// Guarantee: where a script of the portal draws values for people, a code stands with what it means
// and no number is raw. Over the shipped data, whose columns of codes are known.

const browser = await startChromium(t)
const shipped = await startShipped(t, { portalFolder: await builtPortal(t) })
const base = await listen(shipped)
void shipped.app.prepare()
await logged(shipped, '"packed"')

const few = 'inn=eq.7712040126'
const legends = '.legend li, .bars li > :first-child, .chart title'
const views = [
  `financials#rows?${few}&select=okved,okopf,okfs,year,2110`,
  `financials#rows?${few}&select=okved,year,2110`,
  'financials#top?by=-2110&year=eq.2024&select=okfs,okopf,okved,2110',
  // So many cells that only those near the window are drawn.
  'financials#rows?year=gte.2019&limit=1000',
  'financials#analyse?group=okved:section,year&measures=sum(2110),net_margin',
  'financials#analyse?group=prefix(okved,2)&measures=sum(2110)&order=-sum(2110)',
  'financials#analyse?group=okfs,okopf&measures=count,median(2400/2110)',
  'procurement#rows?limit=20',
  'procurement#rows?select=okpd2,price_rub&limit=20',
  'procurement#rows?select=okpd2,sign_date,price_rub&limit=50',
  'procurement#analyse?group=okpd2&measures=sum(price_rub)',
  'procurement#analyse?group=prefix(okpd2,2),month(sign_date)&measures=sum(price_rub)',
] as const
/** Headings end with the name: of lists of codes, and of names, it goes on. */
const coded = /\b(?:okved|okfs|okopf|okpd2)(?:,\d+\)|:section)?$/
/** What looks like a code of activities, products or sections, and has no words beside it. */
const bareCode = /^(?:\d{2}(?:\.\d+)+|\d{2}|\d{5}|[A-U])(?::|$| \()/

interface ShownTable {
  readonly headings: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

function tableOn(page: Page): Promise<ShownTable> {
  return page.evaluate<ShownTable>(`(() => {
    const table = document.querySelector('#explorer-app table.data')
    const textsOf = (row) => [...row.cells].filter((cell) => !cell.matches('.gap')).map((cell) => cell.textContent)
    return { headings: textsOf(table.tHead.rows[0]), rows: [...table.tBodies[0].rows]
      .filter((row) => !row.matches('.gap')).map(textsOf) }
  })()`)
}

for (const lang of ['en', 'ru'] as const) {
  await t.test(`a table and a chart that a script draws name their codes, ${lang}`, async (t) => {
    for (const view of views) {
      const [dataset = '', fragment = ''] = view.split('#')
      const url = `${base}/datasets/${dataset}?lang=${lang}#${fragment}`
      const { page, complaints } = await visit(browser, url)
      await page.locator('#explorer-app table.data td:not(.gap)').first().waitFor()
      await answered(page)
      const { headings, rows } = await tableOn(page)
      const of = headings.flatMap((heading, at) => (coded.test(heading) ? [at] : []))
      const name = `${lang} ${view}`
      t.ok(rows.length > 0 && (of.length > 0 || view.includes('limit=1000')), name)
      for (const cell of rows.flatMap((row) => of.map((at) => row[at] ?? ''))) {
        t.match(cell, /^(?:—|[\dA-U][\d.]* · \S.*)$/, `a code with its meaning: ${name}`)
      }
      for (const text of await page.locator(legends).allTextContents()) {
        t.notMatch(text, bareCode, `in a picture: ${name}`)
      }
      const numbers = rows.flat().filter((cell) => /^[−-]?[\d\s.,\u00a0\u202f]+$/.test(cell))
      for (const number of numbers) t.notMatch(number, /[.,]\d{12}/, `a raw double: ${name}`)
      t.same(complaints, [])
      await page.context().close()
    }
  })

  await t.test(`the values of columns name their codes, ${lang}`, async (t) => {
    for (const dataset of ['financials', 'procurement']) {
      const { page } = await visit(browser, `${base}/datasets/${dataset}?lang=${lang}`)
      await page.locator('#column-table').scrollIntoViewIfNeeded()
      await page.locator('#column-table .holds li').first().waitFor()
      for (const code of ['okved', 'okfs', 'okopf', 'okpd2']) {
        const place = page.locator(`#column-table tr[data-name="${code}"] .holds`)
        if ((await place.count()) === 0) continue
        for (const item of await place.locator('a').allTextContents()) {
          t.match(item, /^[\d.]+ \S*\p{L}{2}/u, `${lang} ${code}`)
        }
        t.equal(await place.locator(':scope > span:not(.muted)').count(), 0, 'codes have no range')
      }
      await page.context().close()
    }
  })
}
