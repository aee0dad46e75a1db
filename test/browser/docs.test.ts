import { chromium } from 'playwright-core'
import type { Page } from 'playwright-core'
import t from 'tap'
import { listen } from '../support/answers.js'
import { startShipped } from '../support/shipped.js'

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox'],
})
t.teardown(() => browser.close())

const patienceMs = 60_000

interface Visit {
  readonly page: Page
  /** What the page complained of, and what it asked of anybody else. */
  readonly complaints: string[]
}

/** Opens the reference and waits until its operations are there. */
async function visit(base: string, options = {}): Promise<Visit> {
  const page = await browser.newPage(options)
  page.setDefaultTimeout(patienceMs)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    if (!/^data:/.test(request.url()) && !request.url().startsWith(base)) {
      complaints.push(request.url())
    }
  })
  await page.goto(`${base}/docs`)
  await page.waitForSelector('.opblock')
  return { page, complaints }
}

const pageOfRows = '#operations-financials-financials_rows'

await t.test('a visitor tries a dataset out with the demo token, filter filled in', async (t) => {
  const base = `http://127.0.0.1:${await listen(await startShipped(t))}`
  const { page, complaints } = await visit(base, { viewport: { width: 390, height: 844 } })
  await page.click(`${pageOfRows} .opblock-summary-control`)
  await page.click(`${pageOfRows} .try-out__btn`)
  t.equal(await page.locator(`${pageOfRows} tr[data-param-in=query]`).count(), 131 + 5)
  const answer = page.waitForResponse((response) => response.url().includes('/v1/financials?'))
  await page.click(`${pageOfRows} .execute`)
  t.match(await (await answer).json(), { data: [{ inn: '0261012138' }] })
  await page.waitForSelector(`${pageOfRows} .live-responses-table`)
  const width = await page.evaluate('document.documentElement.scrollWidth')
  t.equal(width, 390, 'nothing stands out of a phone')
  t.same(complaints, [], 'its own policy lets it do all it does')
})

await t.test('whoever authorizes sees the datasets of their own token', async (t) => {
  const world = await startShipped(t)
  const base = `http://127.0.0.1:${await listen(world)}`
  const { token } = world.subscribe(['procurement:pro'])
  const { page, complaints } = await visit(base, { colorScheme: 'dark' })
  t.equal(await page.locator('html.dark-mode').count(), 1)
  const financials = page.locator(pageOfRows)
  t.equal(await financials.count(), 1)
  await page.click('.auth-wrapper .authorize')
  await page.click('.modal-ux button:text-is("Logout")')
  await page.fill('.modal-ux input', token)
  await page.click('.modal-ux button:text-is("Authorize")')
  await financials.waitFor({ state: 'detached' })
  t.equal(await page.locator('#operations-procurement-procurement_rows').count(), 1)
  await page.click('.modal-ux button:text-is("Logout")')
  await financials.waitFor()
  t.same(complaints, [])
})
