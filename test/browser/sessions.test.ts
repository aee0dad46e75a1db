import type { BrowserContextOptions, Page } from 'playwright-core'
import t from 'tap'
import { letterTo, startMailServer } from '../sales/letters/fixtures/mail-server.js'
import { openShopText, startShop } from '../portal/fixtures/shop-world.js'
import { violations } from './fixtures/axe.js'
import { builtPortal, listen, run, startChromium, visit } from './fixtures/chromium.js'

// From a page to the sign-in and back: a browser and a real mail server.

const mail = await startMailServer(t)
const browser = await startChromium(t)
const settings = { smtpUrl: mail.url }
const { world } = await startShop(t, {
  shop: openShopText,
  settings,
  portalFolder: await builtPortal(t),
})
const base = await listen(world)
await world.app.prepare()

/** Signs in from a page; the page to which the person returned. */
async function signIn(path: string, email: string, options: BrowserContextOptions = {}) {
  const seen = await visit(browser, base + path, options)
  const { page } = seen
  await page.getByRole('link', { name: /^(Sign in|Войти)$/ }).click()
  await page.locator('#email').fill(email)
  await page.keyboard.press('Enter')
  await page.locator('#code').waitFor()
  const letter = await letterTo(mail, email, /to sign in|чтобы войти/)
  await page.locator('#code').fill(/^ {4}(\d{8})$/m.exec(letter)?.[1] ?? '')
  await page.keyboard.press('Enter')
  await page.locator('form.person').waitFor()
  return seen
}

/** Signs out, and waits for the page that follows. */
async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.getByRole('link', { name: 'Sign in' }).waitFor()
  await page.waitForLoadState()
}

await t.test('a person signs in and out without a script, and returns to the page', async (t) => {
  const email = 'subscriber@example.org'
  const { subscriptionId } = await world.subscribe(['things:pro'])
  const path = '/datasets/things?lang=en'
  const { page, complaints } = await signIn(path, email, { javaScriptEnabled: false })
  t.equal(page.url(), base + path)
  t.match(await page.context().cookies(), [{ name: 'das', httpOnly: true, sameSite: 'Lax' }])
  await page.goto(`${base}/account?lang=en`)
  await page.getByRole('heading', { name: `Subscription ${subscriptionId}` }).waitFor()
  await page.getByText('It pays for what you read here.').waitFor()
  await page.getByRole('cell', { name: '500,000' }).first().waitFor()
  await signOut(page)
  t.same(await page.context().cookies(), [])
  t.same(complaints, [])
})

await t.test('the explorer reads with the subscription, and no token is in the page', async (t) => {
  const look = { viewport: { width: 390, height: 844 } }
  const email = 'subscriber@example.org'
  const path = '/datasets/things?lang=en'
  const { page, complaints, requests } = await signIn(`${path}#rows?limit=3`, email, look)
  t.equal(page.url(), `${base}${path}#rows?limit=3`, 'with what it showed')
  await page.getByText('Rows count toward your subscription').waitFor()
  await run(page)
  t.ok(requests.some((url) => url.endsWith('/session/access')))
  t.equal(
    (await page.locator('.answer tbody tr, .rows-table tbody tr, table tbody tr').count()) > 0,
    true,
  )
  t.notMatch(await page.content(), /das_(page|session|live)_/)
  t.notMatch(await page.evaluate('JSON.stringify({...sessionStorage, ...localStorage})'), /das_/)
  t.equal(await page.evaluate('document.cookie'), '')
  t.same(await violations(page), [])
  await page.goto(`${base}/account?lang=en`)
  await page.getByRole('heading', { name: 'Agents' }).waitFor()
  await page.getByRole('button', { name: 'Show the price: Renew' }).waitFor()
  t.same(await violations(page), [])
  t.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
  await signOut(page)
  await page.goBack()
  t.notMatch(await page.content(), email, 'the page before is asked again')
  t.same(complaints, [])
})
