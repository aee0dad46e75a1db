import fc from 'fast-check'
import t from 'tap'
import type { Operator } from '../../../src/columns/operators.js'
import { never, openEngine, openFolder } from '../../engine/fixtures/open-engine.js'
import type { EngineWorld } from '../../engine/fixtures/open-engine.js'
import { typedColumns } from '../../engine/fixtures/typed-values.js'
import type { TypedColumn } from '../../engine/fixtures/typed-values.js'
import { writeParquet } from '../../support/world.js'
import { runs } from '../../support/runs.js'

// Guarantee: a served value fed back finds its row, for every type (contract 1.2).

const rowsPerRun = 12

/** For each column, a value of each row; null for an empty one. */
const anyRows = fc.tuple(
  ...typedColumns.map(({ value }) =>
    fc.array(fc.option(value, { freq: 10 }), { minLength: rowsPerRun, maxLength: rowsPerRun }),
  ),
)

/** The rows of one column as SQL, distinguished by `id`. */
function selectOf(columns: readonly (readonly (string | null)[])[]): string {
  const rows = Array.from({ length: rowsPerRun }, (_, id) => {
    const cells = typedColumns.map(({ name, type }, index) => {
      return `CAST(${columns[index]?.[id] ?? 'NULL'} AS ${type}) AS "${name}"`
    })
    return `SELECT ${id} AS id, ${cells.join(', ')}`
  })
  return rows.join(' UNION ALL ')
}

/** What a client reads and would send back: the digits as they stand, or the string's text. */
function servedText(json: string): string | null {
  const cell = json.slice(json.indexOf(':') + 1, -1)
  if (cell === 'null') return null
  return cell.startsWith('"') ? String(JSON.parse(cell)) : cell
}

async function servedColumn(world: EngineWorld, name: string): Promise<readonly (string | null)[]> {
  const { rows } = await world.read([], { columns: [name] })
  return rows.map(({ json }) => servedText(json))
}

async function checkColumn(world: EngineWorld, column: TypedColumn): Promise<void> {
  const { name, isFloating } = column
  const served = await servedColumn(world, name)
  const same = (left: string | null, right: string) =>
    left !== null && (isFloating ? Number(left) === Number(right) : left === right)
  const check = async (
    operator: Parameters<EngineWorld['filter']>[1],
    values: readonly string[],
    keeps: (cell: string | null) => boolean,
  ) => {
    const { rows } = await world.read(world.filter(name, operator, ...values), { columns: ['id'] })
    const found = rows.map(({ json }) => (JSON.parse(json) as { id: number }).id)
    const expected = served.flatMap((cell, id) => (keeps(cell) ? [id] : []))
    if (found.join() === expected.join()) return
    const asked = `${name} ${operator} ${JSON.stringify(values)}`
    throw new Error(`${asked} found ${found.join()} of ${JSON.stringify(served)}`)
  }
  const present = served.flatMap((cell) => (cell === null ? [] : [cell]))
  const [first, second] = present
  for (const text of new Set(present)) await check('eq', [text], (cell) => same(cell, text))
  await check('is_null', [], (cell) => cell === null)
  await check('not_null', [], (cell) => cell !== null)
  if (first === undefined || second === undefined) return
  await check('ne', [first], (cell) => cell !== null && !same(cell, first))
  await check('isdistinct', [first], (cell) => !same(cell, first))
  if (name === 'BOOLEAN') return
  const pair = [first, second]
  await check('in', pair, (cell) => pair.some((each) => same(cell, each)))
  await check('not_in', pair, (cell) => cell !== null && !pair.some((each) => same(cell, each)))
  await check('in', present, (cell) => cell !== null)
}

/** The failure itself; the values of all columns would bury it. */
function briefly<T>({ failed, seed, errorInstance }: fc.RunDetails<T>): void {
  if (failed) throw new Error(`seed ${seed}: ${String(errorInstance)}`, { cause: errorInstance })
}

await t.test('a served value fed back finds its row, for every type', async (t) => {
  const folder = t.testdir({})
  let run = 0
  await fc.assert(
    fc.asyncProperty(anyRows, async (columns) => {
      run += 1
      const home = `${folder}/${run}`
      await writeParquet(`${home}/data`, { 'values.parquet': selectOf(columns) })
      const world = await openFolder(t, home)
      for (const column of typedColumns) await checkColumn(world, column)
      await world.engine.close()
    }),
    { numRuns: runs(1), endOnFailure: true, reporter: briefly },
  )
  t.equal(run, runs(1))
})

/** Column → a finite value below and above another, as a filter writes them, and what is infinite. */
const withoutEnd = {
  FLOAT: ['0.5', '1.5', `'nan'`, `'inf'`, `'-inf'`],
  DOUBLE: ['0.5', '1.5', `'nan'`, `'inf'`, `'-inf'`],
  DATE: ['2024-01-01', '2024-12-31', `'infinity'`, `'-infinity'`],
  TIMESTAMP: ['2024-01-01T00:00:00', '2024-12-31T00:00:00', `'infinity'`, `'-infinity'`],
  TIMESTAMP_NS: ['2024-01-01T00:00:00', '2024-12-31T00:00:00', `'infinity'`, `'-infinity'`],
  TIMESTAMPTZ: ['2024-01-01T00:00:00Z', '2024-12-31T00:00:00Z', `'infinity'`, `'-infinity'`],
} as const

await t.test(
  'NaN and infinity are served as null and found as empty, never compared',
  async (t) => {
    for (const [type, [low, high, ...infinite]] of Object.entries(withoutEnd)) {
      // Rows 0 and 1 are finite, row 2 is null; then a row group of one value and what is infinite.
      const cells = [`'${low}'`, `'${high}'`, 'NULL', ...infinite]
      const world = await openEngine(t, {
        files: {
          '1.parquet': selectCells(cells, type),
          '2.parquet': selectCells([`'${low}'`, ...infinite], type),
          '3.parquet': selectCells(infinite, type),
        },
      })
      const served = await servedColumn(world, 'x')
      const finite = [0, 1, cells.length]
      t.strictSame(
        served.map((cell, row) => (finite.includes(row) ? cell !== null : cell)),
        served.map((_, row) => (finite.includes(row) ? true : null)),
        `${type}: served`,
      )
      const find = async (operator: Operator, ...values: string[]) => {
        const { rows } = await world.read(world.filter('x', operator, ...values))
        return rows.map(({ json }) => servedText(json))
      }
      const empty = served.filter((cell) => cell === null)
      const [least = '', most = ''] = served.map((cell) => cell ?? '')
      const many = Array.from(
        { length: 20 },
        (_, day) => `2020-01-${String(day + 1).padStart(2, '0')}`,
      )
      const others =
        type === 'FLOAT' || type === 'DOUBLE' ? many.map((_, each) => `${each + 7}`) : many
      const table: readonly (readonly [Operator, readonly string[], readonly (string | null)[]])[] =
        [
          ['is_null', [], empty],
          ['not_null', [], [least, most, least]],
          ['eq', [low], [least, least]],
          ['ne', [low], [most]],
          ['isdistinct', [low], served.filter((cell) => cell !== least)],
          ['gt', [low], [most]],
          ['gte', [low], [least, most, least]],
          ['lt', [high], [least, least]],
          ['lte', [high], [least, most, least]],
          ['in', [low, high], [least, most, least]],
          ['not_in', [low, '2024-06-01'.slice(0, low.includes('-') ? 10 : 4)], [most]],
          ['not_in', others, [least, most, least]],
          ['in', [low, ...others], [least, least]],
        ]
      for (const [operator, values, expected] of table) {
        t.strictSame(
          await find(operator, ...values),
          expected,
          `${type} ${operator} ${values.length}`,
        )
      }
    }
  },
)

function selectCells(cells: readonly string[], type: string): string {
  return cells.map((cell) => `SELECT CAST(${cell} AS ${type}) AS x`).join(' UNION ALL ')
}

await t.test('a null or NaN written in JSON is empty', async (t) => {
  const cells = [`'nan'::DOUBLE`, `1.5`, `{'a': NULL}`, 'NULL']
  const select = cells.map((cell) => `SELECT CAST(${cell} AS VARIANT) AS x`).join(' UNION ALL ')
  const world = await openEngine(t, { files: { '1.parquet': select } })
  t.strictSame(await servedColumn(world, 'x'), [null, '1.5', '{"a":null}', null])
  const count = async (operator: Operator) =>
    (await world.read(world.filter('x', operator))).rows.length
  t.equal(await count('is_null'), 2)
  t.equal(await count('not_null'), 2)
})

await t.test('0 and -0 are equal, also where a Bloom filter tells them apart', async (t) => {
  for (const type of ['FLOAT', 'DOUBLE']) {
    for (const zero of [`'0'`, `'-0'`]) {
      const select = `SELECT CAST(CASE WHEN i % 2 = 0 THEN ${zero} ELSE '1' END AS ${type}) AS x
        FROM range(3000) t(i)`
      const world = await openEngine(t, { files: { '1.parquet': select } })
      for (const text of ['0', '-0', '0.0', '-0.0', '-0e5']) {
        for (const predicates of [
          world.filter('x', 'eq', text),
          world.filter('x', 'in', text, '5'),
          world.filter('x', 'in', ...Array.from({ length: 20 }, (_, each) => `${each + 5}`), text),
        ]) {
          const rows = await world.engine.count(world.version, predicates, {
            signal: never,
            client: 'a client',
          })
          t.equal(rows, 1500, `${type} ${zero}: ${text}, ${predicates[0]?.kind}`)
        }
      }
    }
  }
})
