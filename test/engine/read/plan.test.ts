import assert from 'node:assert/strict'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import t from 'tap'
import type { Predicate } from '../../../src/columns/predicate.js'
import { chooseFiles } from '../../../src/engine/duckdb/choice.js'
import { compileRead, rowsOf } from '../../../src/engine/duckdb/read/compile.js'
import { planPage } from '../../../src/engine/duckdb/read/pieces.js'
import type { Piece } from '../../../src/engine/duckdb/read/pieces.js'
import { Session } from '../../../src/engine/duckdb/session.js'
import { never, openEngine } from '../fixtures/open-engine.js'
import { filterOf, predicatesOf, questions, spread } from '../fixtures/questions.js'
import { oneFile, rowGroups } from '../fixtures/stored-rows.js'

// Guarantee: a statement without ORDER BY is one that DuckDB answers in stored order, and that is
// every plan without a join (ENGINE.md 2.3). A newer DuckDB that plans otherwise fails here.

interface PlanNode {
  readonly name: string
  readonly extra_info: { readonly Conditions?: string | readonly string[] }
  readonly children: readonly PlanNode[]
}

/** The conditions of every join, but for those that fetch rows by place. */
function joinConditions(nodes: readonly PlanNode[]): readonly string[] {
  return nodes.flatMap(({ name, extra_info: { Conditions = [] }, children }) => {
    const own = name.includes('JOIN') ? [Conditions].flat() : []
    const byPlace = own.every((each) => /^file_(index|row_number) = /.test(each))
    return [...(byPlace ? [] : own), ...joinConditions(children)]
  })
}

const sessionOf = async (instance: DuckDBInstance) => new Session(await instance.connect(), null)

await t.test('what DuckDB makes of each question', async (t) => {
  const world = await openEngine(t, { files: oneFile, writing: rowGroups })
  const instance = await DuckDBInstance.create(':memory:', { threads: '4' })
  const connection = await instance.connect()
  t.teardown(() => {
    connection.disconnectSync()
    instance.closeSync()
  })

  const joinsOf = async (
    piece: Piece,
    predicates: readonly Predicate[],
  ): Promise<readonly string[]> => {
    const statement = compileRead(piece, { predicates, columns: [world.column('name')] }, 100)
    const prepared = await connection.prepare(`EXPLAIN (FORMAT json) ${statement.sql}`)
    for (const [index, { value, type }] of (statement.values ?? []).entries()) {
      prepared.bindValue(index + 1, value, type)
    }
    const [, [plan] = []] = await (await prepared.run()).getColumns()
    return joinConditions(JSON.parse(String(plan)) as readonly PlanNode[])
  }
  const firstPiece = (predicates: readonly Predicate[]): Piece => {
    const [piece] = planPage(chooseFiles(world.version, predicates), {
      after: null,
      missing: () => 101,
    })
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
      t.equal(piece.plan, 'solo')
      t.strictSame(await joinsOf(piece, predicates), [])
    }
  })

  await t.test('read by one thread or by all of them, it has the same first rows', async (t) => {
    const one = await DuckDBInstance.create(':memory:', { threads: '1' })
    const [alone, shared] = [await sessionOf(one), await sessionOf(instance)]
    t.teardown(() => {
      for (const session of [alone, shared]) session.close()
      one.closeSync()
    })
    const found = async (
      session: Session,
      piece: Piece,
      predicates: readonly Predicate[],
      limit: number,
    ) => {
      const columns = [world.column('id'), world.column('name')]
      const statement = compileRead(piece, { predicates, columns }, limit)
      const rows = rowsOf(piece, await session.run(statement, never))
      return rows.map(({ encoded, position: { file, row } }) => `${file}:${row} ${String(encoded)}`)
    }
    for (const filters of questions) {
      const predicates = predicatesOf(world, filters)
      const piece = firstPiece(predicates)
      for (const limit of [1, 101, 4001]) {
        const solo = await found(alone, piece, predicates, limit)
        t.ok(solo.length <= limit)
        t.strictSame(await found(shared, piece, predicates, limit), solo)
      }
    }
  })

  await t.test('a long list is a join, which loses it, and so is sorted', async (t) => {
    for (const kind of ['in', 'not_in'] as const) {
      const predicates = predicatesOf(world, [filterOf('id', kind, ...spread(200, 'id'))])
      const piece = firstPiece(predicates)
      t.equal(piece.plan, 'sorted')
      t.match(await joinsOf({ ...piece, plan: 'together' }, predicates), [/^id = /])
    }
  })
})

interface Shape {
  readonly rows: number
  readonly layout: string
}

const anyShape: fc.Arbitrary<Shape> = fc.record({
  rows: fc.integer({ min: 0, max: 300_000 }),
  layout: fc.constantFrom('wide', 'narrow'),
})
const anyShapes = fc.array(anyShape, { maxLength: 12 })

await t.test('pieces hold every row behind a position once, in stored order', async (t) => {
  const world = await openEngine(t, { files: { 'a.parquet': 'SELECT 1 AS id' } })
  const [file] = world.version.files
  if (!file) throw new Error('no file')
  const long = predicatesOf(world, [filterOf('id', 'in', ...spread(100, 'id'))])
  const check = (shapes: readonly Shape[], isLong: boolean, from: number, met: number) => {
    const files = shapes.map((shape) => ({ ...file, ...shape, bounds: new Map() }))
    let [read, cost] = [from, 0]
    const choice = chooseFiles({ ...world.version, files }, isLong ? long : [])
    const pieces = planPage(choice, {
      after: from === 0 ? null : placeOf(shapes, from - 1),
      missing: () => Math.max(1, 1001 - Math.floor(((read - from) * met) / 1000)),
    })
    for (const { files: chosen, range, plan } of pieces) {
      const size = range ? range.to - range.from : rowsIn(chosen.map((each) => each.file))
      const costs = range ? [size] : chosen.map((each) => Math.max(each.file.rows, 7680))
      const own = costs.reduce((sum, each) => sum + each, 0)
      const place = { file: chosen[0]?.index, row: range?.from ?? 0 }
      assert.deepEqual(place, placeOf(shapes, read), 'no gap, no overlap')
      assert.equal(new Set(chosen.map((each) => each.file.layout)).size, 1, 'laid out alike')
      assert.equal(plan, isLong ? 'sorted' : own <= 122_880 ? 'solo' : 'together')
      const least = isLong ? 8 * 8192 : 122_880
      assert.ok(own <= Math.max(least, 8 * cost), 'in proportion to what was read in vain')
      read += size
      cost += own
    }
    assert.equal(read, rowsIn(shapes), 'to the end')
  }
  const [share, perThousand] = [fc.double({ min: 0, max: 1, noNaN: true }), fc.nat({ max: 20 })]
  const property = fc.property(
    anyShapes,
    fc.boolean(),
    share,
    perThousand,
    (shapes, isLong, at, met) => check(shapes, isLong, Math.floor(at * rowsIn(shapes)), met),
  )
  fc.assert(property)
  t.pass()
})

function rowsIn(shapes: readonly { readonly rows: number }[]): number {
  return shapes.reduce((sum, { rows }) => sum + rows, 0)
}

/** The position of the n-th row of all files. */
function placeOf(shapes: readonly Shape[], row: number): { file: number; row: number } {
  let rest = row
  for (const [file, { rows }] of shapes.entries()) {
    if (rest < rows) return { file, row: rest }
    rest -= rows
  }
  throw new Error('past the end')
}
