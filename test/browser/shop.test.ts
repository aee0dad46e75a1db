import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import type { Page } from 'playwright-core'
import t from 'tap'
import type { Test } from 'tap'
import { build } from '../cli/fixtures/das-process.js'
import { letterTo, startMailServer } from '../sales/letters/fixtures/mail-server.js'
import { openShopText, shopRegistry, shopRows, tokenIn } from '../portal/fixtures/shop-world.js'
import { writeParquet } from '../support/world.js'
import { violations } from './fixtures/axe.js'
import { giveToken, run, startChromium, visit } from './fixtures/chromium.js'

// From no token to rows: a browser, a real mail server, and the built program as a server.

/** A visitor comes from the first page to rows in this time at most. */
const walkMsMax = 60_000

const built = await build(t)
const mail = await startMailServer(t)
const browser = await startChromium(t)
const secret = `whsec_${randomBytes(32).toString('base64')}`
const site = {
  folder: join(t.testdirName, 'site'),
  environment: {
    DAS_SMTP_URL: mail.url,
    DAS_MAIL_FROM: 'data@example.org',
    DAS_PAYMENT_SECRET: secret,
  },
}
mkdirSync(site.folder)
await writeParquet(site.folder, { 'data/things.parquet': shopRows })
writeFileSync(join(site.folder, 'registry.yaml'), shopRegistry(openShopText))
const { base } = await built.serve(site)

/** What the pages and letters say. */
const words = {
  en: {
    email: 'E-mail address',
    sendCode: 'Send the code',
    codeSent: 'A code was sent to',
    orderCode: /^Your code to order access/m,
    digits: 'Code of 8 digits',
    startFree: 'Get the token',
    total: 'Total:',
    placeOrder: 'Order with payment',
    howToPay: 'How to pay',
    pay: (order: string) => `Pay 39000 RUB, order ${order}.`,
    newOrder: /^New order/,
    access: /^Your access to/,
  },
  ru: {
    email: 'Электронная почта',
    sendCode: 'Прислать код',
    codeSent: 'Код отправлен на',
    orderCode: /^Ваш код, чтобы заказать доступ/m,
    digits: 'Код из 8 цифр',
    startFree: 'Получить токен',
    total: 'Итого:',
    placeOrder: 'Заказать с оплатой',
    howToPay: 'Как оплатить',
    pay: (order: string) => `Оплатите 39000 ₽, заказ ${order}.`,
    newOrder: /^Новый заказ/,
    access: /^Ваш доступ/,
  },
} as const
type Words = (typeof words)[keyof typeof words]

const letter = (to: string, pattern: RegExp) => letterTo(mail, to, pattern)

/** The code of the newest letter that matches. */
async function codeIn(to: string, pattern: RegExp): Promise<string> {
  return /^ {4}(\d{8})$/m.exec(await letter(to, pattern))?.[1] ?? 'no code'
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

/** Asks for the code of an order; the page then asks for it. */
async function askForCode(page: Page, say: Words, email: string): Promise<void> {
  await page.getByLabel(say.email).fill(email)
  await press(page, say.sendCode)
  await page.getByText(`${say.codeSent} ${email}`).waitFor()
}

async function typeCode(page: Page, say: Words, email: string, button: string): Promise<void> {
  await page.getByLabel(say.digits).fill(await codeIn(email, say.orderCode))
  await press(page, button)
}

/** Asks for rows with a token, as a program does. */
async function statusOf(token: string): Promise<number> {
  const headers = { Authorization: `Bearer ${token}` }
  return (await fetch(`${base}/v1/things?id=eq.2`, { headers })).status
}

/** Shows rows with a token on the dataset's page; returns how many. */
async function showRows(page: Page, token: string): Promise<number> {
  await page.goto(`${base}/datasets/things?lang=en`)
  await giveToken(page, token)
  await page.getByRole('button', { name: /^Remove the filter/ }).click()
  await run(page)
  return page.locator('table.data tbody tr').count()
}

function checkTime(t: Test, startedMs: number): void {
  const tookMs = performance.now() - startedMs
  t.comment(`from the first page to rows: ${(tookMs / 1000).toFixed(1)} s`)
  t.ok(tookMs <= walkMsMax, 'within a minute')
}

for (const script of [true, false]) {
  const name = script ? 'with script' : 'without script'
  await t.test(`a free plan, ${name}: from the home page to rows in a minute`, async (t) => {
    const email = script ? 'one@example.org' : 'two@example.org'
    const startedMs = performance.now()
    const { page, complaints } = await visit(browser, `${base}/?lang=en`, {
      javaScriptEnabled: script,
    })
    const row = page.getByRole('row', { name: /^free .*1,000/ })
    await row.getByRole('link', { name: 'Get a token' }).click()
    await page.getByRole('heading', { level: 1, name: 'Order access' }).waitFor()
    await askForCode(page, words.en, email)
    await typeCode(page, words.en, email, words.en.startFree)
    await page.getByRole('heading', { level: 1, name: 'Your token' }).waitFor()
    const token = tokenIn((await page.textContent('main')) ?? '')
    t.notMatch(page.url(), /das_live_|\d{8}/)
    if (script) t.equal(await showRows(page, token), 33, 'the rows of the newest year')
    else t.equal(await statusOf(token), 200)
    checkTime(t, startedMs)
    t.equal(tokenIn(await letter(email, words.en.access)), token)
    t.same(await page.context().cookies(), [])
    t.notMatch(page.url(), /das_live_|\d{8}/)
    t.same(complaints, [])
  })
}

/** Reports a payment as a payment system does. */
async function reportPayment(order: string): Promise<number> {
  const paidAt = new Date()
  const body = JSON.stringify({ order, amount_rub: 39_000, paid_at: paidAt.toISOString() })
  const answer = await fetch(`${base}/hooks/payment`, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(paidAt.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('msg_1', paidAt, body),
    },
  })
  return answer.status
}

const confirmations = [
  {
    by: 'the payment system',
    lang: 'ru',
    email: 'three@example.org',
    confirm: async (order: string) => ({ answer: await reportPayment(order), expected: 204 }),
  },
  {
    by: 'the owner with a command',
    lang: 'en',
    email: 'four@example.org',
    confirm: async (order: string) => ({
      answer: (await built.das(site, ['order', 'confirm', order])).code,
      expected: 0,
    }),
  },
] as const

for (const { by, lang, email, confirm } of confirmations) {
  await t.test(`a paid order, confirmed by ${by}: from its form to rows in a minute`, async (t) => {
    const startedMs = performance.now()
    const say = words[lang]
    const url = `${base}/order?lang=${lang}&plan=things%3Apro`
    const { page, complaints } = await visit(browser, url)
    t.same(await violations(page), [], 'the form')
    await askForCode(page, say, email)
    await page.getByText(say.total).waitFor()
    t.same(await violations(page), [], 'the code')
    await typeCode(page, say, email, say.placeOrder)
    await page.getByRole('heading', { name: say.howToPay }).waitFor()
    t.same(await violations(page), [], 'how to pay')
    const text = (await page.textContent('main')) ?? ''
    t.notMatch(text, 'das_live_', 'no token before the payment')
    const [order = ''] = /ord_[0-9A-Za-z]{16}/.exec(text) ?? []
    t.match(text, say.pay(order))
    t.match(await letter('owner@example.org', say.newOrder), `das order confirm ${order}`)

    const { answer, expected } = await confirm(order)
    t.equal(answer, expected)
    const token = tokenIn(await letter(email, say.access))
    t.equal(await statusOf(token), 200)
    t.ok((await showRows(page, token)) > 33, 'the rows of more than one year')
    checkTime(t, startedMs)
    t.same(complaints, [])
  })
}

await t.test('a wrong code, then a lost token is replaced', async (t) => {
  const email = 'one@example.org'
  const { page } = await visit(browser, `${base}/lost-token?lang=en`)
  t.same(await violations(page), [])
  await askForCode(page, words.en, email)
  await page.getByLabel('Code of 8 digits').fill('no code')
  await press(page, 'Go on')
  await page.getByRole('alert').waitFor()
  t.same(await violations(page), [])
  await page.getByLabel('Code of 8 digits').fill(await codeIn(email, /get a new token/))
  await press(page, 'Go on')
  await page.getByText('Choose the subscription').waitFor()
  t.same(await violations(page), [])
  await page.getByLabel(/End the earlier tokens/).check()
  await press(page, 'Make a new token')
  await page.getByRole('heading', { level: 1, name: 'Your token' }).waitFor()
  t.same(await violations(page), [])
  const token = tokenIn((await page.textContent('main')) ?? '')
  t.equal(await statusOf(token), 200)
  t.equal(tokenIn(await letter(email, /new token/)), token)
})
