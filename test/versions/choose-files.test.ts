import fc from 'fast-check'
import t from 'tap'
import { plainColumn } from '../../src/columns/column.js'
import type { Column } from '../../src/columns/column.js'
import type { Value } from '../../src/columns/filter-value.js'
import { predicateKey } from '../../src/columns/predicate.js'
import type { Predicate } from '../../src/columns/predicate.js'
import { compareText, filesThatMayHold } from '../../src/versions/choose-files.js'
import type { Bounds, DataFile, Version } from '../../src/versions/version.js'
import { holds, order } from '../columns/fixtures/predicate-model.js'

const anyText = fc.string({ unit: 'binary', maxLength: 6 })

const number = plainColumn('n', { kind: 'scalar', name: 'INTEGER' })
const text = plainColumn('s', { kind: 'scalar', name: 'VARCHAR' })

const numberValue = fc.bigInt({ min: -4n, max: 4n })
const textValue = fc.constantFrom('', 'a', 'ab', 'b', '\uffff', '\u{10000}', 'é')
const fileRows = fc.array(fc.record({ n: fc.option(numberValue), s: fc.option(textValue) }), {
  maxLength: 4,
})

const predicates: fc.Arbitrary<Predicate> = fc.oneof(
  predicatesOn(number, numberValue),
  predicatesOn(text, textValue),
  fc.constant<Predicate>({ kind: 'nothing' }),
)

await t.test('texts compare by their UTF-8 bytes, like in the engine', (t) => {
  fc.assert(
    fc.property(anyText, anyText, (a, b) => {
      return Math.sign(compareText(a, b)) === Buffer.compare(Buffer.from(a), Buffer.from(b))
    }),
    { numRuns: 1500 },
  )
  t.ok(compareText('\uffff', '\u{10000}') < 0, 'where UTF-16 has it the other way round')
  t.equal(compareText('a', 'a'), 0)
  t.end()
})

await t.test('a query by key reads only the file that may hold it', (t) => {
  const year = plainColumn('year', { kind: 'scalar', name: 'INTEGER' })
  const bounds = [2019n, 2020n, 2021n, 2022n].map((value) => ({ min: value, max: value }))
  const version = versionOver(
    bounds.map((each) => new Map<string, Bounds | null>([['year', each]])),
    [year],
  )
  const chosen = (...predicates: readonly Predicate[]) =>
    filesThatMayHold(version.files, predicates)
  const compare = (kind: 'eq' | 'gt' | 'gte' | 'lt' | 'lte' | 'ne' | 'isdistinct', value: bigint) =>
    chosen({ kind, column: year, value })
  t.same(compare('eq', 2020n), [1])
  t.same(compare('eq', 2030n), [])
  t.same(compare('gt', 2020n), [2, 3])
  t.same(compare('gte', 2020n), [1, 2, 3])
  t.same(compare('lt', 2020n), [0])
  t.same(compare('lte', 2020n), [0, 1])
  t.same(compare('ne', 2020n), [0, 1, 2, 3])
  t.same(chosen({ kind: 'in', column: year, values: [2022n, 1n, 2019n, 3000n] }), [0, 3])
  t.same(chosen({ kind: 'in', column: year, values: [] }), [])
  t.same(chosen({ kind: 'nothing' }), [])
  t.same(chosen({ kind: 'is_null', column: year }), [0, 1, 2, 3], 'each may hold an empty value')
  t.same(chosen(), [0, 1, 2, 3])
  const ends = { min: 2019n, max: 2020n } as const
  const full = versionOver(
    [new Map([['year', { ...ends, isFull: true }]]), new Map([['year', ends]])],
    [year],
  )
  t.same(filesThatMayHold(full.files, [{ kind: 'is_null', column: year }]), [1], 'one is full')
  const partlyEmpty = versionOver([new Map(), new Map()], [year], [0, 1])
  t.same(filesThatMayHold(partlyEmpty.files, []), [1], 'a file without rows is never read')
  t.end()
})

await t.test('neighbours of sorted files that share a value are all read', (t) => {
  const ends = [
    [1n, 2n],
    [2n, 2n],
    [2n, 3n],
    [4n, 4n],
  ] as const
  const version = versionOver(
    ends.map(([min, max]) => new Map<string, Bounds | null>([['n', { min, max }]])),
    [number],
  )
  const eq = (value: bigint) =>
    filesThatMayHold(version.files, [{ kind: 'eq', column: number, value }])
  t.same([0n, 1n, 2n, 3n, 4n, 5n].map(eq), [[], [0], [0, 1, 2], [2], [3], []])
  t.end()
})

await t.test('of sorted files, exactly those whose bounds hold the value are read', (t) => {
  const sorted = fc.array(numberValue, { minLength: 3, maxLength: 24 })
  fc.assert(
    fc.property(sorted, fc.integer({ min: 1, max: 4 }), numberValue, (values, size, value) => {
      values.sort((left, right) => Number(left - right))
      const files = Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
        values.slice(index * size, (index + 1) * size),
      )
      const version = versionOver(
        files.map((held) =>
          boundsOf(
            held.map((n) => ({ n, s: null })),
            0,
          ),
        ),
        [number],
      )
      const chosen = filesThatMayHold(version.files, [{ kind: 'eq', column: number, value }])
      return files.every(
        (held, index) =>
          held.includes(value) === chosen.includes(index) ||
          (chosen.includes(index) && (held[0] ?? 0n) < value && value < (held.at(-1) ?? 0n)),
      )
    }),
    { numRuns: 1500 },
  )
  t.end()
})

await t.test('every file with a row that meets all predicates is chosen', (t) => {
  fc.assert(
    fc.property(
      fc.array(fileRows, { maxLength: 6 }),
      fc.array(predicates, { maxLength: 3 }),
      (files, asked) => {
        const version = versionOver(
          files.map(boundsOf),
          [number, text],
          files.map((rows) => rows.length),
        )
        const chosen = filesThatMayHold(version.files, asked)
        return files.every(
          (rows, index) =>
            chosen.includes(index) ||
            !rows.some((row) => asked.every((predicate) => holds(predicate, row))),
        )
      },
    ),
    { numRuns: 1500 },
  )
  t.end()
})

await t.test('equal conditions have equal keys, different ones different keys', (t) => {
  const number = plainColumn('n', { kind: 'scalar', name: 'DOUBLE' })
  const other = plainColumn('m', { kind: 'scalar', name: 'DOUBLE' })
  const key = (...values: readonly Value[]) => predicateKey({ kind: 'in', column: number, values })
  t.equal(key(1, 2), key(2, 1), 'the order of a list means nothing')
  t.not(key(1, 2), key(1, 3))
  t.not(key(12), key(1, 2))
  t.not(key('1'), key(1), 'a text is no number')
  t.not(key(1n), key(1))
  const eq = (value: Value, column = number) => predicateKey({ kind: 'eq', column, value })
  t.equal(eq(0), eq(-0))
  t.not(eq(1), key(1))
  t.not(eq(1), eq(1, other))
  t.equal(predicateKey({ kind: 'nothing' }), 'nothing')
  t.not(
    predicateKey({ kind: 'is_null', column: number }),
    predicateKey({ kind: 'not_null', column: number }),
  )
  t.end()
})

function predicatesOn(column: Column, value: fc.Arbitrary<Value>): fc.Arbitrary<Predicate> {
  const kinds = fc.constantFrom('eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'isdistinct')
  return fc.oneof(
    fc.record({ kind: kinds, column: fc.constant(column), value }),
    fc.record({
      kind: fc.constantFrom('in', 'not_in'),
      column: fc.constant(column),
      values: fc.array(value, { minLength: 1, maxLength: 5 }),
    }),
    fc.record({ kind: fc.constantFrom('is_null', 'not_null'), column: fc.constant(column) }),
  )
}

type Row = Readonly<Record<'n' | 's', Value | null>>

/** Bounds as a file's statistics give them; some files have none for some column. */
function boundsOf(rows: readonly Row[], index: number): ReadonlyMap<string, Bounds | null> {
  const bounds = new Map<string, Bounds | null>()
  for (const name of ['n', 's'] as const) {
    if (index === 2 && name === 's') continue
    const values = rows.flatMap((row) => row[name] ?? [])
    const [first] = values
    const pick = (isBetter: (order: number) => boolean) =>
      values.reduce((best, each) => (isBetter(order(each, best)) ? each : best), first ?? '')
    const ends = { min: pick((way) => way < 0), max: pick((way) => way > 0) }
    const isFull = rows.every((row) => row[name] !== null)
    bounds.set(name, first === undefined ? null : { ...ends, ...(isFull && { isFull }) })
  }
  return bounds
}

function versionOver(
  bounds: readonly ReadonlyMap<string, Bounds | null>[],
  columns: readonly Column[],
  rows: readonly number[] = bounds.map(() => 1),
): Version {
  const files = bounds.map((each, index): DataFile => ({
    path: `/${index}`,
    guard: null,
    hash: null,
    name: String(index),
    rows: rows[index] ?? 0,
    types: new Map(columns.map(({ source, type }) => [source, type])),
    below: '',
    marks: new Map<string, never>(),
    layout: '',
    partition: new Map(),
    bounds: each,
    contentHash: '',
    rowCopy: null,
    pages: null,
  }))
  return {
    id: '0'.repeat(16),
    dataset: 'things',
    files,
    lookUps: columns.slice(0, 1),
    search: [],
    entity: null,
    names: null,
    columns,
    key: columns,
    history: null,
    newestHistory: undefined,
    rows: 0,
    bytes: 0,
    modifiedMs: 0,
  }
}
