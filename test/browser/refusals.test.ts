import type { Page } from 'playwright-core'
import t from 'tap'
import { errorCodes, errorStatus } from '../../src/errors.js'
import { wordsOf } from '../../src/portal/words.js'
import { startWorld } from '../support/world.js'
import { builtPortal, listen, pressRun, run, startChromium, visit } from './fixtures/chromium.js'

const browser = await startChromium(t)
const world = await startWorld(t, {
  portalFolder: await builtPortal(t),
  files: { 'events.parquet': `SELECT i AS id, 'n' || i AS name FROM range(10) t(i)` },
  registry: `
datasets:
  events:
    title: Events
    files: events.parquet
    key: id
    listed: true
    plans:
      tiny: {rows_per_month: 3, history: all, price_rub: 0, rate_per_minute: 1000}
      slow: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 2}
`,
})
const base = await listen(world)

/** Opens the dataset in a language, with a token of one's own. */
async function open(lang: 'en' | 'ru', token: string): Promise<Page> {
  const { page } = await visit(browser, `${base}/datasets/events?lang=${lang}`)
  await page.getByLabel(/^(Token|Токен)$/).fill(token)
  await page.getByRole('button', { name: /^(Use it|Применить)$/ }).click()
  return page
}

function beside(page: Page, button: RegExp) {
  return page.locator('p', { has: page.getByRole('button', { name: button }) }).locator('.error')
}

await t.test('a used quota says when it resets, beside the button pressed', async (t) => {
  for (const lang of ['en', 'ru'] as const) {
    const { token } = await world.subscribe(['events:tiny'])
    const page = await open(lang, token)
    await page.getByLabel(/^(Rows on a page|Строк на странице)$/).fill('3')
    await run(page)
    await page.getByRole('button', { name: /^(Next page|Следующая страница)$/ }).click()
    const next = beside(page, /^(Next page|Следующая страница)$/)
    await next.waitFor()
    const { headers } = await world.get('/v1/events?limit=1', token)
    const resets = new Date(
      Date.parse(String(headers['date'])) + 1000 * Number(headers['retry-after']),
    )
    const day = { month: 'long', day: 'numeric', timeZone: 'UTC' } as const
    const said = lang === 'en' ? 'The limit resets on ' : 'Лимит обновится '
    t.match(await next.textContent(), `${said}${resets.toLocaleDateString(lang, day)}.`)
    t.equal(await page.locator('table.data').count(), 1, 'the page before is still the one shown')
    await page.getByLabel(/^(Rows on a page|Строк на странице)$/).fill('2')
    await pressRun(page)
    await beside(page, /^(Run|Выполнить)$/).waitFor()
    t.equal(await page.locator('table.data').count(), 0, 'no old rows under an error')
    await page.context().close()
  }
})

await t.test('too many requests are said in seconds', async (t) => {
  const { token } = await world.subscribe(['events:slow'])
  const page = await open('ru', token)
  const run = page.getByRole('button', { name: 'Выполнить' })
  for (let i = 0; i < 3; i++) {
    await run.click()
    await page.locator('.answer:not([aria-busy])').waitFor()
  }
  const text = await beside(page, /^Выполнить$/).textContent()
  t.match(text, /^Слишком много запросов за минуту\. Подождите \d+ с и повторите\. \S/)
})

await t.test('every error is said in the language of the page, and below as sent', async (t) => {
  for (const lang of ['en', 'ru'] as const) {
    const { token } = await world.subscribe(['events:tiny'])
    const page = await open(lang, token)
    for (const error of [...errorCodes, 'unheard_of'] as const) {
      const detail = `Sent with ${error}: <b>not markup</b>`
      const status = error === 'unheard_of' ? 418 : errorStatus[error]
      await page.unroute('**/v1/**')
      await page.route('**/v1/**', (route) => route.fulfill({ status, json: { error, detail } }))
      await pressRun(page)
      const place = beside(page, /^(Run|Выполнить)$/).filter({ hasText: detail })
      await place.waitFor()
      const known = error === 'unheard_of' ? null : wordsOf(lang).refusals[error]
      t.equal(await place.textContent(), known === null ? detail : `${known} ${detail}`, lang)
      const own = place.locator('[lang=en]')
      t.same(await own.allTextContents(), known === null ? [] : [detail])
    }
    await page.context().close()
  }
})

await t.test('a mistake is named by the server, below words of the page', async (t) => {
  const { token } = await world.subscribe(['events:tiny'])
  const page = await open('ru', token)
  await page.getByRole('button', { name: 'Добавить фильтр' }).click()
  await page.getByLabel('Значение', { exact: true }).last().fill('abc')
  await pressRun(page)
  const place = beside(page, /^Выполнить$/)
  await place.waitFor()
  t.match(await place.textContent(), /^В запросе ошибка\. Исправьте её/)
  const { body } = await world.get('/v1/events?id=eq.abc', token)
  t.equal(await place.locator('[lang=en]').textContent(), body.detail)
})

await t.test('a token that is unknown, and a server that is gone', async (t) => {
  const page = await open('ru', 'das_nobody')
  await page.locator('.error', { hasText: 'Токен неизвестен, отозван или истёк.' }).waitFor()
  await page.route('**/v1/**', (route) => route.abort())
  await page.getByRole('button', { name: 'Применить' }).click()
  await page.locator('.error', { hasText: 'Ответ не пришёл. Проверьте соединение' }).waitFor()
  t.end()
})
