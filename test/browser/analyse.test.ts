import type { Page } from 'playwright-core'
import t from 'tap'
import { startShipped } from '../support/shipped.js'
import { startWorld } from '../support/world.js'
import {
  answered,
  builtPortal,
  giveToken,
  listen,
  pressRun,
  run,
  startChromium,
  tabTo,
  typeChoice,
  visit,
} from './fixtures/chromium.js'

const browser = await startChromium(t)
const portalFolder = await builtPortal(t)
const shipped = await startShipped(t, { portalFolder })
const base = await listen(shipped)
const financials = `${base}/datasets/financials`
const byClass =
  '#analyse?year=eq.2024&group=prefix(okved,2)&measures=sum(2110),count&order=-sum(2110)'

async function analyse(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Analyse' }).click()
}

function requestOf(page: Page): Promise<string | null> {
  return page.locator('.take:visible code').first().textContent()
}

await t.test('measure, group and filter make a request, a chart and a table', async (t) => {
  const { page, requests, complaints } = await visit(browser, financials)
  await analyse(page)
  const measures = page.getByRole('group', { name: 'Measures' })
  await measures.getByLabel('Measure').first().selectOption({ label: 'sum' })
  const offered = await measures.getByLabel('Column').first().locator('option').allTextContents()
  t.ok(offered.some((text) => text.includes('2110')))
  for (const code of ['year', 'inn', 'okved', 'okfs', 'name']) {
    t.notOk(
      offered.some((text) => text.startsWith(code)),
      `${code} is no quantity`,
    )
  }
  await measures.getByLabel('Column').first().selectOption('2110')
  const groups = page.getByRole('group', { name: 'Group by' })
  await groups.getByLabel('Group by').selectOption('prefix(okved,2)')
  await page.getByRole('button', { name: 'Add a filter' }).click()
  const filters = page.getByRole('group', { name: 'Filters' })
  await filters.getByLabel('Column').selectOption('year')
  await filters.getByLabel('Value', { exact: true }).fill('2024')
  await page.getByLabel('Order').selectOption('-sum(2110)')
  const query =
    'year=eq.2024&group=prefix(okved,2)&measures=sum(2110),count&order=-sum(2110)' +
    '&limit=100&labels=true'
  t.equal(await requestOf(page), `${base}/v1/financials/aggregate?${query}`)
  await run(page)
  t.ok(requests.includes(`${base}/v1/financials/aggregate?${query}`), 'it is the one that was sent')
  t.match(await page.locator('table.data:visible').textContent(), '51 · Air transport')
  t.match(await page.locator('table.data:visible thead').textContent(), 'thousand RUB')
  t.match(await page.locator('.bars li').first().textContent(), /^70 · Activities of head offices/)
  t.equal(
    await page.locator('.bars li').count(),
    await page.locator('.data:visible tbody tr').count(),
  )
  await page.getByText('4 groups · made of 4 rows').waitFor()
  const sum = page.locator('table.data:visible th', { hasText: 'sum(2110)' })
  t.equal(await sum.getAttribute('aria-sort'), 'descending')
  await sum.getByRole('button').click()
  await page.locator('th[aria-sort=ascending]:visible').waitFor()
  t.match(await page.locator('.bars li').last().textContent(), /^70 /, 'a heading sorts')
  await page.locator('.bars button').last().click()
  await page.getByText('Page 1 · ').waitFor()
  t.match(page.url(), /#rows\?year=eq\.2024&okved=like\.70/, 'a bar opens its rows')
  t.same(complaints, [])
})

await t.test('a pivot has a column for each value, and stays in the address', async (t) => {
  const asked = 'group=okved:section&measures=sum(2110)&pivot=year&rest=true&limit=2&labels=true'
  const { page, requests, complaints } = await visit(browser, `${financials}#analyse?${asked}`)
  await page.locator('table.data td').first().waitFor()
  const headings = await page.locator('table.data:visible thead th').allTextContents()
  t.match(headings[0], 'section')
  t.match(headings.at(-1), /^Revenue, sum, 2025 · 2025thousand RUB$/)
  const firsts = await page.locator('table.data:visible tbody td:first-child').allTextContents()
  t.equal(firsts.length, 3)
  t.match(firsts[0], /^[A-U] · [A-Z]/)
  t.equal(firsts.at(-1), 'Other')
  await page.getByLabel('Groups at most').fill('1')
  await pressRun(page)
  await page.getByText('The first 1 of').waitFor()
  t.match(page.url(), '&pivot=year&rest=true&limit=1')
  t.match(requests.at(-1), '&pivot=year&rest=true&limit=1')
  await page.getByRole('button', { name: 'Remove rest=true' }).click()
  await page.getByRole('button', { name: 'Remove pivot=year' }).click()
  await pressRun(page)
  await page.locator('table.data:visible thead th', { hasText: 'sum(2110)' }).waitFor()
  t.notMatch(page.url(), 'pivot')
  t.same(complaints, [])
})

await t.test('years are lines, and the chart shows another measure when one asks', async (t) => {
  const { page } = await visit(
    browser,
    `${financials}#analyse?group=year,inn&measures=sum(2110),count`,
  )
  await page.locator('.chart polyline').first().waitFor()
  t.equal(await page.locator('.chart polyline').count(), 5, 'one for each company')
  t.match(await page.locator('figcaption').textContent(), /, RUB$/, 'thousands are multiplied')
  t.match(await page.locator('.chart .legend').textContent(), /\d[BT]\s₽ \(2025\)/)
  const before = await requestOf(page)
  await page.getByLabel('Shown in the chart').selectOption('number of rows · count')
  t.match(await page.locator('figcaption').textContent(), /^number of rows · count/)
  t.equal(await requestOf(page), before)
})

// Guarantee: a part of the groups is never drawn as the whole.
await t.test('of groups over time that are cut, no chart is drawn', async (t) => {
  const { page } = await visit(
    browser,
    `${financials}#analyse?group=year,inn&measures=sum(2110)&limit=10`,
  )
  await page.getByText('No chart: it would show a part of the rows as the whole.').waitFor()
  t.equal(await page.locator('.chart').count(), 0)
})

await t.test('what is sorted by is drawn of all rows that have it, and nothing else', async (t) => {
  const keys = 'inn=in.7708004767,7712040126,7740000076'
  const url = `${financials}#top?by=-2110&${keys}&select=inn,year,name,2110,2400&limit=100`
  const { page } = await visit(browser, url)
  await page.locator('figure.chart').waitFor()
  t.equal(await page.locator('.chart polyline').count(), 3)
  await page.getByLabel('Shown in the chart').selectOption({ index: 1 })
  await page.getByText('No chart: it would show a part of the rows as the whole.').waitFor()
})

await t.test('of sorted rows that are cut, no chart is drawn', async (t) => {
  const { page } = await visit(browser, `${financials}#top?by=2110&select=inn,year,2110&limit=10`)
  await page.getByText('No chart: it would show a part of the rows as the whole.').waitFor()
  t.equal(await page.locator('.chart').count(), 0)
})

await t.test('no heading reaches into the next column, at the width of a phone', async (t) => {
  const look = { viewport: { width: 390, height: 800 } }
  for (const asked of ['', '#analyse?group=okved:class,year&measures=sum(2110)']) {
    const { page } = await visit(browser, `${financials}${asked}`, look)
    await page.locator('table.data:visible td').first().waitFor()
    const wide = await page.evaluate<string[]>(
      '[...document.querySelectorAll("table.data th")]' +
        '.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)',
    )
    t.same(wide, [], asked)
  }
})

await t.test('labels of a chart do not overlap, at the width of a phone', async (t) => {
  const look = { viewport: { width: 390, height: 800 } }
  const contracts = `${base}/datasets/procurement#analyse?group=sign_date&measures=sum(price_rub)`
  for (const url of [contracts, `${financials}#analyse?group=year&measures=sum(2110)`]) {
    const { page } = await visit(browser, url, look)
    await page.locator('.chart text').first().waitFor()
    const boxes = await page.evaluate<{ x: number; y: number; right: number; bottom: number }[]>(
      '[...document.querySelectorAll(".chart text")].map((text) => {' +
        'const { x, y, right, bottom } = text.getBoundingClientRect();' +
        'return { x, y, right, bottom } })',
    )
    t.ok(boxes.length > 5)
    const clashes = boxes.filter((one, index) =>
      boxes.some(
        (other, place) =>
          place > index &&
          one.x < other.right &&
          other.x < one.right &&
          one.y < other.bottom &&
          other.y < one.bottom,
      ),
    )
    t.same(clashes, [], url)
    t.ok(boxes.every(({ x, right }) => x >= 0 && right <= look.viewport.width))
  }
})

await t.test('the keyboard alone analyses', async (t) => {
  const { page } = await visit(browser, financials)
  await page.getByRole('tab', { name: 'Rows' }).focus()
  await page.keyboard.press('ArrowRight')
  await tabTo(t, page, 'Measure', 30)
  await typeChoice(t, page, 'sum')
  await tabTo(t, page, 'Remove the measure count', 30)
  await page.keyboard.press('Enter')
  t.equal(await page.evaluate('document.activeElement.textContent'), 'Add a measure')
  await tabTo(t, page, 'Run', 30)
  await answered(page)
  await page.keyboard.press('Enter')
  await page.locator('table.data:visible').waitFor()
  t.match(page.url(), /#analyse\?group=year&measures=sum\(\w+\)&limit=100&labels=true$/)
})

await t.test('a visitor with a token sees what an answer cost', async (t) => {
  const { token } = await shipped.subscribe(['financials:pro'])
  const { page, requests } = await visit(browser, `${financials}${byClass}`)
  await page.locator('table.data').waitFor()
  await giveToken(page, token)
  t.equal(await page.locator('table.data').count(), 0, 'nothing was asked with it')
  await run(page)
  const rows = await page.locator('table.data tbody tr').count()
  t.match(await page.locator('.left:visible').textContent(), `This answer cost ${rows} rows`)
  t.match(await page.locator('.take:visible').textContent(), 'YOUR_TOKEN')
  t.notMatch(requests.join() + page.url() + (await page.content()), token)
})

await t.test('errors and empty answers are said beside the button', async (t) => {
  const { token } = await shipped.subscribe(['financials:free'])
  const { page } = await visit(
    browser,
    `${financials}#analyse?year=eq.1900&group=year&measures=count`,
  )
  const status = page.locator('form.question:visible .status')
  await status.getByText('No row matches these filters.').waitFor()
  await page.getByRole('group', { name: 'Filters' }).getByLabel('Value').fill('soon')
  await pressRun(page)
  await page.locator('.status.error').waitFor()
  const url = '/v1/financials/aggregate?year=eq.soon&measures=count'
  t.match(await status.textContent(), (await shipped.get(url, token)).body.detail)
  await page.route('**/aggregate?*', (route) => route.abort())
  await pressRun(page)
  await status.getByText('The answer did not arrive.').waitFor()
  await page.unroute('**/aggregate?*')
  await page.route('**/aggregate?*', (route) => route.fulfill({ body: '<p>Sign in</p>' }))
  await pressRun(page)
  await status.getByText('could not be read').waitFor()
})

await t.test('without aggregates there is no tab, and a plan without is told', async (t) => {
  const world = await startWorld(t, {
    portalFolder,
    files: {
      'rows.parquet': "SELECT i AS id, 'n' || i AS name, 2020 + i AS year FROM range(3) t(i)",
    },
    registry: `
demo: {token: das_demo_rows}
datasets:
  off:
    title: Off
    files: rows.parquet
    listed: true
    aggregates: false
    demo: {id: [1]}
  on:
    title: On
    files: rows.parquet
    key: id
    listed: true
    demo: {id: [1]}
    plans:
      rows: {rows_per_month: 10, history: all, price_rub: 0, aggregates: false}
`,
  })
  const address = await listen(world)
  const { page } = await visit(browser, `${address}/datasets/off#analyse?measures=count`)
  await page.getByText('Press Run to see rows.').waitFor()
  t.equal(await page.getByRole('tab', { name: 'Analyse' }).count(), 0)
  const { token } = await world.subscribe(['on:rows'])
  const { page: own } = await visit(browser, `${address}/datasets/on`)
  await giveToken(own, token)
  await analyse(own)
  await own.getByText('Your plan has no analysis').waitFor()
})
