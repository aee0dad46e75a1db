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
  const pages = [...hashes.pages()]
  const reads: number[] = []
  const readSummed = async (offset: number) => {
    reads.push(offset / pageBytes)
    return pages[offset / pageBytes]?.page ?? Buffer.alloc(0)
  }
  const firsts = Uint32Array.from(pages.map(({ firstHigh }) => firstHigh))
  return { lookUp: new LookUp({ rows, readSummed }, 0, firsts), reads }
}

await t.test('each value finds its rows from any row on', async (t) => {
  const rows = 9000
  const { lookUp } = lookUpOf(rows)
  const all = Array.from({ length: rows }, (_, row) => row).filter((row) => row !== 1000)
  for (const from of [0, 1, 341, 1000, 1001, 3070, 8990, 8998, 8999, rows]) {
    const after = all.filter((row) => row >= from)
    const wanted = [1, 2].map((rest) => after.filter((row) => row % 3 === rest).slice(0, 700))
    t.same(await lookUp.rowsOf(frequent, from, 700, pace), wanted[0])
    t.same(await lookUp.rowsOf(other, from, 700, pace), wanted[1])
    t.same(await lookUp.rowsOf(rare, from, 700, pace), from <= 1000 ? [1000] : [])
    t.same(await lookUp.rowsOf({ high: 5, low: 3 }, from, 700, pace), [])
  }
})

await t.test(
  'late rows of a frequent value are found without reading its early ones',
  async (t) => {
    const { lookUp, reads } = lookUpOf(300_000)
    t.same(await lookUp.rowsOf(frequent, 299_000, 2, pace), [299_002, 299_005])
    t.ok(reads.length <= 12, `${reads.length} pages were read`)
  },
)
