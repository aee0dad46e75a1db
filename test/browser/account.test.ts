import type { Page } from 'playwright-core'
import t from 'tap'
import { addWebhook } from '../../src/control/hooks/webhooks.js'
import { noteVersion } from '../../src/control/hooks/events.js'
import { showSubscription } from '../../src/control/subscriptions.js'
import { confirmOrder } from '../../src/sales/orders/confirm-order.js'
import { startMailServer } from '../sales/letters/fixtures/mail-server.js'
import { connectAgent } from '../portal/fixtures/connected.js'
import { hosts, isSignedBy, startReceiver } from '../sales/webhooks/fixtures/receiver.js'
import { openShopText, partsOf, startShop } from '../portal/fixtures/shop-world.js'
import { violations } from './fixtures/axe.js'
import { builtPortal, listen, startChromium, visit } from './fixtures/chromium.js'

const browser = await startChromium(t)
const portalFolder = await builtPortal(t)
const mail = await startMailServer(t, { isPlain: true })
const settings = { smtpUrl: mail.url }
const shop = await startShop(t, { shop: openShopText, settings, portalFolder, receivers: hosts })
const base = await listen(shop.world)
await shop.world.app.prepare()

/** Where pictures of the pages go, for a person to look at. */
const pictures = process.env['DAS_TEST_PICTURES']
const desk = { width: 1440, height: 900 }
const phone = { width: 390, height: 844 }

/** Opens the account of a token. */
async function openAccount(token: string, lang = 'en', look: object = { viewport: desk }) {
  const seen = await visit(browser, `${base}/usage?lang=${lang}`, look)
  await seen.page.locator('#token').fill(token)
  await seen.page.keyboard.press('Enter')
  await seen.page.locator('[data-subscription]').waitFor()
  return seen
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

await t.test('months are ordered at the price that was shown, and the order printed', async (t) => {
  const { token, subscriptionId } = await shop.world.subscribe(['things:start'])
  const { page, complaints, requests } = await openAccount(token)
  await page.getByLabel('Time').selectOption('12')
  await press(page, 'Show the price: Renew')
  await page.getByText('Price: ₽9,900. The subscription then ends on December 15, 2027.').waitFor()
  await press(page, 'Order with payment')
  const payment = await page.locator('.payment').textContent()
  const [number = ''] = /ord_[0-9A-Za-z]{16}/.exec(payment ?? '') ?? []
  t.equal(payment, `Pay 9900 RUB, order ${number}.`)
  await press(page, `Receipt ${number}`)
  const receipt = page.locator('.paper')
  await receipt.getByText('waits for its payment').waitFor()
  await page.emulateMedia({ media: 'print' })
  t.ok(await receipt.isVisible())
  for (const other of ['.top', '.foot', 'h1', 'form']) {
    for (const each of await page.locator(other).all()) t.notOk(await each.isVisible(), other)
  }
  await page.emulateMedia({ media: 'screen' })
  await confirmOrder(partsOf(shop), number)
  t.equal(
    (await showSubscription(shop.store, subscriptionId)).expiresAt,
    Date.UTC(2027, 11, 15, 12),
  )
  await press(page, 'Your account')
  await page.reload()
  await press(page, `Receipt ${number}`)
  await receipt.getByText('done', { exact: true }).waitFor()
  t.notMatch(requests.join(), 'das_live_')
  t.same(complaints, [])
})

await t.test('without a script all of it works too, once the token is pasted', async (t) => {
  const { token, subscriptionId } = await shop.world.subscribe(['things:pro'], { months: 2 })
  const { page, complaints } = await openAccount(token, 'en', { javaScriptEnabled: false })
  t.notOk(await page.locator('#kept-token').isVisible())
  await page.getByLabel('Things', { exact: true }).selectOption('things:start')
  await press(page, 'Show the price: Change plans')
  await page.getByText('From its end on: Things: start.').waitFor()
  await page.getByText('Price: Free. The end stays').waitFor()
  await press(page, 'Order')
  await page.getByText('takes effect on').waitFor()
  t.same((await showSubscription(shop.store, subscriptionId)).grants, [
    { dataset: 'things', plan: 'pro' },
  ])
  await page
    .getByText('pro until the end of the paid time, then start')
    .first()
    .waitFor({ state: 'attached' })
  await press(page, 'Show the price: Change plans')
  await page.getByText('The subscription has these plans already.').waitFor()
  t.same(
    complaints.filter((each) => !each.includes('400')),
    [],
  )
})

await t.test('a token is replaced with the code of a letter', async (t) => {
  const { token } = await shop.world.subscribe(['things:pro'])
  const { page, complaints } = await openAccount(token)
  const arrived = mail.letters.length
  await press(page, 'Send the code')
  await page.getByLabel('Code of 8 digits').waitFor()
  const codeOf = () =>
    mail.letters
      .slice(arrived)
      .map(({ mail: { text } }) => /^ {4}(\d{8})$/m.exec(text ?? '')?.[1])
      .find((code) => code !== undefined)
  while (codeOf() === undefined) await page.waitForTimeout(50)
  await page.getByLabel('Code of 8 digits').fill(codeOf() ?? '')
  await page.getByLabel('End the earlier tokens now.').check()
  await press(page, 'Get a new token')
  await page.getByText('The old one no longer works.').waitFor()
  const issued = (await page.locator('main code').first().textContent()) ?? ''
  t.match(issued, /^das_live_/)
  t.equal((await shop.world.get('/v1/account', issued)).status, 200)
  t.equal((await shop.world.get('/v1/account', token)).status, 401)
  await page.reload()
  await page.locator('[data-subscription]').waitFor()
  t.notMatch(await page.locator('main').innerText(), 'das_live_')
  t.same(complaints, [])
})

await t.test('a connection is ended', async (t) => {
  const sold = await shop.world.subscribe(['things:pro'])
  await connectAgent(shop.store, sold, { now: shop.world.clock.ms })
  const { page, complaints } = await openAccount(sold.token)
  await press(page, 'End the connection of Claude')
  await page.getByRole('row', { name: /Claude claude\.ai .* ended/ }).waitFor()
  t.equal(await page.getByRole('button', { name: 'End the connection of Claude' }).count(), 0)
  t.match(page.url(), '#connections-', 'what changed is in view')
  t.same(complaints, [])
})

await t.test('a webhook is added, tested, sent again, given a new secret, removed', async (t) => {
  const { token } = await shop.world.subscribe(['things:pro'])
  const receiver = await startReceiver(t)
  const { page, complaints, requests } = await openAccount(token)
  const of = (text: string) => page.getByRole('button', { name: `${text}: ${receiver.url}` })
  const back = () => page.locator('main').getByRole('button', { name: 'Account' }).click()
  await page.getByLabel('Address (https)').fill(receiver.url)
  await page.getByLabel('a new version of a dataset').check()
  await page.getByRole('button', { name: 'Add: Webhooks' }).click()
  await page.getByText('This is the secret. Copy it now').waitFor()
  const secret = page.locator('main code').first()
  const first = (await secret.textContent()) ?? ''
  await back()
  await of('Send a test').click()
  await page.getByText('The test was delivered.').waitFor()
  t.ok(receiver.received[0] && isSignedBy(first, receiver.received[0]))
  await noteVersion(shop.store, { dataset: 'things', version: 'v1' }, shop.world.clock.ms)
  await receiver.arrived(2)
  await back()
  t.notMatch(await page.locator('main').innerText(), first, 'the secret is shown only once')
  await of('Messages').click()
  const sent = page.getByRole('row', { name: /a new version of a dataset delivered 1 204/ })
  await sent.getByRole('button', { name: 'Send again: 1' }).click()
  await receiver.arrived(3)
  t.equal(receiver.received[2]?.headers['webhook-id'], receiver.received[1]?.headers['webhook-id'])
  await back()
  await of('New secret').click()
  await page.getByText('This is the secret. Copy it now').waitFor()
  t.not(await secret.textContent(), first)
  await back()
  await of('Delete').click()
  await page.getByText('There are no webhooks.').waitFor()
  t.notMatch(requests.join(), 'whsec_')
  t.same(complaints, [])
})

await t.test('axe finds nothing, in both languages, themes and widths', async (t) => {
  for (const { lang, ...look } of [
    { lang: 'en', colorScheme: 'light', viewport: desk },
    { lang: 'ru', colorScheme: 'dark', viewport: phone },
    { lang: 'ru', colorScheme: 'light', viewport: desk },
    { lang: 'en', colorScheme: 'dark', viewport: phone },
  ] as const) {
    const sold = await shop.world.subscribe(['things:start'])
    await connectAgent(shop.store, sold, { now: shop.world.clock.ms })
    const hook = { url: `https://example.org/${'a'.repeat(90)}`, events: ['quota.80'] } as const
    const { subscriptionId } = sold
    await addWebhook(shop.store, { ...hook, subscriptionId, watch: null, now: 0 })
    const { page, complaints } = await openAccount(sold.token, lang, look)
    const check = async (what: string) => {
      const name = `${what}: ${lang} ${look.colorScheme} ${look.viewport.width}`
      t.same(await violations(page), [], name)
      const { width } = look.viewport
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, name)
      if (pictures) {
        const path = `${pictures}/${what}-${lang}-${width}.png`
        await page.screenshot({ path, fullPage: true })
      }
    }
    await check('account')
    await page.getByRole('button', { name: /^(Messages|Сообщения)/ }).click()
    await page.getByRole('heading', { level: 1, name: /Messages|Сообщения/ }).waitFor()
    await check('messages')
    await page.getByRole('button', { name: /^(Your account|Моя подписка)/ }).click()
    await page.getByRole('button', { name: /: (Renew|Продлить)$/ }).click()
    await page.locator('button[value="order"]').waitFor()
    await check('price')
    await page.getByRole('button', { name: /^(Your account|Моя подписка)/ }).click()
    await page.getByRole('button', { name: /^(Receipt|Квитанция)/ }).click()
    await page.locator('.paper').waitFor()
    await check('receipt')
    t.same(complaints, [])
    await page.context().close()
  }
})
