import type { Page } from 'playwright-core'
import t from 'tap'
import { startShipped } from '../support/shipped.js'
import { violations } from './fixtures/axe.js'
import {
  builtPortal,
  drawn,
  listen,
  pressRun,
  pressUntil,
  readsWithToken,
  startChromium,
  tabTo,
  visit,
} from './fixtures/chromium.js'

// Guarantee: of a wide answer only what is near the visible part is in the page, and what is seen
// there is the answer, cell by cell, without holes.

const nodesMax = 5000
const query = 'year=gte.2024&limit=1000'

const browser = await startChromium(t)
const shipped = await startShipped(t, { portalFolder: await builtPortal(t) })
const base = await listen(shipped)
const { token } = await shipped.subscribe(['financials:pro'])
const { body: answer } = await shipped.get(`/v1/financials?${query}`, token)
const { body: schema } = await shipped.get('/v1/financials/schema', token)
const described = schema['columns'] as readonly { readonly name: string; readonly label: string }[]
const names = described.map(({ name }) => name)

/** Of every page that was visited. */
const complaints: (readonly string[])[] = []

/** Opens a view of a dataset with the visitor's own token. */
async function visitOwn(fragment: string, look = {}): Promise<Page> {
  const { page, complaints: own } = await visit(browser, `${base}/account`, look)
  complaints.push(own)
  await page.evaluate(`sessionStorage.setItem('token', '${token}')`)
  await page.goto(`${base}/datasets/financials${fragment}`)
  await readsWithToken(page)
  return page
}

/** Asks for all columns of some hundred rows. */
async function visitWide(look = {}): Promise<Page> {
  const page = await visitOwn(`#rows?${query}`, look)
  await pressRun(page)
  await page.locator('table.data tbody td').first().waitFor()
  return page
}

/** A cell by its column and row, both from 1; row 1 is the head. */
type Seen = readonly [column: number, row: number, text: string]

interface Sight {
  readonly nodes: number
  /** How many numbers in the page are cut. */
  readonly cut: number
  readonly size: readonly number[]
  /** The cells at points of the visible part, close to each other; null for a hole. */
  readonly cells: readonly (Seen | null)[]
}

/** Scrolls the table, from 0 (left, top) to 1 (right, bottom), and looks at it. */
async function lookAt(page: Page, across: number, down: number): Promise<Sight> {
  return page.evaluate<Sight>(`(async () => {
    const table = document.querySelector('table.data')
    const region = table.parentElement
    region.scrollIntoView({ block: 'center' })
    region.scrollTo(${across} * region.scrollWidth, ${down} * region.scrollHeight)
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
    const { left, top } = region.getBoundingClientRect()
    const cells = []
    // Its corners are round.
    for (let x = left + 9; x < left + region.clientWidth - 9; x += 20) {
      for (let y = top + 9; y < top + region.clientHeight - 9; y += 20) {
        const cell = document.elementFromPoint(x, y).closest('[aria-colindex]')
        const head = cell?.tagName === 'TH' ? cell.firstChild : null
        const row = cell?.parentElement.ariaRowIndex
        cells.push(
          cell && [Number(cell.ariaColIndex), Number(row), (head ?? cell).textContent],
        )
      }
    }
    const cut = [...table.querySelectorAll('td.number')].filter(
      (cell) => cell.scrollWidth > cell.clientWidth,
    ).length
    const nodes = document.evaluate('count(.//node())', table, null, XPathResult.NUMBER_TYPE)
    const size = [region.scrollWidth, region.scrollHeight]
    return { nodes: nodes.numberValue, cut, size, cells }
  })()`)
}

/** Whether a cell shows the answer: amounts have separators, and zeros at their end stay. */
function isAnswered([column, row, text]: Seen): boolean {
  const { name = '', label = '' } = described[column - 1] ?? {}
  if (row === 1) return text === `${label} · ${name}`
  const value = answer.data[row - 2]?.[name]
  if (typeof value === 'number') {
    return Number(text.replaceAll(',', '').replace('\u2212', '-')) === value
  }
  return text === (value === null ? '—' : value)
}

/** What is seen and is not the answer, and every hole. */
function wrongIn({ cells }: Sight): readonly (Seen | null)[] {
  return cells.filter((cell) => cell === null || !isAnswered(cell))
}

for (const [name, width, colorScheme] of [
  ['a desk', 1440, 'light'],
  ['a phone', 390, 'dark'],
] as const) {
  await t.test(`each part of a wide answer is seen as it is, on ${name}`, async (t) => {
    t.ok(answer.data.length >= 564)
    t.equal(names.length, 131)
    const page = await visitWide({ viewport: { width, height: 844 }, colorScheme })
    const { size } = await lookAt(page, 0, 0)
    for (const across of [0, 0.3, 1]) {
      for (const down of [0, 0.5, 1]) {
        const place = `${across} across, ${down} down`
        const sight = await lookAt(page, across, down)
        t.ok(sight.nodes < nodesMax, `${sight.nodes} nodes`)
        t.same(sight.size, size, 'nothing jumps')
        t.same(wrongIn(sight), [], place)
        t.equal(sight.cut, 0, 'no number is cut')
        const columns = sight.cells.map((cell) => cell?.[0] ?? 0)
        const rows = sight.cells.map((cell) => cell?.[1] ?? 0)
        t.ok(rows.includes(1), 'the header is in view')
        t.ok(columns.includes(1), 'the first column is in view')
        if (down === 1) t.ok(rows.includes(answer.data.length + 1), 'the last row')
        if (across === 1) t.ok(columns.includes(names.length), 'the last column')
      }
    }
    await lookAt(page, 0.5, 0.5)
    t.same(await violations(page), [])
    const table = page.locator('table.data')
    t.equal(await table.getAttribute('aria-rowcount'), String(answer.data.length + 1))
    t.equal(await table.getAttribute('aria-colcount'), String(names.length))
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), width)
  })
}

/** The numbers of the rows in the page, without the head. */
async function rowsOf(page: Page): Promise<readonly number[]> {
  return page.evaluate<number[]>(
    '[...document.querySelectorAll("tbody [aria-rowindex]")].map((row) => Number(row.ariaRowIndex))',
  )
}

await t.test('the keyboard alone reaches the last row and other columns', async (t) => {
  const page = await visitWide()
  await page.getByLabel('Rows on a page').focus()
  await tabTo(t, page, 'Rows of the answer', 10)
  const reach = async (key: string, place: string) => {
    const found = page.locator(place)
    t.equal(await found.count(), 0)
    await pressUntil(page, key, async () => (await found.count()) > 0)
  }
  const last = `[aria-rowindex="${answer.data.length + 1}"]`
  await reach('End', last)
  await page.locator(`${last} td:visible`).first().waitFor()
  t.equal((await rowsOf(page)).at(-1), answer.data.length + 1)
  const column = 'thead [aria-colindex="20"]'
  await reach('ArrowRight', column)
  t.equal(await page.locator(column).count(), 1)
  const first = '[aria-rowindex="2"]'
  await reach('Home', first)
  t.equal(await page.locator(first).count(), 1)
})

await t.test(
  'what is selected stays while the table scrolls, and is copied as cells',
  async (t) => {
    const page = await visitWide()
    await page.evaluate(`{
    const cells = document.querySelector('[aria-rowindex="9"]').cells
    getSelection().setBaseAndExtent(cells[0], 0, cells[4], 1)
  }`)
    await lookAt(page, 0.01, 0.01)
    const copied = await page.evaluate<string>('getSelection().toString()')
    const shown = names.slice(0, 4).map((name) => String(answer.data[7]?.[name]))
    t.equal(copied.trim(), shown.join('\t'))
    const name = page.locator('[aria-rowindex="9"] [aria-colindex="3"]')
    t.equal(await name.getAttribute('title'), shown[2], 'the pointer shows what is cut')
  },
)

await t.test('an answer that arrives in a hidden tab is there when the tab is shown', async (t) => {
  const page = await visitOwn('#analyse?group=inn,year&measures=count,sum(2110)&limit=1000')
  const release = await new Promise<() => Promise<void>>((resolve, reject) => {
    page
      .route('**/aggregate?*', (route) => resolve(() => route.continue()))
      .then(() => page.getByRole('button', { name: 'Run' }).click())
      .catch(reject)
  })
  await page.getByRole('tab', { name: 'Rows' }).click()
  await release()
  await page.locator('table.data').waitFor({ state: 'attached' })
  await page.getByRole('tab', { name: 'Analyse' }).click()
  await page.locator('[aria-rowindex="2"] td:visible').first().waitFor()
  t.equal(await page.locator('table.data').getAttribute('aria-rowcount'), '1001')
  t.ok((await rowsOf(page)).length < 100)
})

await t.test('a small answer is a plain table, and its texts wrap', async (t) => {
  const page = await visitOwn('#rows?year=eq.2024&select=inn,name&limit=20')
  await pressRun(page)
  await page.locator('table.data td').first().waitFor()
  t.equal(await page.locator('table.data tbody tr').count(), 20)
  t.equal(await page.locator('[aria-rowindex]').count(), 0)
})

await t.test('a phone that is turned shows the same place, with numbers whole', async (t) => {
  const page = await visitWide({ viewport: { width: 390, height: 844 } })
  await lookAt(page, 0.5, 0.5)
  const place = '[scrollLeft, scrollTop].join()'
  const region = `with (document.querySelector('table.data').parentElement) ${place}`
  const before = await page.evaluate(region)
  await page.setViewportSize({ width: 844, height: 800 })
  await page.waitForFunction("document.querySelector('table.data').parentElement.offsetWidth > 700")
  await drawn(page)
  t.equal(await page.evaluate(region), before)
  const sight = await lookAt(page, 0.5, 0.5)
  t.same(wrongIn(sight), [])
  t.equal(sight.cut, 0)
})

t.same(complaints.flat(), [], 'no page complained')
