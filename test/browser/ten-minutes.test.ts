import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'csv-parse/sync'
import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { pageAt } from '../support/pages.js'
import { sheetLines } from '../support/programs/libreoffice.js'
import { startShipped } from '../support/shipped.js'
import { builtPortal, copied, listen, pressRun, startChromium, visit } from './fixtures/chromium.js'

// A stranger's ten minutes: the steps of "Ten minutes with the portal" in docs/portal.md, one after
// the other, by the names of what is clicked.

const browser = await startChromium(t)
const shipped = await startShipped(t, { portalFolder: await builtPortal(t) })
const base = await listen(shipped)
const { page, complaints } = await visit(browser, `${base}/`)

/** A company with a leading zero in its INN, and its rows in all years. */
const company = { words: 'идель нефтемаш', inn: '0261012138', rows: 7 }
const asked = ['year', 'inn', 'name', '2110']
const demo = 'das_demo_opendata'
const question = `name=contains.${encodeURIComponent(company.words)}&select=${asked.join()}`
const { body: answer } = await shipped.get(`/v1/financials?${question}`, demo)
const rows = answer.data.map((row) => asked.map((name) => String(row[name] ?? '')))

/** Made by `npm run test:browser`. */
const python = join('.venv', 'bin', 'python')

/** The cells of the table on a page, amounts without separators, empty ones as ''. */
async function cellsOn(shown: Page): Promise<readonly (readonly string[])[]> {
  const lines = await shown.locator('table.data tbody tr').all()
  return Promise.all(
    lines.map(async (line) => {
      const texts = await line.locator('td').allTextContents()
      return texts.map((text) => (text === '—' ? '' : text.replaceAll(/(?<=\d),(?=\d)/g, '')))
    }),
  )
}

function press(name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click()
}

function chartOf(shown: Page): Locator {
  return shown.locator('figure.chart')
}

await t.test('find a dataset', async () => {
  const card = page.getByRole('article').filter({ hasText: 'Company accounting statements' })
  await card.getByRole('link', { name: 'Open and try' }).click()
  await page.getByRole('heading', { level: 1, name: /^Company accounting statements/ }).waitFor()
  await page.locator('table.data').waitFor()
})

await t.test('understand three columns', async (t) => {
  for (const [words, name, meaning] of [
    ['revenue', '2110', /thousand RUB[^]*: Revenue/],
    ['net profit', '2400', /thousand RUB[^]*: Net profit/],
    ['taxpayer', 'inn', /string[^]*Taxpayer number .* \(leading zeros\)/],
  ] as const) {
    await page.getByLabel('Search columns').fill(words)
    const row = page.locator('#column-table tbody tr:visible', {
      has: page.getByRole('rowheader', { name: new RegExp(`(^| )${name}$`) }),
    })
    t.match(await row.textContent(), meaning, name)
  }
})

await t.test('ask for a company by name', async (t) => {
  for (const each of await page.getByRole('button', { name: /^Remove the filter/ }).all()) {
    await each.click()
  }
  await press('Add a filter')
  await page.getByLabel('Column', { exact: true }).selectOption('name')
  await page.getByLabel('Operator').selectOption({ label: 'contains the words' })
  await page.getByLabel('Value', { exact: true }).fill(company.words)
  await page.getByText('Columns to show').click()
  await press('None')
  for (const name of asked) {
    await page.locator('.ticks label', { has: page.getByText(name, { exact: true }) }).click()
  }
  await pressRun(page)
  await page.getByText(`Page 1 · ${company.rows} rows`).waitFor()
  t.equal(rows.length, company.rows)
  t.ok(rows.every(([, inn]) => inn === company.inn))
  t.same(await cellsOn(page), rows)
})

await t.test('see its revenue as a chart', async (t) => {
  t.match(await chartOf(page).locator('figcaption').textContent(), /^Revenue · 2110 by Year/)
  t.same(
    await chartOf(page).locator('circle title').allTextContents(),
    rows.flatMap(([year, , , revenue]) => {
      const exact = Number(revenue).toLocaleString('en')
      return revenue === '' ? [] : `${year}: ${exact} thousand RUB`
    }),
    'a point for each year that reports it',
  )
  t.equal(await chartOf(page).locator('polyline').count(), 1)
})

await t.test('send the link', async (t) => {
  const { page: other, complaints: others } = await visit(browser, page.url())
  await other.locator('table.data').waitFor()
  t.same(await cellsOn(other), rows)
  t.equal(await chartOf(other).innerHTML(), await chartOf(page).innerHTML())
  t.same(others, [])
})

await t.test('open the XLSX', async (t) => {
  const download = page.waitForEvent('download')
  await press('XLSX')
  const file = await download
  t.match(file.suggestedFilename(), /^financials-.*\.xlsx$/)
  const [head, ...lines] = await sheetLines(shipped.folder, readFileSync(await file.path()))
  const labelled = ['Year', 'Taxpayer number (INN)', 'Company name', 'Revenue']
  const headings = labelled.map((label, at) => `${label} (${asked[at]})`)
  t.same(parse(head ?? ''), [headings])
  t.same(parse(lines.join('\n')), rows)
  t.match(lines[0], `"${company.inn}"`, 'it is text')
})

await t.test('run the pandas snippet for all rows', async (t) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('tab', { name: 'Python (pandas)' }).click()
  const snippetPanel = page.getByRole('tabpanel', { name: 'Python (pandas)' })
  await copied(page, () => snippetPanel.getByRole('button').click())
  const snippet = await page.evaluate<string>('navigator.clipboard.readText()')
  const file = join(shipped.folder, 'snippet.py')
  writeFileSync(file, `${snippet}\nprint("=\\n" + rows.to_csv(index=False), end="")\n`)
  const { stdout } = await promisify(execFile)(python, [file])
  const [printed = '', csv = ''] = stdout.split('=\n')
  t.match(printed, company.inn)
  t.same(parse(csv), [asked, ...rows])
  t.same(complaints, [])
})

await t.test('every name that the tutorial has in bold is on the pages', async (t) => {
  const [, tutorial = ''] = pageAt('docs/portal.md').text.split('## Ten minutes with the portal\n')
  const [steps = ''] = tutorial.split('\n## ', 1)
  const named = [...steps.matchAll(/\*\*([^*]+)\*\*/g)].map(([, name = '']) =>
    name.replaceAll(/\s+/g, ' '),
  )
  t.ok(named.length > 10)
  const dataset = await page.locator('body').textContent()
  await page.goto(`${base}/`)
  const seen = `${dataset} ${await page.locator('body').textContent()}`
  t.same(
    named.filter((name) => !seen.includes(name)),
    [],
  )
})
