import type { Page } from 'playwright-core'
import t from 'tap'
import { openControl, usageOf } from '../support/control.js'
import { startShipped } from '../support/shipped.js'
import { builtPortal, giveToken, listen, startChromium, visit } from './fixtures/chromium.js'

const browser = await startChromium(t)
const world = await startShipped(t, { portalFolder: await builtPortal(t) })
const base = await listen(world)
// On demand, facts are waited for no longer than a visitor would.
await world.app.prepare()

function cellOf(page: Page, column: string) {
  return page.locator(`#column-table tr[data-name="${column}"] .holds`)
}

/** Comes to the columns: what they hold is asked for then. */
function comeToColumns(page: Page): Promise<void> {
  return page.locator('#column-search').scrollIntoViewIfNeeded()
}

/** What was asked of the API: paths with their queries. */
function asked(requests: readonly string[]): readonly string[] {
  return requests.filter((url) => url.includes('/v1/')).map((url) => url.slice(base.length))
}

await t.test('a page opens with its first answer and with what the columns hold', async (t) => {
  const { page, requests, complaints } = await visit(browser, `${base}/datasets/financials`)
  await page.locator('table.data tbody tr').first().waitFor()
  t.same(await page.locator('table.data th').allTextContents(), [
    ...['Taxpayer number (INN) · inn', 'Year · yearyear', 'Company name · name'],
    ...['Revenue · 2110thousand RUB', 'Net profit (loss) · 2400thousand RUB'],
    'Total assets · 1600thousand RUB',
  ])
  t.equal(asked(requests).length, 1, 'the visitor is not at the columns yet')
  await comeToColumns(page)
  await page.getByText('Values: from the 31 rows that the token sees.').waitFor()
  t.match(await cellOf(page, 'inn').innerText(), /100% filled\s+0261012138\s+22\.6%/)
  t.match(await cellOf(page, '2110').innerText(), /83\.9% filled\s+1,770,785 – 3,453,224,535/)
  t.match(await cellOf(page, 'okfs').innerText(), /16 Private ownership\s+45\.2%/)
  t.match(await cellOf(page, 'year').innerText(), /7 values in all\s+2019 – 2025/)
  t.equal(await cellOf(page, '1105').innerText(), 'empty in every row')
  const picture = cellOf(page, '2110').getByRole('group')
  t.match(await picture.getAttribute('aria-label'), /^Histogram: the most, 32\.3%, in 290,000,000/)
  t.equal(await picture.locator('rect.s0').count(), 12)
  t.same(complaints, [], 'the policy for styles, too')
  const paths = asked(requests)
  t.equal(paths.length, 2, 'one question and one for the facts')
  t.match(paths.join(), '/v1/financials/schema?facts=true&labels=true')
  t.ok(page.url().includes('#rows?inn='))
  await picture.getByRole('link').first().click()
  await page.getByText('Page 1 · ').waitFor()
  t.match(page.url(), /#rows\?2110=gte\.\d+&2110=lt\.\d+/, 'a bar is a filter')
})

await t.test('in Russian, columns that hold something come first', async (t) => {
  const { page, complaints } = await visit(browser, `${base}/datasets/procurement?lang=ru`)
  await page.locator('table.data tbody tr').first().waitFor()
  const heads = await page.locator('table.data th').allTextContents()
  t.same(heads, [
    ...['Дата заключения · sign_date', 'Цена контракта в рублях · price_rubруб.'],
    ...['Поставщик · supplier_name', 'Предмет контракта · subject', 'Заказчик · customer_name'],
    'Код товара или услуги (ОКПД 2) · okpd2',
  ])
  t.equal(await page.locator('table.data td.empty').count(), 0)
  await comeToColumns(page)
  await page.getByText('Значения посчитаны по строкам, которые видит токен: 63.').waitFor()
  t.match(await cellOf(page, 'okpd2').innerText(), /заполнено 100\s%\s+35\.11\.10\.11\d \S/)
  t.match(await cellOf(page, 'price_rub').innerText(), /8245 – 167\s705\s820,32/)
  t.equal(await cellOf(page, 'initial_price').innerText(), 'пусто во всех строках')
  t.same(complaints, [])
})

await t.test('an own token is asked for the facts, which are free, and for no rows', async (t) => {
  const control = openControl(t, world)
  const { token, subscriptionId } = await world.subscribe(['financials:free'])
  const { body } = await world.get('/v1/financials/schema', token)
  const own = `from the ${String(body['rows'])} rows`
  const { page, requests } = await visit(browser, `${base}/datasets/financials`)
  await page.locator('table.data').waitFor()
  await comeToColumns(page)
  await page.getByText('from the 31 rows').waitFor()
  await giveToken(page, token)
  await page.getByText(own).waitFor()
  t.match(await cellOf(page, 'year').innerText(), /2025\s+100%/, 'of the own window')
  await page.getByText('Press Run to see rows.').waitFor()
  await page.reload()
  await comeToColumns(page)
  await page.getByText(own).waitFor()
  t.equal(await page.locator('table.data').count(), 0)
  t.equal((await usageOf(control, world, subscriptionId)).total, 0)
  const rows = asked(requests).filter((path) => path.startsWith('/v1/financials?'))
  t.equal(rows.length, 1, 'the first answer, of the demo')
  await page.getByRole('button', { name: 'Forget the token' }).click()
  await page.getByText('from the 31 rows').waitFor()
  await page.locator('table.data').waitFor()
})

await t.test('the list of columns says that it waits, and why it has no facts', async (t) => {
  const { page, complaints } = await visit(browser, 'about:blank')
  let answer: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/schema?facts=true*', async (route) => {
    await held
    await route.fulfill({ status: 503, json: { error: 'service_unavailable', detail: 'Busy.' } })
  })
  await page.goto(`${base}/datasets/financials`)
  await page.getByText('Loading what the columns hold…').waitFor()
  await comeToColumns(page)
  t.equal(await page.locator('.holds').first().innerText(), '')
  answer()
  await page.getByText('The service is busy').waitFor()
  await page.unroute('**/schema?facts=true*')
  await page.route('**/schema?facts=true*', (route) =>
    route.fulfill({ json: { profiled_rows: null, caution: null, columns: [] } }),
  )
  await page.reload()
  await comeToColumns(page)
  await page.getByText('counting took too long').waitFor()
  t.match(complaints, [/503/])
})
