import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { positionAt, rankOf } from '../../engine/fixtures/forms.js'
import { openEngine } from '../../engine/fixtures/open-engine.js'
import type { EngineWorld, TextRow } from '../../engine/fixtures/open-engine.js'
import { filterOf, predicatesOf, questions, spread } from '../../engine/fixtures/questions.js'
import {
  keep,
  manyFiles,
  oneFile,
  readStored,
  rowGroups,
} from '../../engine/fixtures/stored-rows.js'
import type { Filter, Stored } from '../../engine/fixtures/stored-rows.js'
import { isNight, runs } from '../../support/runs.js'

// Guarantee: no row is ever repeated or missed in a walk, whatever the question and the page size
// (contract 1.3). What is expected comes from the files read whole, without a condition, on one
// thread, and from conditions in plain JavaScript.

/** Longer walks are sampled: pages after rows picked all over the data. */
const pagesMax = 6
const samples = 3
/** Longer answers are read as one page at night only. */
const readMax = 15_000

/** Quick over long lists, and silent about all but the first difference. */
function sameRows(
  t: Test,
  { world: { version } }: Data,
  rows: readonly TextRow[],
  expected: readonly Stored[],
  what: string,
): void {
  const ranks = rows.map(({ position }) => rankOf(version, position))
  const other = expected.findIndex(({ rank }, index) => ranks[index] !== rank)
  const at = other === -1 && rows.length > expected.length ? expected.length : other
  t.equal(at === -1 ? 'same' : `row ${at} is ${ranks[at] ?? 'missing'}`, 'same', what)
}

interface Data {
  readonly world: EngineWorld
  readonly stored: readonly Stored[]
}

async function checkWalks(
  t: Test,
  data: Data,
  filters: readonly Filter[],
  limits: readonly number[],
): Promise<void> {
  const { world, stored } = data
  const predicates = predicatesOf(world, filters)
  const expected = keep(stored, filters)
  const name = filters.map(({ column, operator, values }) => {
    return `${column} ${operator} ${values.length > 3 ? `${values.length} values` : values.join()}`
  })
  const isRead = isNight || filters.length === 0 || expected.length <= readMax
  for (const limit of [...limits, ...(isRead ? [Math.max(expected.length, 1)] : [])]) {
    const what = `${name.join(', ')}: ${expected.length} rows by ${limit}`
    if (expected.length <= limit * pagesMax) {
      sameRows(t, data, await world.walk(predicates, limit), expected, what)
      continue
    }
    for (let sample = 0; sample < samples; sample++) {
      const at = Math.floor(((expected.length - limit / 2) * sample) / (samples - 1))
      const last = expected[at - 1]
      const after = last ? positionAt(world.version, last.rank) : null
      const { rows, hasMore } = await world.read(predicates, { limit, after, columns: ['id'] })
      sameRows(t, data, rows, expected.slice(at, at + limit), `${what}, from ${at}`)
      t.equal(hasMore, at + limit < expected.length, `${what}, from ${at}: more`)
    }
  }
}

const anyValue: Readonly<Record<Filter['column'], fc.Arbitrary<string>>> = {
  id: fc.integer({ min: -10, max: 60_010 }).map(String),
  num: fc.integer({ min: -200, max: 10_100 }).map(String),
  price: fc.integer({ min: 0, max: 4010 }).map((quarters) => String(quarters / 4)),
  name: fc.integer({ min: 0, max: 520 }).map((number) => `n${number}`),
  ratio: fc.integer({ min: 0, max: 110 }).map((halves) => String(halves / 2)),
}

const anyFilter: fc.Arbitrary<Filter> = fc
  .constantFrom<Filter['column']>('id', 'num', 'price', 'name', 'ratio')
  .chain((column) => {
    const lengths = fc.constantFrom(1, 2, 5, 16, 17, 60, 300)
    const list = lengths.chain((length) =>
      fc.array(anyValue[column], { minLength: length, maxLength: length }),
    )
    const ranges = ['gt', 'gte', 'lt', 'lte'] as const
    const ones = ['eq', 'ne', 'isdistinct', ...(column === 'name' ? [] : ranges)] as const
    return fc
      .oneof(
        { weight: 3, arbitrary: fc.tuple(fc.constantFrom('in', 'not_in', 'not_in'), list) },
        {
          weight: 3,
          arbitrary: fc.tuple(fc.constantFrom(...ones), fc.tuple(anyValue[column])),
        },
        { weight: 1, arbitrary: fc.tuple(fc.constantFrom('is_null', 'not_null'), fc.constant([])) },
      )
      .map(([operator, values]) => ({ column, operator, values }) as Filter)
  })

for (const [kind, files] of Object.entries({ 'one file': oneFile, 'many files': manyFiles })) {
  await t.test(kind, async (t) => {
    const world = await openEngine(t, { files, writing: rowGroups })
    const data = { world, stored: await readStored(world, Object.keys(files)) }
    t.equal(data.stored.length, 60_000)

    await t.test('a walk under any operator is a full read in stored order', async (t) => {
      for (const filters of questions) await checkWalks(t, data, filters, [7, 100, 1000])
    })

    await t.test('a walk of single rows is a full read in stored order', async (t) => {
      await checkWalks(t, data, [filterOf('id', 'in', ...spread(12, 'id'))], [1])
      await checkWalks(t, data, [filterOf('id', 'in', ...spread(40, 'id'))], [1, 4])
      await checkWalks(t, data, [filterOf('id', 'gte', '59990')], [1])
    })

    await t.test('a walk under lists of any length is a full read in stored order', async (t) => {
      for (const length of [1, 4, 5, 16, 17, 200, 1000]) {
        for (const operator of ['in', 'not_in'] as const) {
          const filters = [filterOf('id', operator, ...spread(length, 'id'))]
          await checkWalks(t, data, filters, operator === 'in' ? [7, 1000] : [1000])
        }
      }
      for (const length of [4, 17, 200]) {
        await checkWalks(t, data, [filterOf('name', 'in', ...spread(length, 'name'))], [7, 1000])
        await checkWalks(t, data, [filterOf('num', 'not_in', ...spread(length, 'num'))], [7, 1000])
      }
    })

    await t.test('any filters at once give the rows that each of them keeps', async (t) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyFilter, { minLength: 1, maxLength: 4 }),
          fc.integer({ min: 1, max: 1500 }),
          fc.double({ min: 0, max: 1, noNaN: true }),
          async (filters, limit, start) => {
            const predicates = predicatesOf(world, filters)
            const expected = keep(data.stored, filters)
            const at = Math.floor(start * expected.length)
            const last = expected[at - 1]
            const after = last ? positionAt(world.version, last.rank) : null
            const { rows, hasMore } = await world.read(predicates, { limit, after })
            const page = expected.slice(at, at + limit).map(({ rank }) => rank)
            const ranks = rows.map(({ position }) => rankOf(world.version, position))
            if (ranks.join() !== page.join()) throw new Error('other rows')
            if (hasMore !== at + limit < expected.length) throw new Error('hasMore is wrong')
          },
        ),
        { numRuns: runs(15) },
      )
      t.pass()
    })
  })
}
