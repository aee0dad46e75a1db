import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import type { Page } from 'playwright-core'
import t from 'tap'
import type { Test } from 'tap'
import { strFromU8, unzipSync } from 'fflate'
import { workbookOf } from '../cli/enrich/fixtures/lists.js'
import { cliOver } from '../cli/fixtures/cli-fixture.js'
import { logged } from '../support/logged.js'
import { sheetLines } from '../support/programs/libreoffice.js'
import { startShipped } from '../support/shipped.js'
import { violations } from './fixtures/axe.js'
import { builtPortal, listen, startChromium, visit } from './fixtures/chromium.js'

// An analyst's walk in Russian over the shipped data: a misspelt name, a company, a comparison of
// five by margin with the medians of their classes, a workbook, a list of 300. By the names of what is clicked.

const browser = await startChromium(t)
const shipped = await startShipped(t, { portalFolder: await builtPortal(t) })
const base = await listen(shipped)
void shipped.app.prepare()
await logged(shipped, '"packed"')
const { page, complaints } = await visit(browser, `${base}/?lang=ru`)
const airline = 'ПУБЛИЧНОЕ АКЦИОНЕРНОЕ ОБЩЕСТВО "АЭРОФЛОТ-РОССИЙСКИЕ АВИАЛИНИИ"'
const inn = '7712040126'
const byteMax = 60_000

/** The words of a page, or of a part of it. */
async function wordsOn(shown: Page, place = 'main'): Promise<string> {
  return (await shown.locator(place).allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ')
}

async function search(words: string): Promise<void> {
  await page.getByRole('searchbox').first().fill(words)
  await page.getByRole('button', { name: 'Найти' }).first().click()
  await page.getByRole('heading', { level: 1, name: `Поиск: ${words}` }).waitFor()
}

/** Axe in both colour schemes; nothing is wider than a screen and a phone. */
async function isClean(t: Test, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.same(await violations(page), [], `${name}, ${colorScheme}`)
  }
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, `${name}, ${width}`)
  }
}

await t.test('a misspelt name leads from the home page to the company', async (t) => {
  t.equal(await page.locator('.hero').getByRole('searchbox').count(), 1)
  t.equal(await page.getByRole('searchbox').count(), 1, 'not again in the card')
  await search('аэрафлот')
  await isClean(t, 'found')
  await page.getByRole('link', { name: airline }).click()
  await page.getByRole('heading', { level: 1, name: airline }).waitFor()
  const words = await wordsOn(page)
  t.match(words, `ИНН ${inn}`)
  t.match(words, '51.10.1 · Перевозка воздушным пассажирским транспортом')
  t.match(words, 'Выручка 2110')
  t.match(await wordsOn(page, 'figure.chart'), /^График, руб\./)
  await isClean(t, 'entity')
  await page.emulateMedia({ media: 'print' })
  for (const each of ['.actions', '.choice', '.top']) {
    t.notOk(await page.locator(each).isVisible(), `${each} is nothing for paper`)
  }
  await page.emulateMedia({ media: 'screen' })
})

await t.test('a company is light on the wire, and readable without a script', async (t) => {
  const { page: cold, complaints: others } = await visit(browser, page.url(), {
    javaScriptEnabled: false,
  })
  t.same(others, [])
  t.equal(await cold.locator('h1').textContent(), airline)
  await cold.context().close()
  const { page: alive } = await visit(browser, page.url())
  const bytes = await alive.evaluate<number>(
    '[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]' +
      '.reduce((sum, { transferSize }) => sum + transferSize, 0)',
  )
  t.ok(bytes > 0 && bytes <= byteMax, `${bytes} bytes`)
  await alive.context().close()
})

await t.test('five companies stand side by side by margin, with the medians', async (t) => {
  for (const [words, name] of [
    ['лукоил', /ЛУКОЙЛ/],
    ['vnc', /Мобильные ТелеСистемы/],
    ['ржд', /железные дороги/],
    ['идел нефтемаш', /Идель Нефтемаш/],
  ] as const) {
    await search(words)
    await page.getByRole('checkbox', { name }).check()
    await page.getByRole('button', { name: 'Сравнить', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Сравнение' }).waitFor()
  }
  t.equal(await page.locator('h1').textContent(), 'Сравнение: 5')
  t.equal(await page.locator('[aria-current=true]', { hasText: '2021' }).count(), 1, 'all have it')
  await page.getByRole('link', { name: /^Чистая маржа/ }).click()
  await page.getByText('Чистая маржа, %').waitFor()
  const margins = await page.locator('.bars .number').allTextContents()
  t.equal(margins.length, 9, 'five companies and the medians of four classes')
  const table = await wordsOn(page, 'table.compared')
  t.match(table, 'Медиана: 51 · Деятельность воздушного и космического транспорта')
  t.match(table, '1 строка из видимых вам')
  t.match(margins.join(), '−12,1')
  await isClean(t, 'compare')
})

/** What LibreOffice shows of a workbook that a link saves. */
async function sheetOf(link: string): Promise<readonly [string, readonly string[][]]> {
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: link }).click()
  const file = await download
  const lines = await sheetLines(shipped.folder, readFileSync(await file.path()))
  return [file.suggestedFilename(), parse(lines.join('\n')) as string[][]]
}

await t.test('LibreOffice opens the comparison, laid out as a person would', async (t) => {
  const [name, [headings = [], ...rows]] = await sheetOf('Скачать XLSX')
  t.equal(name, 'financials-compare-2021.xlsx')
  t.same(headings.slice(0, 4), ['Раздел', 'Показатель', 'Код', 'Единица'])
  t.equal(headings.length, 4 + 10, 'five companies, five medians')
  t.match(headings[4], new RegExp(`\\(${inn}\\)$`))
  t.match(headings.at(-1), /^Медиана: \d\d · /)
  const margin = rows.find(([, , code]) => code === 'net_margin') ?? []
  t.same(margin.slice(1, 5), ['Чистая маржа', 'net_margin', 'доля', '-12.0528903376293%'])
})

await t.test('LibreOffice opens the workbook of a company', async (t) => {
  await page.getByRole('link', { name: airline }).click()
  const [name, [headings, ...rows]] = await sheetOf('Скачать XLSX')
  t.equal(name, `financials-${inn}.xlsx`)
  const years = ['2025', '2024', '2023', '2022', '2021', '2020', '2019']
  t.same(headings, ['Раздел', 'Показатель', 'Код', 'Единица', ...years])
  const revenue = rows.find(([, , code]) => code === '2110') ?? []
  t.same(revenue.slice(0, 4), ['Финансовые результаты', 'Выручка', '2110', 'тыс. руб.'])
  const { body } = await shipped.get(
    `/v1/financials?inn=eq.${inn}&select=year,2110`,
    'das_demo_opendata',
  )
  const byYear = new Map(body.data.map((row) => [String(row['year']), row['2110']]))
  t.same(
    revenue.slice(4),
    years.map((year) => String(byYear.get(year) ?? '')),
  )
  t.same(complaints, [])
})

/** 300 lines: every company of the data, an unknown one, slips, and keys that stand twice. */
async function clients(token: string): Promise<readonly (readonly string[])[]> {
  const { body } = await shipped.get('/v1/financials?year=eq.2024&select=inn&limit=1000', token)
  const inns = [...new Set(body.data.map((row) => String(row['inn'])))]
  const others = ['7707083893', '', 'нет', '123', inns[0] ?? '']
  const keys = [...inns, ...others]
  return Array.from({ length: 300 }, (_, at) => [String(at + 1), keys[at % keys.length] ?? ''])
}

async function saved(): Promise<Buffer> {
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: /^Скачать / }).click()
  return readFileSync(await (await download).path())
}

/** The pasted token, with which a command asks the same. */
const { token } = await shipped.subscribe(['financials:pro'])
const at = (name: string) => join(shipped.folder, name)

/** What `das enrich` makes of a list. */
async function enriched(t: Test, file: string, ...more: readonly string[]): Promise<Buffer> {
  const of = ['--dataset', 'financials', '--key', 'inn', '--select', 'year,name,2110,2400,1600']
  const argv = ['enrich', at(file), ...of, '-o', at(`das-${file}`), ...more]
  const { code, stderr } = await cliOver(shipped.folder, shipped.clock).das(argv, {
    environment: { DAS_SERVER: base, DAS_TOKEN: token },
  })
  t.same({ code, stderr }, { code: 0, stderr: '' })
  return readFileSync(at(`das-${file}`))
}

await t.test('a workbook of 300 companies comes back as das enrich writes it', async (t) => {
  const rows = await clients(token)
  // A spreadsheet has dropped the zeros of INNs, which are numbers in it.
  const number = (text: string) => ({ kind: 'number', text: text.replace(/^0/, '') }) as const
  const text = (value: string) => ({ kind: 'text', text: value }) as const
  const cellOf = (cell: string) => (/^\d/.test(cell) ? number(cell) : text(cell))
  const table = [['№', 'ИНН'].map(text), ...rows.map((row) => row.map(cellOf))]
  writeFileSync(at('clients.xlsx'), workbookOf(table))
  await page.goto(`${base}/datasets/financials?lang=ru`)
  await page.evaluate(`sessionStorage.setItem('token', '${token}')`)
  await page.getByRole('link', { name: 'Добавить столбцы в свой список' }).click()
  await page.getByLabel('Файл').setInputFiles(at('clients.xlsx'))
  await page.getByRole('button', { name: 'Проверить' }).click()
  await page.getByText('Строк: 300;').waitFor()
  await page.getByLabel('Вернуть ноль').check()
  await page.getByText(/Стоит не больше чем \d+ стро/).waitFor()
  await page.getByRole('button', { name: 'Сосчитать точно, за 1 строку' }).click()
  await page.getByText(/Стоит \d+ стро/).waitFor()
  await page.getByRole('button', { name: 'Выполнить' }).click()
  await page.getByText(/^Готово/).waitFor()
  await isClean(t, 'list')
  const xmlOf = (file: Buffer) =>
    strFromU8(unzipSync(file)['xl/worksheets/sheet1.xml'] ?? new Uint8Array())
  const options = ['--column', 'ИНН', '--add-zeros']
  t.equal(xmlOf(await saved()), xmlOf(await enriched(t, 'clients.xlsx', ...options)))
})

await t.test('a pasted column comes back as CSV; only keys leave the browser', async (t) => {
  const keys = (await clients(token)).map(([, inn]) => inn).join('\n')
  writeFileSync(at('list.csv'), `\ufeffinn\n${keys}`)
  const bodies: string[] = []
  page.on('request', (request) => bodies.push(request.postData() ?? ''))
  await page.getByLabel('Или вставьте столбец').fill(keys)
  await page.getByRole('button', { name: 'Проверить' }).click()
  await page.getByRole('button', { name: 'Выполнить' }).click()
  await page.getByText(/^Готово/).waitFor()
  t.ok((await saved()).equals(await enriched(t, 'list.csv')))
  t.ok(bodies.length > 1)
  t.notMatch(bodies.join(), 'нет', 'a malformed cell is no key')
  t.same(complaints, [])
})
