import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import t from 'tap'
import { startShipped } from '../support/shipped.js'
import { startWorld } from '../support/world.js'
import { violations } from './fixtures/axe.js'
import {
  answered,
  builtPortal,
  listen,
  pressRun,
  run,
  startChromium,
  tabTo,
  typeChoice,
  visit,
} from './fixtures/chromium.js'

const assetBytesMax = 60 * 1024
const desk = { width: 1200, height: 900 }
const phone = { width: 360, height: 780 }

const browser = await startChromium(t)
const portalFolder = await builtPortal(t)
const shipped = await startShipped(t, { portalFolder })
const base = await listen(shipped)
// On demand, facts are waited for no longer than a visitor would.
await shipped.app.prepare()

/** Each pair of scheme, language and width is among them. */
const looks = [
  { colorScheme: 'light', lang: 'en', viewport: desk },
  { colorScheme: 'dark', lang: 'ru', viewport: desk },
  { colorScheme: 'light', lang: 'ru', viewport: phone },
  { colorScheme: 'dark', lang: 'en', viewport: phone },
] as const

await t.test('nobody is shut out: axe finds nothing, in every look', async (t) => {
  const { token } = await shipped.subscribe(['financials:pro'])
  for (const { lang, ...look } of looks) {
    const open = async (path: string, prepare: (page: Page) => Promise<void>) => {
      const { page, complaints } = await visit(browser, `${base}${path}?lang=${lang}`, look)
      await prepare(page)
      const name = [path, lang, look.colorScheme, look.viewport.width].join()
      t.same(await violations(page), [], name)
      t.equal(
        await page.evaluate('document.documentElement.scrollWidth'),
        look.viewport.width,
        `nothing sticks out: ${name}`,
      )
      t.same(complaints, [], name)
      await page.context().close()
    }
    await open('/', async () => undefined)
    await open('/guide', async () => undefined)
    await open('/datasets/financials', async (page) => {
      await run(page)
      await page.locator('#column-search').scrollIntoViewIfNeeded()
      await page.locator('.holds svg').first().waitFor()
      await page.locator('summary').click()
    })
    await open('/datasets/financials', async (page) => {
      await page.getByRole('tab', { name: /^(Analyse|Анализ)$/ }).click()
      await run(page)
    })
    await open('/account', async (page) => {
      await page.locator('#token').fill(token)
      await page.keyboard.press('Enter')
      await page.locator('meter').waitFor()
    })
  }
})

await t.test('the first page waits for one style sheet, and has little to load', async (t) => {
  const { page, requests, complaints } = await visit(browser, `${base}/`)
  const waitedFor = await page.evaluate(
    'performance.getEntriesByType("resource")' +
      '.filter(({ renderBlockingStatus }) => renderBlockingStatus === "blocking")' +
      '.map(({ name }) => name)',
  )
  t.match(waitedFor, [/\.css$/], 'before the first paint')
  t.equal((waitedFor as unknown[]).length, 1)
  const assets = requests.filter((url) => url.includes('/assets/'))
  t.equal(assets.length, 2)
  let bytes = 0
  for (const url of assets) {
    const response = await fetch(url)
    t.match(response.headers.get('cache-control'), 'immutable')
    bytes += gzipSync(Buffer.from(await response.arrayBuffer())).length
  }
  t.ok(bytes <= assetBytesMax, `${bytes} bytes`)
  t.same(complaints, [])
  t.ok(requests.every((url) => url.startsWith(base) || url.startsWith('data:')))
})

await t.test('the first click shows rows, a chart and what is left', async (t) => {
  for (const dataset of ['financials', 'procurement']) {
    const { page, complaints } = await visit(browser, `${base}/datasets/${dataset}`)
    await run(page)
    t.ok((await page.locator('table.data tbody tr').count()) > 1)
    t.ok((await page.locator('.chart circle').count()) > 1)
    t.match(await page.locator('.left').textContent(), /of 30 requests left/)
    t.same(complaints, [])
  }
})

await t.test('the keyboard alone filters, runs and turns pages', async (t) => {
  const { page } = await visit(browser, `${base}/datasets/financials`)
  await tabTo(t, page, 'Add a filter', 60)
  await page.keyboard.press('Enter')
  await typeChoice(t, page, 'year')
  await page.keyboard.press('Tab')
  await typeChoice(t, page, 'at least')
  await page.keyboard.press('Tab')
  await page.keyboard.type('2023')
  await tabTo(t, page, 'Rows on a page', 60)
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('2')
  await tabTo(t, page, 'Run', 60)
  await answered(page)
  await page.keyboard.press('Enter')
  await page.getByText('Page 1 · 2 rows').waitFor()
  const first = await page.locator('table.data tbody').textContent()
  await tabTo(t, page, 'Next page', 60)
  await page.keyboard.press('Enter')
  await page.getByText('Page 2 · 2 rows').waitFor()
  t.not(await page.locator('table.data tbody').textContent(), first)
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  await page.getByText('Page 1 · 2 rows').waitFor()
  t.equal(await page.locator('table.data tbody').textContent(), first)
  t.match(await page.locator('.take code').first().textContent(), '&year=gte.2023&')
})

await t.test('columns are ticked all, none, or some', async (t) => {
  const { page } = await visit(browser, `${base}/datasets/financials`)
  await page.locator('summary').click()
  const ticked = page.locator('.ticks input:checked')
  const request = page.locator('.take code').first()
  await page.getByRole('button', { name: 'All', exact: true }).click()
  t.equal(await ticked.count(), 131)
  t.notMatch(await request.textContent(), 'select=')
  await page.getByRole('button', { name: 'None', exact: true }).click()
  t.equal(await ticked.count(), 0)
  await page.locator('.ticks input').first().check()
  t.match(await request.textContent(), /select=\w+(&|$)/)
})

await t.test('a phone shows what each plan gives', async (t) => {
  const { page } = await visit(browser, `${base}/datasets/financials?lang=ru`, { viewport: phone })
  const rows = page.locator('.plans [data-label="Строк в месяц"]').first()
  const { x = 0, width = 0 } = (await rows.boundingBox()) ?? {}
  t.ok(width > 0 && x >= 0 && x + width <= phone.width)
})

await t.test('columns are found as one types', async (t) => {
  const { page } = await visit(browser, `${base}/datasets/financials`)
  await page.getByLabel('Search columns').fill('Dividends OTHER profit')
  t.equal(await page.locator('#column-table tbody tr:visible').count(), 1)
  await page.getByText(/^1 of 131/).waitFor()
})

await t.test('an error is shown in the words of the server, an empty answer as such', async (t) => {
  const { page } = await visit(browser, `${base}/datasets/procurement`)
  await page.getByLabel('Values, one a line').fill('nothing')
  await pressRun(page)
  await page.getByText('No row matches these filters.').waitFor()
  await page.getByRole('button', { name: 'Add a filter' }).click()
  await page.getByLabel('Column', { exact: true }).last().selectOption('price')
  await page.getByLabel('Operator').last().selectOption('gt')
  await page.getByLabel('Value', { exact: true }).fill('much')
  await pressRun(page)
  await page.locator('.error').waitFor()
  const { body } = await shipped.get('/v1/procurement?price=gt.much', 'das_demo_opendata')
  t.match(await page.locator('.error').textContent(), body.detail)
})

await t.test('a token stays in the tab, and is nowhere to be read', async (t) => {
  const { token } = await shipped.subscribe(['financials:start'])
  const { page, requests } = await visit(browser, `${base}/account`)
  await page.locator('#token').fill(token)
  await page.getByRole('button', { name: 'Show the account' }).click()
  await page.locator('meter').waitFor()
  await page.goto(`${base}/datasets/financials`)
  await page.getByText('Rows shown here count against your quota.').waitFor()
  await run(page)
  t.match(await page.locator('.left').textContent(), /rows left this month/)
  t.match(await page.locator('.take').textContent(), 'YOUR_TOKEN')
  t.notMatch(await page.content(), token)
  t.notMatch(requests.join(), token)
  t.equal(await page.evaluate('localStorage.length'), 0)
  t.same(await page.context().cookies(), [])
  t.same(await page.evaluate('({ ...sessionStorage })'), {
    token,
    asked: new URL(page.url()).hash,
  })
  t.notMatch(page.url(), token)
  const { page: otherTab } = await visit(browser, `${base}/datasets/financials`)
  await otherTab.getByText('Demo token').waitFor()
  await page.getByRole('button', { name: 'Forget the token' }).click()
  await page.getByText('Demo token').waitFor()
  t.equal(await page.evaluate('sessionStorage.length'), 0)
})

await t.test('an earlier page is shown again without being paid for twice', async (t) => {
  const { token } = await shipped.subscribe(['financials:pro'])
  const { page } = await visit(browser, `${base}/account`)
  await page.locator('#token').fill(token)
  await page.keyboard.press('Enter')
  await page.locator('meter').waitFor()
  await page.goto(`${base}/datasets/financials`)
  await page.getByLabel('Rows on a page').fill('2')
  await run(page)
  await page.getByRole('button', { name: 'Next page' }).click()
  await page.getByText('Page 2 · 2 rows').waitFor()
  await page.getByRole('button', { name: 'Previous page' }).click()
  await page.getByText('Page 1 · 2 rows').waitFor()
  const { body } = await shipped.get('/v1/account', token)
  t.match(body['datasets'], [{ rows: { used: 4 } }])
})

await t.test('every digit of a number is shown', async (t) => {
  const world = await startWorld(t, {
    portalFolder,
    files: {
      'numbers.parquet': `SELECT 1 AS id, 9007199254740993 AS big, 9007199254740993 AS amount,
        12345678901234567890123456789012345678::DECIMAL(38, 0) AS "2110",
        0.1234567890123456789::DECIMAL(38, 19) AS "1", [9007199254740993] AS list`,
    },
    registry: `
demo: {token: das_demo_numbers}
datasets:
  numbers:
    title: Numbers
    files: numbers.parquet
    listed: true
    columns: {amount: {unit: roubles}}
    demo: {id: [1]}
`,
  })
  const { page } = await visit(browser, `${await listen(world)}/datasets/numbers`)
  await page.locator('summary').click()
  await page.getByRole('button', { name: 'All', exact: true }).click()
  await run(page)
  t.same(await page.locator('table.data td').allTextContents(), [
    '1',
    '9007199254740993',
    '9,007,199,254,740,993',
    '12345678901234567890123456789012345678',
    '0.1234567890123456789',
    '[9007199254740993]',
  ])
})
