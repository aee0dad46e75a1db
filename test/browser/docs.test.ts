import t from 'tap'
import { startShipped } from '../support/shipped.js'
import { startWorld } from '../support/world.js'
import { violations } from './fixtures/axe.js'
import {
  builtPortal,
  copied,
  listen,
  pressUntil,
  startChromium,
  tabTo,
  visit,
} from './fixtures/chromium.js'

const wireBytesMax = 300 * 1024
const desk = { width: 1440, height: 900 }
const phone = { width: 390, height: 844 }

const browser = await startChromium(t)
const portalFolder = await builtPortal(t)
const shipped = await startShipped(t, { portalFolder })
const base = await listen(shipped)

/** Each pair of scheme, language and width is among them. */
const looks = [
  { colorScheme: 'light', lang: 'en', viewport: desk },
  { colorScheme: 'dark', lang: 'ru', viewport: desk },
  { colorScheme: 'light', lang: 'ru', viewport: phone },
  { colorScheme: 'dark', lang: 'en', viewport: phone },
] as const

await t.test('nobody is shut out: axe finds nothing, in every look', async (t) => {
  for (const { lang, ...look } of looks) {
    for (const path of ['/docs', '/docs/financials']) {
      const { page, complaints } = await visit(browser, `${base}${path}?lang=${lang}`, look)
      const name = [path, lang, look.colorScheme, look.viewport.width].join()
      for (const folded of await page.locator('summary').all()) await folded.click()
      t.same(await violations(page), [], name)
      const width = await page.evaluate('document.documentElement.scrollWidth')
      t.equal(width, look.viewport.width, `nothing sticks out: ${name}`)
      t.same(complaints, [], name)
      await page.context().close()
    }
  }
})

await t.test('the page and all its files are few bytes, from this server alone', async (t) => {
  for (const path of ['/docs', '/docs/financials', '/docs/procurement']) {
    const { page, requests } = await visit(browser, base + path)
    await page.waitForLoadState('load')
    const bytes = Number(
      await page.evaluate(
        'performance.getEntries().reduce((sum, { transferSize = 0 }) => sum + transferSize, 0)',
      ),
    )
    t.ok(bytes > 10_000 && bytes <= wireBytesMax, `${path}: ${bytes} bytes on the wire`)
    t.same(
      requests.filter((url) => !url.startsWith(base) && !url.startsWith('data:')),
      [],
    )
    await page.context().close()
  }
})

await t.test('it is read without a script', async (t) => {
  const { page } = await visit(browser, `${base}/docs/financials`, { javaScriptEnabled: false })
  t.match(await page.locator('#operation-financials_rows').innerText(), 'GET /v1/financials')
  await page.getByRole('link', { name: 'POST /v1/financials/query' }).click()
  await page.waitForURL('**/docs/financials#operation-financials_query')
  t.equal(await page.getByRole('button').count(), 0, 'no button that does nothing')
  await page.getByRole('link', { name: 'Errors' }).first().click()
  t.match(await page.locator('#errors + div').innerText(), 'row_quota_exceeded')
})

await t.test('the keyboard alone finds a dataset, copies a command and goes back', async (t) => {
  const permissions = ['clipboard-read', 'clipboard-write']
  const { page, complaints } = await visit(browser, `${base}/docs`, { permissions })
  await tabTo(t, page, 'Skip to content', 1)
  await page.keyboard.press('Enter')
  await tabTo(t, page, '/v1/financials', 20)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/financials')
  await tabTo(t, page, 'GET /v1/financials/top', 20)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/financials#operation-financials_top')
  await tabTo(t, page, 'Copy', 2)
  await copied(page, () => page.keyboard.press('Enter'))
  const command = String(await page.evaluate('navigator.clipboard.readText()'))
  t.match(command, /^curl -H 'Authorization: Bearer das_demo_opendata' .*\/top\?by=-year/)
  await tabTo(t, page, '131 values', 2)
  await page.keyboard.press('Enter')
  t.equal(await page.locator('details[open]').count(), 1)
  const wide = page.getByRole('region', { name: 'financials.Row' })
  await wide.focus()
  await pressUntil(page, 'End', () =>
    page.evaluate<boolean>("document.querySelector('.tall').scrollTop > 1000"),
  )
  for (const [name, path] of [
    ['API reference', '/docs'],
    ['Datasets', '/'],
  ] as const) {
    const back = page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name })
    await back.focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(base + path)
  }
  t.same(complaints, [])
})

const plans = '{p: {rows_per_month: 10, history: all, price_rub: 0}}'

const registry = `
datasets:
  open: {title: Open title, files: data/open.parquet, listed: true, plans: ${plans}}
  closed: {title: Closed title, files: data/closed.parquet, plans: ${plans}}
`

// Guarantee: a token is sent in a header only; no address holds it.
await t.test('whoever enters a token reads about its own datasets', async (t) => {
  const files = {
    'data/open.parquet': 'SELECT 1 AS id',
    'data/closed.parquet': 'SELECT 7 AS closed_column',
  }
  const world = await startWorld(t, { files, registry, portalFolder })
  const { token } = await world.subscribe(['closed:p'])
  const own = await listen(world)
  const { page, complaints, requests } = await visit(browser, `${own}/docs`)
  const heading = (name: string) => page.getByRole('link', { name: `/v1/${name}` })
  await heading('open').waitFor()
  t.equal(await heading('closed').count(), 0)
  await page.getByRole('button', { name: 'Use your own token' }).click()
  await page.getByLabel('Token').fill('das_live_unknown')
  await page.keyboard.press('Enter')
  await page.getByText('This token is unknown').waitFor()
  await page.getByLabel('Token').fill(token)
  await page.keyboard.press('Enter')
  await page.getByText('Datasets of your own token').waitFor()
  t.equal(await page.evaluate('document.activeElement.textContent'), 'Forget the token')
  t.equal(await heading('open').count(), 0)
  await heading('closed').click()
  await page.getByText('closed_column', { exact: true }).first().waitFor()
  t.equal(await page.title(), 'closed · API reference')
  await page.getByRole('button', { name: 'Copy' }).first().waitFor()
  await page.reload()
  await page.getByText('Datasets of your own token').waitFor()
  t.same(await violations(page), [])
  t.same(
    requests.filter((url) => url.includes(token)),
    [],
  )
  await page.goto(`${own}/docs/open`)
  await page.getByText('This token gives no access here').waitFor()
  t.match(await page.getByRole('heading', { level: 1 }).innerText(), '/v1/open', 'still public')
  await page.goto(`${own}/docs`)
  await page.getByRole('button', { name: 'Forget the token' }).click()
  await heading('open').waitFor()
  t.equal(await heading('closed').count(), 0)
  t.same(
    complaints.filter((text) => !/status of 40[14]/.test(text)),
    [],
  )
})
