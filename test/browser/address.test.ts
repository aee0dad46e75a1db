import type { Page } from 'playwright-core'
import t from 'tap'
import { startShipped } from '../support/shipped.js'
import {
  builtPortal,
  giveToken,
  listen,
  pressRun,
  readsWithToken,
  startChromium,
  visit,
} from './fixtures/chromium.js'

// Guarantee: the address says what the page shows, and holds no token.

const browser = await startChromium(t)
const shipped = await startShipped(t, { portalFolder: await builtPortal(t) })
const base = await listen(shipped)
const financials = `${base}/datasets/financials`
const years = '#analyse?group=year&measures=sum(2110)&limit=100&labels=true'

function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name }).click()
}

/** Asks for the rows of 2023 and later, two by two, and turns to the second page. */
async function turnPage(page: Page): Promise<string> {
  await press(page, 'Add a filter')
  await page.getByLabel('Column', { exact: true }).last().selectOption('year')
  await page.getByLabel('Operator').last().selectOption('gte')
  await page.getByLabel('Value', { exact: true }).fill('2023')
  await page.getByLabel('Rows on a page').fill('2')
  await pressRun(page)
  await page.getByText('Page 1 · 2 rows').waitFor()
  await press(page, 'Next page')
  await page.getByText('Page 2 · 2 rows').waitFor()
  return page.locator('table.data tbody').innerText()
}

await t.test('the request follows every change at once', async (t) => {
  const { page } = await visit(browser, financials)
  const shown = () => page.locator('.take:visible code').first().textContent()
  await press(page, 'Add a filter')
  await page.getByLabel('Column', { exact: true }).last().selectOption('okved')
  t.match(await shown(), '&okved=eq.&', 'the operator is one that the column has')
  await page.getByLabel('Operator').last().selectOption('is_null')
  t.match(await shown(), '&okved=is_null&')
  await page.locator('summary').click()
  const revenue = page.getByRole('checkbox', { name: /2110/ })
  await revenue.uncheck()
  t.notMatch(await shown(), /2110/)
  await revenue.check()
  t.match(await shown(), /select=[^&]*,2110&/)
  await press(page, 'Remove the filter on okved')
  t.notMatch(await shown(), 'okved')
  const [, asked = 'no question'] = (await shown())?.split('?') ?? []
  t.match(asked, /2400,1600,2110/)
  await page.waitForURL(({ hash }) => hash.endsWith(`?${asked}`))
})

await t.test('reload, a new tab and another language keep question, tab and page', async (t) => {
  const { page } = await visit(browser, `${financials}?lang=en`)
  const rows = await turnPage(page)
  const address = page.url()
  t.match(address, /#rows\/2\/[\w-]+\?inn=.*&year=gte\.2023&/)
  const { page: other } = await visit(browser, address)
  for (const [name, each] of [
    ['the same', page],
    ['a colleague', other],
  ] as const) {
    if (each === page) await page.reload()
    await each.getByText('Page 2 · 2 rows').waitFor()
    t.equal(await each.locator('table.data tbody').innerText(), rows, name)
    t.equal(await each.getByLabel('Value', { exact: true }).inputValue(), '2023')
  }
  await page.getByRole('link', { name: 'Русский' }).click()
  await page.getByText('Страница 2 · 2 строки').waitFor()
  t.equal(new URL(page.url()).hash, new URL(address).hash)
  await page.goto(financials + years)
  await page.locator('.chart polyline').waitFor()
  await page.getByRole('link', { name: 'Русский' }).click()
  await page.getByRole('tab', { name: 'Анализ', selected: true }).waitFor()
  await page.locator('.chart polyline').waitFor()
  t.equal(new URL(page.url()).hash, years)
})

await t.test('a page that was opened by its address leads back to the first', async (t) => {
  const { page } = await visit(browser, financials)
  await turnPage(page)
  await page.reload()
  await page.getByText('Page 2 · 2 rows').waitFor()
  await press(page, 'Previous page')
  await page.getByText('Page 1 · 2 rows').waitFor()
  t.match(page.url(), /#rows\?/)
})

await t.test('back leads through pages, tabs and questions', async (t) => {
  const { page } = await visit(browser, financials)
  await turnPage(page)
  await page.getByRole('tab', { name: 'Analyse' }).click()
  await pressRun(page)
  await page.locator('.chart:visible').waitFor()
  await page.goBack()
  await page.getByRole('tab', { name: 'Rows', selected: true }).waitFor()
  await page.getByText('Page 2 · 2 rows').waitFor()
  await page.goBack()
  await page.getByText('Page 1 · 2 rows').waitFor()
  await page.goForward()
  await page.getByText('Page 2 · 2 rows').waitFor()
  await page.getByLabel('Value', { exact: true }).fill('2025')
  await page.waitForURL(/#.*2025/)
  await page.goBack()
  await page.waitForURL(/#.*2023/)
  t.equal(await page.getByLabel('Value', { exact: true }).inputValue(), '2023')
})

await t.test('a link to a part of the page does not lose the question', async (t) => {
  const { page } = await visit(browser, financials + years)
  await page.locator('.chart polyline').waitFor()
  await page.locator('.skip').focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/#analyse/)
  t.equal(await page.locator('.chart polyline').count(), 1)
  await page.keyboard.press('Tab')
  t.equal(await page.evaluate('document.activeElement.closest("main") !== null'), true)
})

await t.test('no link spends the rows of a token, a reload asks again', async (t) => {
  const { token } = await shipped.subscribe(['financials:pro'])
  const used = async () =>
    (await shipped.get('/v1/account', token)).body['datasets'] as { rows: { used: number } }[]
  const { page, requests } = await visit(browser, financials)
  await giveToken(page, token)
  await page.goto(`${base}/`)
  await page.goto(financials + years)
  await page.getByText('Press Run to see a chart').waitFor()
  t.match(await used(), [{ rows: { used: 0 } }])
  await pressRun(page)
  await page.locator('.chart polyline').waitFor()
  const [{ rows } = { rows: { used: 0 } }] = await used()
  t.ok(rows.used > 0)
  await page.reload()
  await page.locator('.chart polyline').waitFor()
  t.match(await used(), [{ rows }], 'the browser had the answer')
  await page.getByRole('link', { name: 'Русский' }).click()
  await page.getByText('Нажмите «Выполнить»').last().waitFor()
  t.match(await used(), [{ rows }], 'the names of codes in Russian are another answer')
  t.notMatch(requests.join() + page.url(), token)
})

await t.test('a token is asked for on the page, and judged there', async (t) => {
  const { page } = await visit(browser, financials + years)
  await press(page, 'Use your own token')
  await page.getByLabel('Token').fill('das_nonsense')
  await page.keyboard.press('Enter')
  await page.locator('.status.error').waitFor()
  t.equal(await page.evaluate('sessionStorage.getItem("token")'), null)
  await page.getByLabel('Token').fill((await shipped.subscribe(['financials:pro'])).token)
  await page.keyboard.press('Enter')
  await readsWithToken(page)
  t.equal(new URL(page.url()).hash, years)
  await page.getByRole('tab', { name: 'Analyse', selected: true }).waitFor()
  await press(page, 'Forget the token')
  await page.getByText('Demo token').waitFor()
  t.equal(await page.evaluate('sessionStorage.length'), 0)
})
