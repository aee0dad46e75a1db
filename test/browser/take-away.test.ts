import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { startWorld } from '../support/world.js'
import { builtPortal, listen, run, startChromium, visit } from './fixtures/chromium.js'

const browser = await startChromium(t)
const world = await startWorld(t, {
  portalFolder: await builtPortal(t),
  files: {
    'events.parquet': `SELECT i AS id, 'n' || i AS name, i % 2 AS half, 1.5 * i AS amount
      FROM range(10) t(i)`,
  },
  registry: `
demo: {token: das_demo_events, rate_per_minute: 10000}
datasets:
  events:
    title: Events
    files: events.parquet
    key: id
    listed: true
    demo: {id: [0, 1, 2, 3, 4, 5]}
    plans:
      pro: {rows_per_month: 9, history: all, price_rub: 0}
`,
})
const base = await listen(world)
const explorer = `${base}/datasets/events`

/** Presses a button that saves a file; returns the name of the file and its bytes. */
async function save(page: Page, name: string): Promise<readonly [string, Buffer]> {
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name, exact: true }).click()
  const file = await download
  return [file.suggestedFilename(), readFileSync(await file.path())]
}

await t.test('a page of rows is saved in each format, and all rows as CSV', async (t) => {
  const { page, requests, complaints } = await visit(browser, `${explorer}#rows?limit=2`)
  await page.getByText('Page 1 · 2 rows').waitFor()
  await page.getByRole('button', { name: 'Next page' }).click()
  await page.getByText('Page 2 · 2 rows').waitFor()
  const [csvName, csv] = await save(page, 'CSV')
  t.match(csvName, /^events-[0-9a-f]+\.csv$/)
  t.equal(csv.toString(), 'id,name,half,amount\r\n2,n2,0,3.0\r\n3,n3,1,4.5\r\n')
  await page.getByText(`Saved ${csvName}, ${csv.length} byte`).waitFor()
  const [xlsxName, xlsx] = await save(page, 'XLSX')
  t.match(xlsxName, /\.xlsx$/)
  t.equal(xlsx.toString('latin1', 0, 2), 'PK')
  const [parquetName, parquet] = await save(page, 'Parquet')
  t.match(parquetName, /\.parquet$/)
  t.equal(parquet.toString('latin1', 0, 4), 'PAR1')
  const [, all] = await save(page, 'All rows (CSV)')
  t.equal(all.toString().trim().split('\r\n').length, 1 + 6)
  t.notMatch(requests.join(), 'das_demo', 'the token is in no address')
  t.same(complaints, [])
})

await t.test(
  'groups are saved as they are shown, and the rows that they are made of',
  async (t) => {
    const fragment = '#analyse?half=eq.1&group=half&measures=sum(amount)'
    const { page } = await visit(browser, `${explorer}${fragment}`)
    await page.locator('table.data:visible').waitFor()
    const [, csv] = await save(page, 'CSV')
    t.equal(csv.toString(), 'half,sum(amount)\r\n1,13.5\r\n')
    const [, all] = await save(page, 'All rows (CSV)')
    t.equal(all.toString().trim().split('\r\n').length, 1 + 3)
  },
)

await t.test('what a file cost, and why there is none, stands beside the buttons', async (t) => {
  const { token } = await world.subscribe(['events:pro'])
  const { page } = await visit(browser, explorer)
  await page.evaluate(`sessionStorage.setItem('token', '${token}')`)
  await page.reload()
  await run(page)
  const group = page.getByRole('group', { name: 'Save as' })
  await save(page, 'CSV')
  await group.getByText(/csv.* · This answer cost 3 rows/).waitFor()
  await save(page, 'Parquet')
  await group.getByText(/parquet.* · This answer cost 3 rows/).waitFor()
  await group.getByRole('button', { name: 'XLSX' }).click()
  await group.locator('.error', { hasText: 'Too few rows are left of your quota.' }).waitFor()
  t.equal(await page.locator('table.data').count(), 1, 'the answer stays')
  t.equal(await group.getByRole('button', { name: 'Cancel' }).count(), 0)
})

await t.test('a file that takes long can be cancelled by keyboard', async (t) => {
  const { page } = await visit(browser, `${explorer}#rows?limit=2`)
  await page.route('**/export?*', () => undefined)
  await page.getByRole('button', { name: 'All rows (CSV)' }).click()
  const cancel = page.getByRole('button', { name: 'Cancel' })
  await cancel.focus()
  await page.keyboard.press('Enter')
  await page.getByText('Cancelled.').waitFor()
  t.equal(await page.evaluate('document.activeElement.textContent'), 'All rows (CSV)')
})
