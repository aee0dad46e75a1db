import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import type { Predicate } from '../../src/catalog/predicate.js'
import { compileRead } from '../../src/engine/duckdb/compile.js'
import { planPage } from '../../src/engine/duckdb/pieces.js'
import type { Piece } from '../../src/engine/duckdb/pieces.js'
import type { Position } from '../../src/query/question.js'
import { openEngine } from './fixtures/open-engine.js'
import type { EngineWorld } from './fixtures/open-engine.js'
import { manyFiles, meets, oneFile, readStored, rowGroups } from './fixtures/stored-rows.js'
import type { Filter, Stored } from './fixtures/stored-rows.js'

// Guarantee: no row is ever repeated or missed in a walk, whatever the question and the page size
// (contract 1.3). What is expected comes from the files read whole, without a condition, on one
// thread, and from conditions in plain JavaScript.

/** Longer walks are sampled: pages after rows picked all over the data. */
const pagesMax = 12
const samples = 5

function predicatesOf(world: EngineWorld, filters: readonly Filter[]): readonly Predicate[] {
  return filters.flatMap(({ column, operator, values }) =>
    world.filter(column, operator, ...values),
  )
}

const placeOf = ({ position }: { position: Position }) => `${position.file}:${position.row}`

interface Data {
  readonly world: EngineWorld
  readonly stored: readonly Stored[]
}

async function checkWalks(
  t: Test,
  { world, stored }: Data,
  filters: readonly Filter[],
  limits: readonly number[],
): Promise<void> {
  const predicates = predicatesOf(world, filters)
  const expected = stored.filter((row) => filters.every((filter) => meets(row, filter)))
  const places = expected.map(placeOf)
  const name = filters.map(({ column, operator, values }) => {
    return `${column} ${operator} ${values.length > 3 ? `${values.length} values` : values.join()}`
  })
  for (const limit of [...limits, Math.max(expected.length, 1)]) {
    const what = `${name.join(', ')}: ${expected.length} rows by ${limit}`
    if (expected.length <= limit * pagesMax) {
      const rows = await world.walk(predicates, limit)
      t.strictSame(rows.map(placeOf), places, what)
      continue
    }
    for (let sample = 0; sample < samples; sample++) {
      const at = Math.floor(((expected.length - limit / 2) * sample) / (samples - 1))
      const after = expected[at - 1]?.position ?? null
      const { rows, hasMore } = await world.read(predicates, { limit, after, columns: ['id'] })
      t.strictSame(rows.map(placeOf), places.slice(at, at + limit), `${what}, from ${at}`)
      t.equal(hasMore, at + limit < expected.length, `${what}, from ${at}: more`)
    }
  }
}

const filterOf = (column: Filter['column'], operator: Filter['operator'], ...values: string[]) => ({
  column,
  operator,
  values,
})

/** Every operator, on values that many rows, few rows and no row have. */
const questions: readonly (readonly Filter[])[] = [
  [],
  [filterOf('id', 'eq', '31234')],
  [filterOf('num', 'eq', '93')],
  [filterOf('name', 'eq', 'n300')],
  [filterOf('price', 'eq', '22.25')],
  [filterOf('ratio', 'eq', '0.5')],
  [filterOf('ratio', 'eq', '0')],
  [filterOf('num', 'ne', '93')],
  [filterOf('ratio', 'ne', '0.5')],
  [filterOf('id', 'gt', '59_950'.replace('_', ''))],
  [filterOf('num', 'gte', '99')],
  [filterOf('price', 'lt', '0.2500')],
  [filterOf('price', 'lte', '0.3')],
  [filterOf('ratio', 'gt', '31')],
  [filterOf('name', 'like', 'n49*')],
  [filterOf('name', 'isdistinct', 'n1')],
  [filterOf('num', 'isdistinct', '93')],
  [filterOf('ratio', 'isdistinct', '0.5')],
  [filterOf('num', 'is_null')],
  [filterOf('ratio', 'is_null')],
  [filterOf('name', 'not_null')],
  [filterOf('ratio', 'not_null')],
  [filterOf('id', 'gte', '19990'), filterOf('id', 'lt', '20011')],
  [filterOf('name', 'eq', 'no such name')],
]

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
      for (const length of [1, 2, 3, 4, 5, 16, 17, 20, 200, 1000]) {
        for (const column of ['id', 'name', 'num'] as const) {
          for (const operator of ['in', 'not_in'] as const) {
            const filters = [filterOf(column, operator, ...spread(length, column))]
            await checkWalks(t, data, filters, column === 'id' ? [7, 100, 1000] : [100, 1000])
          }
        }
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
            const expected = data.stored.filter((row) => filters.every((each) => meets(row, each)))
            const at = Math.floor(start * expected.length)
            const after = expected[at - 1]?.position ?? null
            const { rows, hasMore } = await world.read(predicates, { limit, after })
            const page = expected.slice(at, at + limit).map(placeOf)
            if (rows.map(placeOf).join() !== page.join()) throw new Error('other rows')
            if (hasMore !== at + limit < expected.length) throw new Error('hasMore is wrong')
          },
        ),
        { numRuns: 60 },
      )
      t.pass()
    })
  })
}
