import { setTimeout as sleep } from 'node:timers/promises'
import type { Page, Route } from 'playwright-core'
import t from 'tap'
import { startWorld } from '../support/world.js'
import { builtPortal, listen, pressRun, run, startChromium, visit } from './fixtures/chromium.js'

const browser = await startChromium(t)
const world = await startWorld(t, {
  portalFolder: await builtPortal(t),
  files: {
    'events.parquet': `SELECT i AS id, 'n' || i AS name,
      TIMESTAMP '2024-12-31 09:30:00.123456' + to_days(i::INT) AS at,
      TIMESTAMPTZ '2024-12-31 09:30:00+00' + to_days(i::INT) AS zoned,
      TIME '09:30:00.123456' + to_seconds(i) AS clock FROM range(10) t(i)`,
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
      pro: {rows_per_month: 1000, history: all, price_rub: 0}
`,
})
const base = await listen(world)
const explorer = `${base}/datasets/events`

function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name }).click()
}

function asked(requests: readonly string[]): readonly string[] {
  return requests.filter((url) => url.includes('/v1/events?'))
}

/** Opens the explorer, asks for all rows, two by two, and turns to the second page. */
async function visitSecondPage() {
  const visited = await visit(browser, explorer)
  const { page } = visited
  await press(page, 'Remove the filter')
  // The page asks its first question by itself.
  await page.locator('table.data').first().waitFor()
  await page.getByLabel('Rows on a page').fill('2')
  await pressRun(page)
  await page.getByText('Page 1 · 2 rows').waitFor()
  await press(page, 'Next page')
  await page.getByText('Page 2 · 2 rows').waitFor()
  return visited
}

await t.test('while an answer is awaited, nothing else is asked', async (t) => {
  const { page, requests } = await visitSecondPage()
  const held: Route[] = []
  await page.route('**/v1/events?*', (route) => {
    held.push(route)
  })
  const before = asked(requests).length
  await page.getByLabel('Rows on a page').fill('3')
  await page.getByRole('button', { name: 'Run' }).dblclick()
  await page.getByText('Asking…').waitFor()
  for (const name of ['Next page', 'Previous page']) {
    const turn = page.getByRole('button', { name })
    t.equal(await turn.getAttribute('aria-disabled'), 'true', 'the form holds another question')
    await turn.dispatchEvent('click')
  }
  const cursor = await page.evaluate('getComputedStyle(document.querySelector(".primary")).cursor')
  t.equal(cursor, 'default', 'Run looks as if it were off')
  while (held.length === 0) await sleep(20)
  t.equal(held.length, 1)
  await held[0]?.continue()
  await page.getByText('Page 1 · 3 rows').waitFor()
  t.equal(asked(requests).length, before + 1)
  await page.unroute('**/v1/events?*')
  await page.getByRole('button', { name: 'Next page' }).dblclick()
  await page.getByText('Page 2 · 3 rows').waitFor()
  t.equal(asked(requests).length, before + 2)
})

await t.test('a new question that is refused leaves nothing of the one before', async (t) => {
  const { page } = await visitSecondPage()
  await page.route('**/v1/events?*', (route) =>
    route.fulfill({ status: 429, json: { detail: 'Too soon.' } }),
  )
  await press(page, 'Next page')
  await page.getByText('Too soon.').waitFor()
  t.equal(await page.locator('table.data').count(), 1, 'a page of the same question stays')
  await pressRun(page)
  await page.locator('table.data').waitFor({ state: 'detached' })
  await page.getByText('Too soon.').waitFor()
  t.equal(await page.locator('.paging:visible').count(), 0)
  await page.unroute('**/v1/events?*')
  await pressRun(page)
  await page.getByText('Page 1 · 2 rows').waitFor()
  t.equal(await page.locator('.paging:visible').count(), 1)
})

await t.test('an answer that is no page of rows ends the waiting', async (t) => {
  const { page, complaints } = await visit(browser, explorer)
  await page.route('**/v1/events?*', (route) => route.fulfill({ body: '<p>Sign in</p>' }))
  await pressRun(page)
  await page.locator('.error', { hasText: 'could not be read' }).waitFor()
  t.equal(await page.locator('[aria-busy]').count(), 0)
  t.same(complaints, [])
})

await t.test('Enter finds a column and asks nothing', async (t) => {
  const { page, requests } = await visit(browser, explorer)
  await page.locator('table.data').waitFor()
  const before = asked(requests)
  await page.locator('summary').click()
  await page.getByLabel('Find a column').fill('zon')
  await page.keyboard.press('Enter')
  t.equal(await page.locator('.ticks li:visible').count(), 1)
  t.same(asked(requests), before)
})

await t.test('a click on a heading sorts, on a value filters', async (t) => {
  const { page, requests, complaints } = await visit(browser, explorer)
  const heading = (name: string) => page.locator('table.data th', { hasText: name })
  const firstId = () => page.locator('table.data tbody td').first().textContent()
  await page.locator('table.data').waitFor()
  await press(page, 'Remove the filter')
  await heading('id').getByRole('button').click()
  await page.getByText('id: largest first · 6 rows').waitFor()
  t.equal(await firstId(), '5')
  t.equal(await heading('id').getAttribute('aria-sort'), 'descending')
  t.match(page.url(), /#top\?by=-id/)
  t.match(requests.at(-1), /\/v1\/events\/top\?by=-id/)
  t.match(await page.locator('.take code').first().textContent(), '/v1/events/top?by=-id')
  const focused = 'document.activeElement.textContent'
  t.match(await page.evaluate(focused), 'id', 'the keyboard stays where it was')
  await page.keyboard.press('Enter')
  await page.getByText('id: smallest first · 6 rows').waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('Page 1 · 6 rows').waitFor()
  t.equal(await heading('id').getAttribute('aria-sort'), null)
  await heading('name').getByRole('button').click()
  await page.getByText('name: smallest first · 6 rows').waitFor()
  await page.locator('table.data td', { hasText: 'n3' }).click()
  await page.getByText('name: smallest first · 1 row', { exact: true }).waitFor()
  t.equal(await page.getByLabel('Value', { exact: true }).inputValue(), 'n3')
  t.equal(await firstId(), '3')
  await page.goBack()
  await page.getByText('name: smallest first · 6 rows').waitFor()
  t.same(complaints, [])
})

await t.test('a time is asked for to the microsecond, and with its zone', async (t) => {
  const { page } = await visit(browser, explorer)
  await press(page, 'Add a filter')
  const value = page.getByLabel('Value', { exact: true })
  for (const [column, text] of [
    ['at', '2024-12-31T09:30:00.123456'],
    ['zoned', '2024-12-31T09:30:00Z'],
    ['zoned', '2024-12-31T12:30:00.000000+03:00'],
    ['clock', '09:30:00.123456'],
  ] as const) {
    await page.getByLabel('Column', { exact: true }).last().selectOption('name')
    await page.getByLabel('Column', { exact: true }).last().selectOption(column)
    await page.getByLabel('Operator').last().selectOption('gt')
    t.match(await value.getAttribute('placeholder'), '09:30:00')
    await value.fill(text)
    await page.getByLabel('Operator').last().selectOption('eq')
    t.equal(await value.inputValue(), text, 'another operator keeps it')
    await pressRun(page)
    await page.getByText('Page 1 · 1 row', { exact: true }).waitFor()
    t.match(await page.locator('table.data tbody').textContent(), 'n0')
  }
})

await t.test('where site data is blocked, the pages work all the same', async (t) => {
  const { token } = await world.subscribe(['events:pro'])
  const { page, complaints } = await visit(browser, 'about:blank')
  await page.addInitScript(`Object.defineProperty(window, 'sessionStorage', {
    get() { throw new DOMException('blocked', 'SecurityError') },
  })`)
  await page.goto(explorer)
  await run(page)
  await page.goto(`${base}/account`)
  await page.locator('#token').fill(token)
  await press(page, 'Show the account')
  await page.locator('meter').waitFor()
  await press(page, 'Forget the token')
  await page.locator('meter').waitFor({ state: 'detached' })
  t.same(complaints, [])
})

await t.test('characters that no token has are reported, and not sent', async (t) => {
  const { page, requests } = await visit(browser, `${base}/account`)
  await page.locator('#token').fill('das_живой')
  await press(page, 'Show the account')
  t.match(await page.locator('#token:invalid').getAttribute('title'), 'This is not a valid token')
  t.same(requests.filter((url) => url.endsWith('/account')).length, 1, 'of the page alone')
})

await t.test('a token that was forgotten does not come back', async (t) => {
  const { token } = await world.subscribe(['events:pro'])
  const { page } = await visit(browser, `${base}/account`)
  await page.locator('#token').fill(token)
  await press(page, 'Show the account')
  await page.locator('meter').first().waitFor()
  await page.goto(`${base}/account`)
  await page.locator('meter').first().waitFor()
  await press(page, 'Forget the token')
  await page.locator('#kept-token').waitFor({ state: 'hidden' })
  await page.reload()
  t.equal(await page.evaluate('sessionStorage.length'), 0)
  t.equal(await page.locator('meter').count(), 0)
  t.notMatch(await page.content(), token)
})
