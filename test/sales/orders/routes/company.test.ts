import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { showOrder } from '../../../../src/control/orders.js'
import type { ReceiptNumber } from '../../../../src/control/receipts.js'
import { confirmOrder } from '../../../../src/sales/orders/confirm-order.js'
import { declineOrder } from '../../../../src/sales/orders/decline-order.js'
import { orderRenewal } from '../../../../src/sales/orders/subscription-orders.js'
import {
  codeIdIn,
  openShopText,
  partsOf,
  placePaid,
  shopRegistry,
} from '../../../portal/fixtures/shop-world.js'
import { startSessions } from '../../sessions/fixtures/signing-in.js'

const legalText = `portal:
  title: {en: Acme Data, ru: Акме Данные}
  legal:
    name: {en: Acme LLC, ru: "ООО «Акме»"}
    inn: "7708004767"
    kpp: "770801001"
    address: {en: 1 Main street, ru: "Москва, ул. Главная, 1"}
    bank: "р/с 40702810900000000001, БИК 044525225"
    vat: 20
`
const company = {
  'buyer-name': 'ООО "Ромашка" <b>',
  'buyer-inn': '\u200b7707 083893',
  'buyer-kpp': '770701001',
  'buyer-address': 'Тверь, ул. Лесная, 2',
}
const buyer = { email: 'buyer@example.org' }
const wanted = { plan: ['things:pro', ''], months: '12', ...buyer }

const startCompany = (t: Test) => startSessions(t, { shop: openShopText + legalText })
type Shop = Awaited<ReturnType<typeof startCompany>>

/** Orders for the company, in Russian; the page after the code. */
async function order(shop: Shop) {
  const asked = await shop.send('/order?lang=ru', { ...wanted, ...company })
  t.match(asked.text, 'ООО &quot;Ромашка&quot; &lt;b&gt;, ИНН 7707083893')
  const typed = { id: codeIdIn(asked), code: await shop.code() }
  const page = await shop.send('/order/code?lang=ru', typed)
  return { page, orderId: /ord_\w{16}/.exec(page.text)?.[0] ?? '' }
}

await t.test('a company gets an invoice with both sides, VAT, and the sum in words', async (t) => {
  const shop = await startCompany(t)
  t.match((await shop.world.get('/order?lang=ru')).text, 'Название организации')
  const { page, orderId } = await order(shop)
  const invoice = [
    `Счёт на оплату № ${orderId} от 15 ноября 2026 г.`,
    'ООО «Акме», ИНН 7708004767, КПП 770801001, Москва, ул. Главная, 1, р/с 40702810900000000001',
    'ООО &quot;Ромашка&quot; &lt;b&gt;, ИНН 7707083893, КПП 770701001, Тверь, ул. Лесная, 2',
    'Доступ к данным, Акме Данные (Вещи: тариф pro), 12 месяцев',
    'В том числе НДС 20 %: 6 500,00 ₽.',
    'Тридцать девять тысяч рублей 00 копеек',
    'Оплатить до 29 ноября 2026 г.',
  ]
  for (const line of invoice) t.match(plain(page.text), line)
  const [letter] = await shop.letters('order-received')
  const [file] = letter?.attachments ?? []
  t.equal(file?.filename, `invoice-${orderId}.html`)
  for (const line of invoice.slice(0, 2)) t.match(plain(file?.html ?? ''), line)
  t.match(file?.html, '<thead><tr><th>Наименование</th><th>Сумма</th></tr></thead>')
  t.notMatch(file?.html, '<b>', 'what the buyer typed is text')
  t.match(letter?.text, 'Акме Данные', 'the name of the service stands in the letter')
})

await t.test('an invoice has a line for each plan, and their sum is the total', async (t) => {
  const shop = await startCompany(t)
  const plan = ['things:pro', 'parts:start']
  const asked = await shop.send('/order?lang=ru', { ...wanted, plan, months: '14', ...company })
  const typed = { id: codeIdIn(asked), code: await shop.code() }
  const { text } = await shop.send('/order/code?lang=ru', typed)
  const cells = (page: string) =>
    [...plain(page).matchAll(/<td> ?([^<]+?) ?<\/td> <td class="number"> ?([^<]+?) ?</g)].map(
      ([, what, amount]) => [what, amount],
    )
  const lines = [
    ['Доступ к данным, Акме Данные (Вещи: тариф pro), 14 месяцев', '46 800,00 ₽'],
    ['Доступ к данным, Акме Данные (Parts: тариф start), 14 месяцев', '1 200,00 ₽'],
  ]
  t.same(cells(text), lines)
  t.match(plain(text), 'Итого: 48 000,00 ₽. В том числе НДС 20 %: 8 000,00 ₽.')
  const orderId = /ord_\w{16}/.exec(text)?.[0] ?? ''
  // A price that changed since is not that of the order.
  const registry = shopRegistry(openShopText + legalText).replace(
    'price_rub: 100}',
    'price_rub: 99}',
  )
  writeFileSync(join(shop.world.folder, 'registry.yaml'), registry)
  await shop.world.app.reload()
  await shop.world.app.reload()
  await confirmOrder(partsOf(shop), orderId)
  const path = `/account/orders/${orderId}`
  const receipt = await shop.open(path, await shop.signIn(buyer.email))
  t.same(cells(receipt.text), lines)
})

// Guarantee: invoices and receipts open for the address that ordered alone.
await t.test('a paid order has a receipt, and only its buyer can open it', async (t) => {
  const shop = await startCompany(t)
  const { orderId } = await order(shop)
  const path = `/account/orders/${orderId}?lang=en`
  const mine = await shop.signIn(buyer.email)
  const others = await shop.signIn('other@example.org')
  t.match((await shop.open(path, mine)).text, `Счёт на оплату № ${orderId}`)
  await confirmOrder(partsOf(shop), orderId)
  const receipt = await shop.open(path, mine)
  t.match(plain(receipt.text), 'Квитанция об оплате № 2026-1 от 15 ноября 2026 г.')
  t.equal(receipt.headers['cache-control'], 'no-store')
  t.match((await shop.open('/account?lang=en', mine)).text, `href="/account/orders/${orderId}`)
  const unknown = await shop.open('/account/orders/ord_0123456789abcdef?lang=en', others)
  t.equal(unknown.status, 404)
  t.same((await shop.open(path, others)).text, unknown.text, 'as if there were none')
  for (const odd of ['%00', 'ord_%20', "ord_';--", 'x'.repeat(90)]) {
    t.equal((await shop.open(`/account/orders/${odd}`, mine)).status, 404, odd)
  }
  t.equal((await shop.world.get(path)).status, 404, 'without signing in')
  const [letter] = await shop.letters('new-token')
  t.equal(letter?.attachments?.[0]?.filename, `receipt-${orderId}.html`)
})

await t.test('a receipt stays as it was when the registry changes', async (t) => {
  const shop = await startCompany(t)
  const { orderId } = await order(shop)
  await confirmOrder(partsOf(shop), orderId)
  const path = `/account/orders/${orderId}`
  const mine = await shop.signIn(buyer.email)
  const before = plain((await shop.open(path, mine)).text)
  const changed =
    openShopText + legalText.replace('vat: 20', 'vat: none').replace('7708004767', '7707083893')
  writeFileSync(join(shop.world.folder, 'registry.yaml'), shopRegistry(changed))
  await shop.world.app.reload()
  await shop.world.app.reload()
  t.equal(shop.world.app.registry().portal.legal?.vatPercent, null)
  const after = plain((await shop.open(path, mine)).text)
  const sheet = (text: string) => /<article class="paper">.*<\/article>/.exec(text)?.[0] ?? 'none'
  t.match(sheet(before), 'НДС 20 %')
  t.equal(sheet(after), sheet(before))
})

// Guarantee: no line of the log names who orders, pays or signs in.
await t.test('the log has no address, company or secret of an order', async (t) => {
  const shop = await startCompany(t)
  const { orderId } = await order(shop)
  await confirmOrder(partsOf(shop), orderId)
  await shop.open(`/account/orders/${orderId}`, await shop.signIn(buyer.email))
  await shop.letters('new-token')
  const log = shop.world.log.join('')
  t.match(log, '/account/orders/')
  t.notMatch(log, /@|Ромашка|7707083893|Лесная|das_(live|session)_/i)
})

await t.test('a renewal is for the same company', async (t) => {
  const shop = await startCompany(t)
  const { orderId } = await order(shop)
  const { subscriptionId } = await confirmOrder(partsOf(shop), orderId)
  const parts = { ...partsOf(shop), key: Buffer.alloc(32), sendLetters: () => {}, isMailOn: true }
  const placed = await orderRenewal(parts, subscriptionId, 1)
  t.match(placed, { kind: 'waiting', order: { buyer: { inn: '7707083893', kpp: '770701001' } } })
})

await t.test('paid orders are numbered by year without gaps, whoever entered them', async (t) => {
  const shop = await startCompany(t)
  const numberOf = async (id: string): Promise<ReceiptNumber | null> =>
    (await showOrder(shop.store, id)).receipt
  const ids = [await placePaid(shop), await placePaid(shop), await placePaid(shop)]
  const [first = '', second = '', third = ''] = ids
  await confirmOrder(partsOf(shop), second)
  await declineOrder(partsOf(shop), first)
  await t.rejects(confirmOrder(partsOf(shop), first), 'a confirmation that fails takes no number')
  await confirmOrder(partsOf(shop), third)
  t.same(await Promise.all(ids.map(numberOf)), [
    null,
    { year: 2026, number: 1 },
    { year: 2026, number: 2 },
  ])
  await shop.world.subscribe(['things:start'], { months: 1 })
  shop.world.clock.ms = Date.UTC(2027, 0, 1, 0, 0, 1)
  const next = await placePaid(shop)
  await confirmOrder(partsOf(shop), next)
  t.same(await numberOf(next), { year: 2027, number: 1 })
})

await t.test('a company with wrong digits is refused, and what was typed stays', async (t) => {
  const shop = await startCompany(t)
  for (const wrong of [
    { 'buyer-inn': '7707083894' },
    { 'buyer-inn': '' },
    { 'buyer-name': ' ' },
    { 'buyer-name': '\u200b\u3164' },
    { 'buyer-name': '—' },
    { 'buyer-kpp': '77070100' },
    { 'buyer-kpp': '000000000' },
    { 'buyer-kpp': '7707ЖЩ001' },
    { 'buyer-kpp': '77O701001' },
    { 'buyer-inn': '500100732259' },
    { 'buyer-address': 'a'.repeat(501) },
  ]) {
    const { status, text } = await shop.send('/order?lang=en', { ...wanted, ...company, ...wrong })
    t.equal(status, 400)
    t.match(text, 'Give the name of the company and its INN of 10 or 12 digits')
    if (!('buyer-name' in wrong)) t.match(text, 'value="ООО &quot;Ромашка&quot; &lt;b&gt;"')
  }
  t.equal((await shop.letters('code')).length, 0)
})

await t.test('details are taken as they are pasted from a document', async (t) => {
  const shop = await startCompany(t)
  const pasted = {
    'buyer-name': ' ООО\u00a0«Ромашка»\u200b\r\nи\u2009братья ',
    'buyer-inn': '７７０７\u00a0083\u2011893\ufeff',
    'buyer-kpp': '7707 ае – 001',
    'buyer-address': '170000, Тверь,\u00a0ул. Лесная,\u00ad 2',
  }
  const asked = await shop.send('/order?lang=ru', { ...wanted, ...pasted })
  const text = 'ООО «Ромашка» и братья, ИНН 7707083893, КПП 7707AE001, 170000, Тверь, ул. Лесная, 2'
  const typed = { id: codeIdIn(asked), code: await shop.code() }
  t.match(plain((await shop.send('/order/code?lang=ru', typed)).text), text)
  const person = { 'buyer-name': 'ИП Иванов', 'buyer-inn': '5001 0073 2259', 'buyer-kpp': '' }
  const other = await shop.send('/order?lang=ru', { ...wanted, ...company, ...person })
  t.match(plain(other.text), 'ИП Иванов, ИНН 500100732259')
})

await t.test('without the details of the seller there is no invoice, and no field', async (t) => {
  const shop = await startSessions(t)
  t.notMatch((await shop.world.get('/order?lang=en')).text, 'For a company')
  const orderId = await placePaid(shop)
  const mine = await shop.signIn(buyer.email)
  t.equal((await shop.open(`/account/orders/${orderId}`, mine)).status, 404)
  t.equal((await shop.letters('order-received'))[0]?.attachments, undefined)
})

/** A text with plain spaces, as a person reads it. */
function plain(text: string): string {
  return text.replaceAll(/[\s\u00a0\u202f]+/g, ' ').replaceAll(/&#(\d+);/g, (_, code) => {
    const character = String.fromCharCode(Number(code))
    return { '"': '&quot;', '<': '&lt;', '>': '&gt;' }[character] ?? character
  })
}
