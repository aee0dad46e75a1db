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
import { keep, manyFiles, oneFile, readStored, rowGroups } from './fixtures/stored-rows.js'
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

/** Quick over long lists, and silent about all but the first difference. */
function sameRows(
  t: Test,
  rows: readonly { position: Position }[],
  expected: readonly { position: Position }[],
  what: string,
): void {
  const other = expected.findIndex((row, index) => {
    const found = rows[index]
    return !found || placeOf(found) !== placeOf(row)
  })
  const at = other === -1 && rows.length > expected.length ? expected.length : other
  t.equal(
    at === -1 ? 'same' : `row ${at} is ${rows[at] ? placeOf(rows[at]) : 'missing'}`,
    'same',
    what,
  )
}

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
  const expected = keep(stored, filters)
  const name = filters.map(({ column, operator, values }) => {
    return `${column} ${operator} ${values.length > 3 ? `${values.length} values` : values.join()}`
  })
  for (const limit of [...limits, Math.max(expected.length, 1)]) {
    const what = `${name.join(', ')}: ${expected.length} rows by ${limit}`
    if (expected.length <= limit * pagesMax) {
      sameRows(t, await world.walk(predicates, limit), expected, what)
      continue
    }
    for (let sample = 0; sample < samples; sample++) {
      const at = Math.floor(((expected.length - limit / 2) * sample) / (samples - 1))
      const after = expected[at - 1]?.position ?? null
      const { rows, hasMore } = await world.read(predicates, { limit, after, columns: ['id'] })
      sameRows(t, rows, expected.slice(at, at + limit), `${what}, from ${at}`)
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
  [filterOf('id', 'gt', '59950')],
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

/** Distinct values from all over the data, some of them in no row. */
function spread(length: number, column: 'id' | 'num' | 'name'): readonly string[] {
  const step = { id: 60_000, num: 10_007, name: 1000 }[column] / length
  return Array.from({ length }, (_, index) => {
    const value = Math.floor((index + 0.5) * step)
    return column === 'name' ? `n${value}` : String(value)
  })
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
      for (const length of [1, 2, 3, 4, 5, 16, 17, 20, 200, 1000]) {
        for (const operator of ['in', 'not_in'] as const) {
          const filters = [filterOf('id', operator, ...spread(length, 'id'))]
          await checkWalks(t, data, filters, operator === 'in' ? [7, 100, 1000] : [1000])
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

interface PlanNode {
  readonly name: string
  readonly extra_info: { readonly Conditions?: string | readonly string[] }
  readonly children: readonly PlanNode[]
}

function joinConditions(nodes: readonly PlanNode[]): readonly string[] {
  return nodes.flatMap(({ name, extra_info: { Conditions = [] }, children }) => {
    const own = name.includes('JOIN') ? [Conditions].flat() : []
    const byPlace = own.every((each) => /^file_(index|row_number) = /.test(each))
    return [...(byPlace ? [] : own), ...joinConditions(children)]
  })
}

await t.test('what DuckDB makes of each question', async (t) => {
  const world = await openEngine(t, { files: oneFile, writing: rowGroups })
  const instance = await DuckDBInstance.create(':memory:', { threads: '4' })
  const connection = await instance.connect()
  t.teardown(() => {
    connection.disconnectSync()
    instance.closeSync()
  })

  /** The conditions of every join in a statement's plan, but for those that fetch rows by place. */
  const joinsOf = async (
    piece: Piece,
    predicates: readonly Predicate[],
  ): Promise<readonly string[]> => {
    const statement = compileRead(piece, predicates, [world.column('name')], 100)
    const prepared = await connection.prepare(`EXPLAIN (FORMAT json) ${statement.sql}`)
    for (const [index, { value, type }] of statement.values.entries()) {
      prepared.bindValue(index + 1, value, type)
    }
    const [, [plan] = []] = await (await prepared.run()).getColumns()
    return joinConditions(JSON.parse(String(plan)) as readonly PlanNode[])
  }
  const firstPiece = (predicates: readonly Predicate[]): Piece => {
    const [piece] = planPage(world.version, predicates, { after: null, missing: () => 101 })
    if (!piece) throw new Error('no piece')
    return piece
  }

  await t.test('without a long list it is a pure scan, which keeps the stored order', async (t) => {
    const short = [1, 2, 5, 16].flatMap((length) =>
      (['id', 'num', 'name'] as const).flatMap((column) =>
        (['in', 'not_in'] as const).map((kind) => [
          filterOf(column, kind, ...spread(length, column)),
        ]),
      ),
    )
    const every = [...questions, ...short, short.flat()]
    for (const filters of every) {
      const predicates = predicatesOf(world, filters)
      const piece = firstPiece(predicates)
      t.notOk(piece.sorted)
      t.strictSame(await joinsOf(piece, predicates), [])
    }
  })

  await t.test('a long list is a join, which loses it, and so is sorted', async (t) => {
    for (const kind of ['in', 'not_in'] as const) {
      const predicates = predicatesOf(world, [filterOf('id', kind, ...spread(200, 'id'))])
      const piece = firstPiece(predicates)
      t.ok(piece.sorted)
      t.match(await joinsOf({ ...piece, sorted: false }, predicates), [/^id = /])
    }
  })
})
