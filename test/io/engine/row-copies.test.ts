import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { filterPredicates } from '../../../src/columns/predicate.js'
import type { Operator } from '../../../src/columns/operators.js'
import type { Predicate } from '../../../src/columns/predicate.js'
import type { DuckDbEngine } from '../../../src/engine/duckdb/duckdb-engine.js'
import { machineClock } from '../../../src/clock.js'
import { RowCopies } from '../../../src/engine/rows/row-copies.js'
import { planRows } from '../../../src/engine/rows/plan.js'
import type { FileRows } from '../../../src/engine/file-question.js'
import type { FilePosition } from '../../../src/query/question.js'
import type { Version } from '../../../src/versions/version.js'
import { never } from '../../engine/fixtures/open-engine.js'
import { packPending } from '../../engine/fixtures/forms.js'
import { openPacked, registryOf, servedVersion } from '../../engine/fixtures/packed-world.js'
import { runs } from '../../support/runs.js'

// Guarantee: an answer is the same, to the byte and to the position, from row copies and from the
// files, whatever is damaged.

type Filter = readonly [name: string, operator: Operator, ...values: string[]]

interface Asked {
  readonly filters: readonly Filter[]
  /** In this order; all when left out. */
  readonly select?: readonly string[]
  readonly limit: number
}

const options = { signal: never, client: 'a' }

function columnOf(version: Version, name: string) {
  const column = version.columns.find((each) => each.name === name)
  if (!column) throw new Error(`no column ${name}`)
  return column
}

function predicatesOf(version: Version, filters: readonly Filter[]): readonly Predicate[] {
  return filters.flatMap(([name, operator, ...values]) =>
    filterPredicates(columnOf(version, name), operator, values),
  )
}

/** Every page to the end. */
async function walk(engine: DuckDbEngine, version: Version, asked: Asked) {
  const predicates = predicatesOf(version, asked.filters)
  const columns = asked.select?.map((name) => columnOf(version, name)) ?? version.columns
  const found: string[] = []
  let after: FilePosition | null = null
  for (let hasMore = true; hasMore;) {
    const question = { version, predicates, columns, after, limit: asked.limit }
    const page = await engine.read(question, options)
    for (const { encoded, position } of page.rows) {
      found.push(`${position.file} ${position.row} ${String(encoded)}`)
      after = position
    }
    if (page.hasMore && page.rows.length !== asked.limit) throw new Error('a short page')
    hasMore = page.hasMore
  }
  return found
}

function textOf({ encoded, position: { file, row } }: FileRows['rows'][number]): string {
  return `${file} ${row} ${String(encoded)}`
}

/** Whether row copies answer a question alone. */
function isCopied(version: Version, { filters }: Asked): boolean {
  const predicates = predicatesOf(version, filters)
  return planRows({ version, predicates, columns: [], after: null, limit: 1 }) !== null
}

const places = ['Москва', 'O\'Neil "x"', '', 'a\\b', 'tab\tand\nline', '\u001e\u001f', '😀']
const sqlText = (text: string) =>
  [`''`, ...[...text].map((each) => `chr(${each.codePointAt(0)})`)].join(' || ')

/** Companies in no order, with several rows each; years in no order but in the last file. */
function rowsOf(from: number, rows: number, year: string): string {
  return `SELECT lpad(((i * 7919) % 700)::VARCHAR, 5, '0') AS id, ${year} AS year,
    (i * 31) % 97 AS buyer, [${places.map(sqlText).join(', ')}][1 + i % 7] AS place,
    CASE WHEN i % 5 > 0 THEN (i % 400 * 0.25)::DECIMAL(9,2) END AS price,
    CASE WHEN i % 3 > 0 THEN i END AS "2110"
    FROM range(${from}, ${from + rows}) t(i)`
}
const files = {
  '1.parquet': rowsOf(0, 25_000, '2019 + i % 4'),
  '2.parquet': rowsOf(25_000, 900, 'CASE WHEN i % 10 > 0 THEN 2021 + i % 3 END'),
  '3.parquet': rowsOf(25_900, 3000, '2024'),
}
const entry = ['key: [id, year]', 'lookups: [buyer, place]', 'history: year']

const number = fc.integer({ min: 0, max: 720 })
const id = number.map((each) => String(each).padStart(5, '0'))
const filter: fc.Arbitrary<Filter> = fc.oneof(
  { weight: 3, arbitrary: id.map((each): Filter => ['id', 'eq', each]) },
  {
    weight: 2,
    arbitrary: fc
      .uniqueArray(id, { minLength: 2, maxLength: 120 })
      .map((each): Filter => ['id', 'in', ...each]),
  },
  { weight: 2, arbitrary: number.map((each): Filter => ['buyer', 'eq', String(each % 101)]) },
  fc.constantFrom(...places).map((each): Filter => ['place', 'eq', each]),
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          'eq' as const,
          'gt' as const,
          'gte' as const,
          'lt' as const,
          'lte' as const,
        ),
        fc.integer({ min: 2017, max: 2026 }),
      )
      .map(([operator, year]): Filter => ['year', operator, String(year)]),
  },
  fc.constantFrom<Filter>(
    ['year', 'in', '2019', '2022', '2030'],
    ['year', 'gt', '2020.5'],
    ['year', 'isdistinct', '2020'],
    ['price', 'gte', '90'],
    ['place', 'like', 'M*'],
    ['2110', 'is_null'],
  ),
)
const asked: fc.Arbitrary<Asked> = fc.record({
  filters: fc.array(filter, { minLength: 1, maxLength: 3 }),
  select: fc.constantFrom(['2110', 'id'], ['place'], ['year', 'price', 'id', '2110', 'place']),
  limit: fc.constantFrom(1, 2, 9, 100, 1000),
})

await t.test('random walks are the same from row copies and from the files', async (t) => {
  const { engine, bare, packed } = await openPacked(t, files, { entry })
  t.same(
    packed.files.map(({ rowCopy, pages }) => [rowCopy !== null, pages !== null]),
    [
      [true, true],
      [true, false],
      [true, false],
    ],
    'a file with small row groups serves as pages itself',
  )
  let [rows, copied] = [0, 0]
  const property = fc.asyncProperty(asked, async (each) => {
    const limit = Math.max(each.limit, each.filters.some(([name]) => name === 'id') ? 1 : 400)
    const question = { ...each, limit }
    const wanted = await walk(engine, bare, question)
    t.same(await walk(engine, packed, question), wanted, JSON.stringify(question))
    rows += wanted.length
    if (isCopied(packed, each)) copied += 1
    const predicates = predicatesOf(packed, each.filters)
    t.equal(await engine.count(packed, predicates, options), wanted.length)
  })
  const numRuns = runs(20)
  await fc.assert(property, { numRuns, seed: 5 })
  t.ok(rows > 30 * numRuns)
  t.ok(copied > numRuns / 5, 'many are of look-ups and history alone')
})

await t.test(
  'without a filter, and by history alone, pages are read from row copies',
  async (t) => {
    const { engine, bare, packed } = await openPacked(t, files, { entry })
    for (const filters of [[], [['year', 'gte', '2023']]] as const) {
      const question = { filters, limit: 1000 }
      t.ok(isCopied(packed, question))
      t.same(await walk(engine, packed, question), await walk(engine, bare, question))
    }
  },
)

await t.test('conditions of frequent values that few rows meet are left to DuckDB', async (t) => {
  const rows = 300_000
  const common = `SELECT i AS n, i % 2 AS half, i * 2 // ${rows} AS part,
    CASE WHEN i = ${rows - 1} THEN 2024 ELSE 2020 + i % 2 END AS year FROM range(${rows}) t(i)`
  const { engine, bare, packed } = await openPacked(
    t,
    { 'a.parquet': common },
    { entry: ['key: n', 'lookups: [half, part]', 'history: year'] },
  )
  const copies = new RowCopies({ clock: machineClock, onDamage: () => t.fail('damage') })
  t.teardown(() => copies.close())
  const half: Filter = ['half', 'eq', '1']
  const part: Filter = ['part', 'eq', '1']
  const cases: readonly (readonly [filters: readonly Filter[], isCopied: boolean])[] = [
    [[half, ['year', 'gt', '2022']], false],
    [[half, ['year', 'eq', '2020']], false],
    [[['year', 'gt', '2022']], false],
    [[half, ['year', 'eq', '2021']], true],
    [[half, part], true],
    [[half, ['n', 'eq', String(rows - 1)]], true],
  ]
  for (const [filters, isCopied] of cases) {
    const predicates = predicatesOf(packed, filters)
    const asked = { version: packed, predicates, columns: packed.columns, after: null, limit: 5 }
    const page = await copies.read(asked, options)
    t.equal(page !== null, isCopied, JSON.stringify(filters))
    const wanted = await engine.read({ ...asked, version: bare }, options)
    const found = await engine.read(asked, options)
    t.same(found.rows.map(textOf), wanted.rows.map(textOf), JSON.stringify(filters))
    t.equal(found.hasMore, wanted.hasMore)
  }
})

/** A column of each type that has `eq`, its values as SQL. */
const keys: Readonly<Record<string, readonly string[]>> = {
  BOOLEAN: ['true', 'false'],
  TINYINT: ['-128', '0', '127'],
  UTINYINT: ['0', '255'],
  SMALLINT: ['-32768', '7'],
  INTEGER: ['-2147483648', '0'],
  UINTEGER: ['4294967295'],
  BIGINT: ['-9223372036854775808', '9007199254740993'],
  UBIGINT: ['18446744073709551615', '1'],
  FLOAT: ['0.1', "'-0.0'", '3.4028235e38', "'nan'", "'inf'", '1e-45'],
  DOUBLE: ['0.1', "'-0.0'", '0.0', '1e300', "'-inf'", '123456789.125'],
  'DECIMAL(9,2)': ['10.50', '-0.01', '0'],
  'DECIMAL(38,38)': ["'0.00000000000000000000000000000000000001'"],
  VARCHAR: ["''", "'null'", "'a''b\"c\\d'", "'ключ'", 'chr(31) || chr(30)', "'7'"],
  UUID: ["'123e4567-e89b-12d3-a456-426614174000'", "'00000000-0000-0000-0000-000000000000'"],
  DATE: ["'2024-02-29'", "'0001-01-01'", "'infinity'"],
  TIME: ["'00:00:00'", "'23:59:59.999999'"],
  TIMESTAMP: ["'2024-01-01 10:20:30.123456'", "'1969-12-31 23:59:59'", "'-infinity'"],
  TIMESTAMP_NS: ["'2024-01-01 10:20:30.123456789'"],
  TIMESTAMPTZ: ["'2024-01-01 10:20:30+03'"],
}

for (const json of [false, true]) {
  await t.test(
    `a served value of any type finds its rows${json ? ', as text too' : ''}`,
    async (t) => {
      const names = Object.keys(keys)
      const length = Math.max(...Object.values(keys).map((each) => each.length)) + 1
      const rows = Array.from({ length: 3 * length }, (_, row) => {
        const cells = names.map((name, index) => {
          const value = keys[name]?.[row % length]
          return `${value === undefined ? 'NULL' : `CAST(${value} AS ${name})`} AS c${index}`
        })
        return `SELECT ${row} AS n, ${cells.join(', ')}`
      })
      const columns = json ? names.map((_, index) => `c${index}: {json: string}`) : []
      const { engine, bare, packed } = await openPacked(
        t,
        { 'a.parquet': rows.join(' UNION ALL ') },
        {
          entry: [
            'key: n',
            `lookups: [${names.map((_, index) => `c${index}`).join(', ')}]`,
            ...(json ? [`columns: {${columns.join(', ')}}`] : []),
          ],
        },
      )
      const all = (await walk(engine, bare, { filters: [], limit: 1000 })).map((line) => {
        return line.slice(line.indexOf('{'))
      })
      t.equal(all.length, 3 * length)
      for (const [index, name] of names.entries()) {
        const column = `c${index}`
        const cells = new Set(
          all.flatMap((line) => {
            const cell =
              new RegExp(`"${column}":("(?:[^"\\\\]|\\\\.)*"|[^,}]*)`).exec(line)?.[1] ?? ''
            return cell === 'null'
              ? []
              : [cell.startsWith('"') ? (JSON.parse(cell) as string) : cell]
          }),
        )
        t.ok(cells.size > 0, name)
        for (const value of cells) {
          const question: Asked = { filters: [[column, 'eq', value]], limit: 2 }
          t.ok(isCopied(packed, question))
          const wanted = await walk(engine, bare, question)
          t.ok(wanted.length >= 3, `${name} ${value}`)
          t.same(await walk(engine, packed, question), wanted, `${name} ${value}`)
        }
      }
    },
  )
}

await t.test('a bit flipped anywhere gives no wrong row', async (t) => {
  const { engine, bare, packed, folder } = await openPacked(
    t,
    { '2.parquet': files['2.parquet'] },
    { entry },
  )
  const [file] = packed.files
  if (!file?.rowCopy) throw new Error('no row copy')
  const intact = readFileSync(file.rowCopy.path)
  const path = join(folder, basename(file.rowCopy.path))
  const version = { ...packed, files: [{ ...file, rowCopy: { ...file.rowCopy, path } }] }
  const filters: readonly (readonly Filter[])[] = [
    [['id', 'eq', '00014']],
    [['year', 'eq', '2022']],
    [['buyer', 'in', '5', '9', '31']],
  ]
  const wanted = await Promise.all(
    filters.map((each) => walk(engine, bare, { filters: each, limit: 1000 })),
  )
  const flips = Number(process.env['FLIPS'] ?? 200)
  let [damaged, answered] = [0, 0]
  for (let flip = 0; flip < flips; flip += 1) {
    const bytes = Buffer.from(intact)
    const bit = Math.floor(((flip + 0.5) / flips) * bytes.length * 8)
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    writeFileSync(path, bytes)
    const copies = new RowCopies({ clock: machineClock, onDamage: () => (damaged += 1) })
    for (const [index, each] of filters.entries()) {
      const predicates = predicatesOf(version, each)
      const { columns } = version
      const question = { version, predicates, columns, after: null, limit: 1000 }
      const page = await copies.read(question, options)
      if (page === null) continue
      const rows = page.rows.map(({ encoded, position }) => {
        return `${position.file} ${position.row} ${String(encoded)}`
      })
      if (rows.join() !== wanted[index]?.join()) t.fail(`bit ${bit} gives other rows`)
      answered += 1
    }
    await copies.close()
  }
  t.ok(damaged > flips / 2, `${damaged} times damage was seen`)
  t.ok(answered > flips / 2, `${answered} questions did not meet it`)
})

await t.test('copies that are cut, missing or of other rows are withdrawn', async (t) => {
  const world = await openPacked(t, files, { entry })
  const { engine, bare, live } = world
  const question: Asked = { filters: [['id', 'in', '00014', '00021', '00500']], limit: 7 }
  const wanted = await walk(engine, bare, question)
  const damages: Readonly<Record<string, (path: string, other: string) => void>> = {
    missing: (path) => rmSync(path),
    empty: (path) => truncateSync(path, 0),
    cut: (path) => truncateSync(path, statSync(path).size - 1),
    'cut in half': (path) => truncateSync(path, statSync(path).size >> 1),
    'another file': (path, other) => writeFileSync(path, readFileSync(other)),
  }
  for (const [what, damage] of Object.entries(damages)) {
    const version = servedVersion(live)
    const [first, , third] = version.files.map(({ rowCopy }) => rowCopy?.path ?? '')
    damage(first ?? '', third ?? '')
    world.forget(first ?? '')
    t.same(await walk(engine, version, question), wanted, what)
    t.equal(servedVersion(live).files[0]?.rowCopy, null, `${what}: withdrawn`)
    t.ok(servedVersion(live).files[1]?.rowCopy, 'the others stay')
    while ((await live.update()) === 'unsettled');
    t.match(live.toPack?.forms, [{ kind: 'rows', file: 0 }], `${what}: made again`)
    await packPending(live)
    t.same(await walk(engine, servedVersion(live), question), wanted)
  }
})

await t.test('forms that their owner removes are not made again', async (t) => {
  const world = await openPacked(t, { '2.parquet': files['2.parquet'] }, { entry })
  const { engine, bare, live, folder } = world
  writeFileSync(join(folder, 'registry.yaml'), registryOf('pack: off', ...entry))
  while ((await live.update()) === 'unsettled');
  const version = servedVersion(live)
  const path = version.files[0]?.rowCopy?.path ?? ''
  for (const name of ['record.json', basename(path)]) rmSync(join(dirname(path), name))
  world.forget(path)
  const question: Asked = { filters: [['id', 'eq', '00014']], limit: 7 }
  t.same(await walk(engine, version, question), await walk(engine, bare, question))
  t.equal(servedVersion(live).files[0]?.rowCopy, null)
  while ((await live.update()) === 'unsettled');
  t.equal(live.toPack, null)
})
