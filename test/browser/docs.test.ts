import t from 'tap'
import { startShipped } from '../support/shipped.js'
import { startWorld } from '../support/world.js'
import { violations } from './fixtures/axe.js'
import { builtPortal, listen, startChromium, visit } from './fixtures/chromium.js'

const wireBytesMax = 800 * 1024

const browser = await startChromium(t)
const portalFolder = await builtPortal(t)
const shipped = await startShipped(t, { portalFolder })
const base = await listen(shipped)

await t.test('everything comes from this server, and the policy of all pages holds', async (t) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const path of ['/docs', '/docs/financials?lang=ru']) {
      const { page, requests, complaints } = await visit(browser, base + path, { colorScheme })
      await page.locator('.swagger-ui .opblock-tag').first().waitFor()
      const bytes = Number(
        await page.evaluate(
          'performance.getEntries().reduce((sum, { transferSize = 0 }) => sum + transferSize, 0)',
        ),
      )
      t.ok(bytes > 100_000 && bytes <= wireBytesMax, `${path}: ${bytes} bytes on the wire`)
      t.same(
        requests.filter((url) => !url.startsWith(base) && !url.startsWith('data:')),
        [],
      )
      t.same(complaints, [], path)
      const found = await violations(page, ['#reference'])
      t.same(
        // Swagger UI has a main part of its own inside ours.
        found.filter((each) => !each.startsWith('landmark-no-duplicate-main')),
        [],
        `around it: ${path}, ${colorScheme}`,
      )
      await page.context().close()
    }
  }
})

await t.test('without a script, the page says what to read instead', async (t) => {
  const { page } = await visit(browser, `${base}/docs/financials`, { javaScriptEnabled: false })
  t.match(await page.locator('main').innerText(), 'needs JavaScript')
  const link = page.getByRole('link', { name: 'OpenAPI description' })
  t.equal(await link.getAttribute('href'), '/openapi.json?dataset=financials')
})

await t.test(
  'a request is tried with the demo token, and the answer is shown as sent',
  async (t) => {
    const { page, complaints } = await visit(browser, `${base}/docs/financials`)
    const operation = page.locator('#operations-financials-financials_rows')
    await operation.locator('.opblock-summary-control').click()
    await operation.getByRole('button', { name: 'Try it out' }).click()
    const answered = page.waitForResponse((response) => response.url().includes('/v1/financials'))
    await operation.getByRole('button', { name: 'Execute' }).click()
    const answer = await answered
    t.equal(answer.status(), 200)
    const { authorization } = await answer.request().allHeaders()
    t.equal(authorization, 'Bearer das_demo_opendata')
    const shown = operation.locator('.live-responses-table pre.microlight').first()
    t.equal(await shown.innerText(), await answer.text(), 'columns in order, every digit')
    t.same(complaints, [])
  },
)

const plans = '{p: {rows_per_month: 10, history: all, price_rub: 0}}'

const registry = `
datasets:
  open: {title: Open title, files: data/open.parquet, listed: true, plans: ${plans}}
  closed:
    title: Closed title
    description: in <RUB> for a_b_c, 2*3*4 <img src=x>
    files: data/closed.parquet
    plans: ${plans}
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
  const tag = (name: string) => page.getByRole('link', { name: `/v1/${name}` })
  await tag('open').waitFor()
  t.equal(await tag('closed').count(), 0)
  await page.getByRole('button', { name: 'Use your own token' }).click()
  await page.getByLabel('Token').fill('das_live_unknown')
  await page.keyboard.press('Enter')
  await page.getByText('This token is unknown').waitFor()
  await page.getByLabel('Token').fill(token)
  await page.keyboard.press('Enter')
  await page.getByText('Datasets of your own token').waitFor()
  await tag('closed').waitFor()
  t.equal(await tag('open').count(), 0)
  await tag('closed').click()
  await page.getByText('/v1/closed/schema').first().waitFor()
  const operation = page.locator('#operations-closed-closed_schema')
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  await operation.getByRole('button', { name: 'Execute' }).click()
  t.match(await operation.locator('.live-responses-table').innerText(), 'closed_column')
  const shownText = await page.locator('#content').innerText()
  t.match(shownText, 'Bearer YOUR_TOKEN')
  t.notMatch(shownText, token, 'no token in what is copied')
  t.match(shownText, 'in <RUB> for a_b_c, 2*3*4 <img src=x>', 'texts of the registry are texts')
  t.equal(await page.locator('#content img').count(), 0)
  await page.goto(`${own}/docs/open`)
  await page.getByText('This token gives no access here').waitFor()
  t.equal(await page.locator('.swagger-ui').count(), 0)
  await page.getByRole('button', { name: 'Forget the token' }).click()
  await page.getByText('/v1/open/schema').first().waitFor()
  t.same(
    requests.filter((url) => url.includes(token)),
    [],
  )
  t.same(
    complaints.filter((text) => !/status of 40[14]/.test(text)),
    [],
  )
})
