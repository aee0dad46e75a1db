import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import type { RunDetails } from 'fast-check'
import { resultColumn } from '../../../src/query/summary/result-column.js'
import { textsOf } from '../../../src/query/row-texts.js'
import type { Operator } from '../../../src/columns/operators.js'
import { writeParquet } from '../../support/world.js'
import type { Form } from '../fixtures/forms.js'
import { openFolder } from '../fixtures/open-engine.js'
import { summariesOf, summaryOf } from '../fixtures/summaries.js'
import type { AskedSummary, SummaryWorld } from '../fixtures/summaries.js'
import { compareCells, expectedGroups } from '../fixtures/summary-model.js'
import type { Expected, ExpectedGroup, ServedRow } from '../fixtures/summary-model.js'

// Guarantee: an aggregate equals the same computed from the exported rows, whatever the order of
// the rows, the form of the version, its files and the number of threads.
// `npm run test:summaries` asks 5,000 questions.

const runs = Number(process.env['SUMMARY_RUNS'] ?? 75)

/** Rows `from` to `to`: values that repeat, empty ones of every kind, large and small numbers. */
function rowsOf(from: number, to: number, isNarrow = false): string {
  const pick = (salt: number, count: number) => `(hash(i * 31 + ${salt}) % ${count})::BIGINT`
  const maybe = (salt: number, sql: string) => `CASE WHEN ${pick(salt, 7)} > 0 THEN ${sql} END`
  const codes = `['01', '01.11', '01.1', '62.01', 'Ёлка', '🦆🦆x', '', 'a"b', 'z']`
  const signed = (salt: number, size: string) =>
    `((${pick(salt, 2)} * 2)::INTEGER - 1) * ${pick(salt + 1, 1_000_000)}::${size}`
  const nan = `CASE ${pick(8, 20)} WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN 'inf' WHEN 2 THEN '-0'
    ELSE ${signed(9, 'DOUBLE')} / 7 END`
  const extra = `
    ${maybe(4, `${signed(5, 'DECIMAL(18,2)')} / 8`)}::DECIMAL(18,2) AS price,
    ${maybe(7, nan)} AS ratio,
    ${maybe(20, `(${pick(21, 50)} * 0.1)`)}::FLOAT AS single,
    ${maybe(30, `${signed(31, 'HUGEINT')} * 1_000_000_000_000`)}::HUGEINT AS huge,
    ${maybe(32, signed(33, 'DECIMAL(30,10)'))}::DECIMAL(30,10) AS wide,`
  return `SELECT i AS id, ${maybe(1, `${codes}[1 + ${pick(2, 9)}]`)} AS code,
    ${maybe(3, `(2019 + ${pick(6, 6)})`)}::INTEGER AS year,
    ${maybe(10, signed(11, 'BIGINT'))}::${isNarrow ? 'INTEGER' : 'BIGINT'} AS amount,
    ${isNarrow ? '' : extra}
    ${maybe(
      13,
      `CASE WHEN ${pick(14, 9)} = 0 THEN 'infinity'::DATE
      ELSE DATE '1969-11-01' + ${pick(15, 700)}::INTEGER END`,
    )} AS day,
    ${maybe(16, `TIMESTAMPTZ '1969-12-30 00:00:00+00' + to_seconds(${pick(17, 9_000_000)}::BIGINT)`)} AS at,
    ${maybe(18, `(${pick(19, 2)} = 0)`)} AS flag,
    ${maybe(22, `['b', 'a', 'c'][1 + ${pick(23, 3)}]`)}::ENUM('c', 'b', 'a') AS kind
    FROM range(${from}, ${to}) t(i)`
}

const numbers = ['id', 'year', 'amount', 'price', 'ratio', 'single', 'huge', 'wide']
const ordered = [...numbers, 'code', 'day', 'at', 'kind']
const all = [...ordered, 'flag']

const groupName = fc.oneof(
  fc.constantFrom('code', 'year', 'flag', 'kind', 'single', 'day', 'ratio'),
  fc
    .tuple(fc.constantFrom('code', 'kind'), fc.integer({ min: 1, max: 4 }))
    .map(([name, length]) => `prefix(${name},${length})`),
  fc
    .tuple(fc.constantFrom('year', 'quarter', 'month', 'day'), fc.constantFrom('day', 'at'))
    .map(([part, name]) => `${part}(${name})`),
)
const of = (names: readonly string[]) => fc.constantFrom(...names)
const pair = fc.tuple(of(numbers), of(numbers)).map(([a, b]) => `${a}/${b}`)
const numeric = fc.tuple(
  fc.oneof(
    fc.constantFrom('avg', 'median'),
    fc.integer({ min: 1, max: 99 }).map((percent) => `p${percent}`),
  ),
  fc.oneof(of(numbers), pair),
)
const measureName = fc.oneof(
  fc.constant('count'),
  fc.tuple(fc.constantFrom('count', 'distinct'), of(all)).map(([f, name]) => `${f}(${name})`),
  fc.tuple(fc.constantFrom('min', 'max'), of(ordered)).map(([f, name]) => `${f}(${name})`),
  of(numbers).map((name) => `sum(${name})`),
  numeric.map(([f, name]) => `${f}(${name})`),
  pair.map((name) => `ratio(${name})`),
)

const filters: readonly (readonly [string, Operator, ...string[]])[] = [
  ['year', 'eq', '2021'],
  ['code', 'like', '01*'],
  ['amount', 'gt', '0'],
  ['ratio', 'not_null'],
  ['price', 'is_null'],
  ['kind', 'in', 'a', 'b'],
  ['day', 'gte', '1970-01-01'],
  ['id', 'lt', '0'],
]

const question = fc.record({
  group: fc.uniqueArray(groupName, { maxLength: 3 }),
  measures: fc.uniqueArray(measureName, { minLength: 1, maxLength: 4 }),
  filter: fc.option(fc.constantFrom(...filters)),
  having: fc.option(fc.integer({ min: 1, max: 20 })),
  order: fc.nat({ max: 9 }),
  isDescending: fc.boolean(),
  limit: fc.constantFrom(1, 3, 1000, 10_000),
})

async function exported(world: SummaryWorld, filter: (typeof filters)[number] | null) {
  const rows = await world.walk(filter ? world.filter(...filter) : [], 1000)
  return rows.map(({ json }): ServedRow => {
    const { names, cells } = textsOf(json)
    return new Map(names.map((name, index) => [String(JSON.parse(name)), cells[index] ?? '']))
  })
}

function isSame(text: string, expected: Expected): boolean {
  if (expected.kind === 'text') return text === expected.text
  return text !== 'null' && Math.abs(Number(text) - expected.value) <= expected.slack
}

function check(row: string, names: readonly string[], expected: ExpectedGroup | undefined): void {
  const { names: keys, cells } = textsOf(row)
  const isRight =
    expected !== undefined &&
    keys.map((key) => String(JSON.parse(key))).join() === names.join() &&
    expected.keys.every((key, index) => key === cells[index]) &&
    expected.measures.every((each, index) =>
      isSame(cells[expected.keys.length + index] ?? '', each),
    )
  if (!isRight) throw new Error(`${row} instead of ${JSON.stringify(expected)}`)
}

/** The failure itself, with the question. */
function briefly<T>({ failed, seed, counterexample, errorInstance }: RunDetails<T>): void {
  if (!failed) return
  const asked = JSON.stringify(counterexample)
  throw new Error(`seed ${seed}: ${asked}: ${String(errorInstance)}`, { cause: errorInstance })
}

await t.test('an aggregate equals the same computed from the exported rows', async (t) => {
  const folder = t.testdir({})
  const narrow = rowsOf(400, 500, true)
  await writeParquet(join(folder, 'parts/data'), {
    '1.parquet': rowsOf(0, 400),
    '2.parquet': narrow,
    '3.parquet': rowsOf(500, 900),
  })
  const whole = `${rowsOf(0, 400)} UNION ALL BY NAME ${narrow}
    UNION ALL BY NAME ${rowsOf(500, 900)}`
  await writeParquet(
    join(folder, 'whole/data'),
    { '1.parquet': `SELECT * FROM (${whole}) ORDER BY hash(id)` },
    ', ROW_GROUP_SIZE 2048',
  )
  const open = async (name: string, form: Form, threads: number, entry = '') =>
    summariesOf(await openFolder(t, join(folder, name), { entry, form, engine: { threads } }))
  const world = await open('parts', 'dropped', 2)
  const others = [
    // Without a key, packed rows keep their order.
    await open('whole', 'packed', 8),
    await open('parts', 'both', 4, '    key: id\n    history: year\n'),
  ]
  const exports = new Map<unknown, readonly ServedRow[]>()
  for (const filter of [null, ...filters]) exports.set(filter, await exported(world, filter))
  await fc.assert(
    fc.asyncProperty(question, async ({ filter, having, order, isDescending, ...rest }) => {
      const names = [...rest.group, ...rest.measures]
      const by = names[order % names.length] ?? ''
      const asked: AskedSummary = {
        ...rest,
        measures: rest.measures,
        order: [`${isDescending ? '-' : ''}${by}`],
        ...(having !== null && rest.measures[0] === 'count' && { having: [`count.gte.${having}`] }),
      }
      const predicates = filter ? world.filter(...filter) : []
      const rows = exports.get(filter) ?? []
      const answer = await world.ask({ ...asked, predicates })
      for (const other of others) {
        const predicates = filter ? other.filter(...filter) : []
        const same = await other.ask({ ...asked, predicates })
        if (JSON.stringify(answer) !== JSON.stringify(same)) {
          throw new Error(`${answer.rows.join()} but ${same.rows.join()} in another form`)
        }
      }
      const summary = summaryOf(world, asked)
      const kept = expectedGroups(summary, rows).filter(({ measures: [first] }) =>
        asked.having ? first?.kind === 'text' && Number(first.text) >= (having ?? 0) : true,
      )
      if (answer.groups !== kept.length) throw new Error(`${answer.groups} groups`)
      if (answer.rowsMet !== rows.length) throw new Error(`${answer.rowsMet} rows`)
      if (answer.rows.length !== Math.min(kept.length, rest.limit)) throw new Error('limit')
      const byKeys = new Map(kept.map((group) => [group.keys.join('\n'), group]))
      const place = names.indexOf(by)
      const keysAndValue = answer.rows.map((row) => {
        const { cells } = textsOf(row)
        check(row, names, byKeys.get(cells.slice(0, rest.group.length).join('\n')))
        return { keys: cells.slice(0, rest.group.length).join('\n'), value: cells[place] ?? '' }
      })
      const rank = new Map(kept.map(({ keys }, index) => [keys.join('\n'), index]))
      const column = [...summary.groups, ...summary.measures].map((part) => part.name).indexOf(by)
      const part = [...summary.groups, ...summary.measures][column]
      if (!part) throw new Error('no order')
      for (const [index, next] of keysAndValue.entries()) {
        const last = keysAndValue[index - 1]
        if (last && !isBefore(part, last, next, isDescending, rank)) throw new Error('order')
      }
    }),
    { numRuns: runs, endOnFailure: true, reporter: briefly },
  )
})

interface Ranked {
  readonly keys: string
  readonly value: string
}

function isBefore(
  part: Parameters<typeof resultColumn>[0],
  last: Ranked,
  next: Ranked,
  isDescending: boolean,
  rank: ReadonlyMap<string, number>,
): boolean {
  const hasNull = last.value === 'null' || next.value === 'null'
  const order = compareCells(resultColumn(part), last.value, next.value)
  if (order === 0) return (rank.get(last.keys) ?? 0) < (rank.get(next.keys) ?? 0)
  return isDescending && !hasNull ? order > 0 : order < 0
}
