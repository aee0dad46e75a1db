import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { openShopText, startShop } from '../portal/fixtures/shop-world.js'
import { letterTo, startMailServer } from '../sales/letters/fixtures/mail-server.js'
import { testFolder } from '../support/folder.js'
import { violations } from './fixtures/axe.js'
import { builtPortal, listen, startChromium, visit } from './fixtures/chromium.js'

// A Russian company buys, from the price of a plan to its receipt: a browser, a real mail server.

const portalText = `portal:
  title: {en: Acme Data, ru: Акме Данные}
  owners: [owner@example.org]
  legal:
    name: {en: Acme LLC, ru: "ООО «Акме»"}
    inn: "7708004767"
    kpp: "770801001"
    address: {en: 1 Main street, ru: "101000, Москва, ул. Главная, 1"}
    bank: "р/с 40702810900000000001 в АО «Банк», БИК 044525225"
    email: docs@example.org
    vat: 20
`
const buyer = 'buyer@romashka.example.org'
const owner = 'owner@example.org'
/** Where pictures of each step go, for a person to look at. */
const pictures = process.env['DAS_TEST_PICTURES']

const folder = testFolder(t)
cpSync('data', join(folder, 'data'), { recursive: true })
const mail = await startMailServer(t)
const browser = await startChromium(t)
const { world } = await startShop(t, {
  at: folder,
  files: {},
  registry: readFileSync('registry.yaml', 'utf8') + openShopText + portalText,
  portalFolder: await builtPortal(t),
  settings: { smtpUrl: mail.url },
})
const base = await listen(world)
await world.app.prepare()

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor()
const codeIn = (letter: string) => /^ {4}(\d{8})$/m.exec(letter)?.[1] ?? 'no code'
/** The link of a letter, at the address where the server listens here. */
const linkIn = (letter: string, path: string) => {
  const found = new RegExp(`^ {4}http://[^/]+(${path}\\S*)$`, 'm').exec(letter)?.[1]
  return base + (found ?? '/no-link')
}

/** Looks at a page: nothing for axe, nothing wider than the screen, in Russian. */
async function look(page: Page, name: string): Promise<void> {
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height })
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    t.equal(wide, width, `${name} at ${width}`)
    if (pictures) {
      await page.screenshot({ path: `${pictures}/${name}-${width}.png`, fullPage: true })
    }
  }
  t.same(await violations(page), [], name)
  t.equal(await page.locator('html').getAttribute('lang'), 'ru', name)
}

const { page, complaints, requests } = await visit(browser, `${base}/?lang=ru`, { locale: 'ru' })
let order = ''

await t.test('a company orders a plan for a year, and gets an invoice', async (t) => {
  await look(page, '01-home')
  const plan = page.getByRole('row', { name: /^Профессиональный/ }).first()
  await plan.getByRole('link', { name: '39 000 ₽' }).click()
  await heading(page, 'Заказать доступ')
  await page.getByLabel('Электронная почта').fill(buyer)
  await page.getByLabel('Название организации').fill('ООО «Ромашка»')
  await page.getByLabel('ИНН').fill('7707083894')
  await page.getByLabel('КПП').fill('770701001')
  await page.getByLabel('Адрес', { exact: true }).fill('Тверь, ул. Лесная, 2')
  await look(page, '02-details')
  await press(page, 'Прислать код')
  await page.getByRole('alert').waitFor()
  await look(page, '03-wrong-inn')
  await page.getByLabel('ИНН').fill('7707083893')
  await press(page, 'Прислать код')
  await heading(page, 'Введите код')
  await look(page, '04-code')
  await page.getByLabel('Код из 8 цифр').fill(codeIn(await letterTo(mail, buyer, /заказать/)))
  // As a hasty buyer does: the order that the first click placed is shown.
  await page.getByRole('button', { name: 'Заказать с оплатой', exact: true }).dblclick()
  await page.locator('.paper').waitFor()
  await look(page, '05-invoice')
  order = /ord_\w{16}/.exec((await page.textContent('main')) ?? '')?.[0] ?? ''
  t.match(await page.textContent('.paper'), `Счёт на оплату № ${order}`)
})

await t.test('the invoice is one sheet of paper, with nothing of the page beside it', async (t) => {
  await page.emulateMedia({ media: 'print' })
  t.ok(await page.locator('.paper').isVisible())
  for (const other of ['.top', '.foot', 'h1', '.payment', '.lead']) {
    for (const each of await page.locator(other).all()) t.notOk(await each.isVisible(), other)
  }
  if (pictures) await page.screenshot({ path: `${pictures}/invoice.png`, fullPage: true })
  const path = pictures && { path: `${pictures}/invoice.pdf` }
  const pdf = (await page.pdf({ format: 'A4', ...path })).toString('latin1')
  await page.emulateMedia({ media: 'screen' })
  t.match(pdf, /^%PDF-1/)
  t.equal(pdf.match(/\/Type\s*\/Page\b/g)?.length, 1)
})

await t.test("the owner confirms by the letter's link, with one button", async (t) => {
  const letter = await letterTo(mail, owner, /^Новый заказ/)
  t.match(letter, order)
  const seen = await visit(browser, linkIn(letter, '/owner/order#'), { locale: 'ru' })
  await heading(seen.page, `Заказ ${order}`)
  await look(seen.page, '06-owner')
  await press(seen.page, 'Подтвердить')
  await seen.page.getByRole('status').waitFor()
  await look(seen.page, '07-confirmed')
  t.same(seen.complaints, [])
})

await t.test('the letter leads the buyer to the data, without a token', async (t) => {
  const letter = await letterTo(mail, buyer, /^Ваш доступ/)
  t.ok(letter.indexOf('/sign-in?') < letter.indexOf('curl'), 'first the browser')
  await page.goto(linkIn(letter, '/sign-in\\?'))
  await look(page, '08-sign-in')
  await page.locator('#email').fill(buyer)
  await page.keyboard.press('Enter')
  await page.locator('#code').fill(codeIn(await letterTo(mail, buyer, /войти/)))
  await look(page, '09-sign-in-code')
  await page.keyboard.press('Enter')
  await page.locator('form.person').waitFor()
  await look(page, '10-signed-in')
  t.notMatch(await page.textContent('.hero'), 'curl', 'who pays is not sent to a terminal')
})

await t.test('the page of a company that no visitor sees is read', async (t) => {
  const path = '/datasets/financials/2309085638'
  t.equal((await world.get(path)).status, 404, 'it is not of the demo')
  await page.locator('input[type=search]').first().fill('магнит')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/find?*')
  await look(page, '11-found')
  await page.locator('.found a').first().click()
  await page.waitForURL(`**${path}*`)
  await look(page, '12-company')
})

await t.test('the account has the receipt', async (t) => {
  await page.goto(`${base}/account`)
  await look(page, '13-account')
  await page.getByRole('link', { name: order }).click()
  await page.locator('.paper').waitFor()
  await look(page, '14-receipt')
  t.match(await page.textContent('.paper'), 'Квитанция об оплате № 2026-1')
  t.notMatch(requests.join(), /das_live_|romashka/)
  t.match(complaints, [/400/], 'of the wrong INN alone')
  t.equal(complaints.length, 1)
})
