import t from 'tap'
import { machineClock } from '../../../src/clock.js'
import { pageBytes } from '../../../src/engine/rows/layout.js'
import { LookUp } from '../../../src/engine/rows/look-up.js'
import { Pace } from '../../../src/engine/rows/pace.js'
import { HashedRows } from '../../../src/engine/rows/sorted-hashes.js'

const pace = new Pace({ clock: machineClock, signal: new AbortController().signal })
const rare = { high: 5, low: 1 }
const frequent = { high: 5, low: 7 }
const other = { high: 0xffffffff, low: 0xffffffff }

/** Every third row has the frequent value, another third the largest hash, one row the rare one. */
function lookUpOf(rows: number) {
  const hashes = new HashedRows(rows)
  for (let row = 0; row < rows; row += 1) {
    if (row === 1000) hashes.add(rare, row)
    else if (row % 3 > 0) hashes.add(row % 3 === 1 ? frequent : other, row)
  }
  return lookUpIn(hashes, rows)
}

function lookUpIn(hashes: HashedRows, rows: number) {
  const pages = [...hashes.pages()]
  const reads: number[] = []
  const readPages = async (offset: number, amount: number) => {
    const first = offset / pageBytes
    reads.push(first)
    return Buffer.concat(pages.slice(first, first + amount).map(({ page }) => page))
  }
  const firsts = Uint32Array.from(pages.map(({ firstHigh }) => firstHigh))
  return { lookUp: new LookUp({ rows, readPages }, 0, firsts), reads, pages: pages.length }
}

await t.test('each value finds its rows from any row on', async (t) => {
  const rows = 9000
  const { lookUp } = lookUpOf(rows)
  const all = Array.from({ length: rows }, (_, row) => row).filter((row) => row !== 1000)
  for (const from of [0, 1, 341, 1000, 1001, 3070, 8990, 8998, 8999, rows]) {
    const after = all.filter((row) => row >= from)
    const wanted = [1, 2].map((rest) => after.filter((row) => row % 3 === rest).slice(0, 700))
    t.same(await lookUp.rowsOf(frequent, from, 700, pace, lookUp.pages(1)), wanted[0])
    t.same(await lookUp.rowsOf(other, from, 700, pace, lookUp.pages(1)), wanted[1])
    t.same(await lookUp.rowsOf(rare, from, 700, pace, lookUp.pages(1)), from <= 1000 ? [1000] : [])
    t.same(await lookUp.rowsOf({ high: 5, low: 3 }, from, 700, pace, lookUp.pages(1)), [])
  }
})

await t.test(
  'late rows of a frequent value are found without reading its early ones',
  async (t) => {
    const { lookUp, reads } = lookUpOf(300_000)
    t.same(await lookUp.rowsOf(frequent, 299_000, 2, pace, lookUp.pages(1)), [299_002, 299_005])
    t.ok(reads.length <= 12, `${reads.length} pages were read`)
  },
)

await t.test('many values read their pages once, some at a time', async (t) => {
  const rows = 100_000
  const hashes = new HashedRows(rows)
  // A prime, so that the order of the rows is not that of the hashes.
  const hashOf = (row: number) => ({ high: (row * 7919) % rows, low: row })
  for (let row = 0; row < rows; row += 1) hashes.add(hashOf(row), row)
  const { lookUp, reads, pages } = lookUpIn(hashes, rows)
  for (const step of [1, 3, 100, 2500, 30_000]) {
    reads.length = 0
    const asked = Array.from({ length: Math.ceil(rows / step) }, (_, index) => index * step)
    const ascending = asked.sort((a, b) => hashOf(a).high - hashOf(b).high)
    const held = lookUp.pages(asked.length)
    for (const row of ascending) {
      const found = await lookUp.rowsOf(hashOf(row), 0, 16, pace, held)
      if (found[0] !== row || found.length > 1) t.same(found, [row])
    }
    t.ok(
      reads.length <= Math.min(pages, 2 * asked.length),
      `${reads.length} reads of ${pages} pages`,
    )
    if (step <= 100) t.ok(reads.length < pages / 6, `${reads.length} reads`)
  }
})
