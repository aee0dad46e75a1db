import fc from 'fast-check'
import t from 'tap'
import { plainColumn } from '../../src/columns/column.js'
import type { Column } from '../../src/columns/column.js'
import type { ScalarName } from '../../src/columns/data-type.js'
import type { Operator } from '../../src/columns/operators.js'
import { filterPredicates, latestYears } from '../../src/columns/predicate.js'
import type { Predicate } from '../../src/columns/predicate.js'
import type { Exact } from '../../src/columns/values.js'
import { decimalText, order, passes, scalar } from './fixtures/predicate-model.js'

function decimal(width: number, scale: number): Column {
  return plainColumn('x', { kind: 'decimal', width, scale })
}

const comparisons = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'isdistinct'] as const

/** The model: `value operator wanted` by arithmetic, and by SQL's rules for an empty value. */
function expected(operator: (typeof comparisons)[number], difference: bigint | null): boolean {
  switch (operator) {
    case 'eq':
      return difference === 0n
    case 'ne':
      return difference !== null && difference !== 0n
    case 'gt':
      return difference !== null && difference > 0n
    case 'gte':
      return difference !== null && difference >= 0n
    case 'lt':
      return difference !== null && difference < 0n
    case 'lte':
      return difference !== null && difference <= 0n
    case 'isdistinct':
      return difference !== 0n
  }
}

interface Grid {
  readonly column: Column
  readonly scale: number
  readonly min: bigint
  readonly max: bigint
  /** Filter values of any size and precision, with their text. */
  readonly wanted: fc.Arbitrary<{ readonly value: Exact; readonly text: string }>
}

/** Numbers on the grid, just off it, at its ends and far beyond. */
function numbers(scale: number, min: bigint, max: bigint): Grid['wanted'] {
  const margin = 3n
  const steps = fc.oneof(
    fc.bigInt({ min: -5n, max: 5n }),
    fc.bigInt({ min: min - margin, max: min + margin }),
    fc.bigInt({ min: max - margin, max: max + margin }),
    fc.bigInt({ min: 2n * min - 10n, max: 2n * max + 10n }),
  )
  return fc.tuple(steps, fc.nat(3), fc.integer({ min: -2, max: 2 })).map(([step, finer, off]) => {
    const value = { units: step * 10n ** BigInt(finer) + BigInt(off), scale: scale + finer }
    return { value, text: decimalText(value) }
  })
}

function integerGrid(name: ScalarName, min: bigint, max: bigint): Grid {
  return { column: scalar(name), scale: 0, min, max, wanted: numbers(0, min, max) }
}

function decimalGrid(width: number, scale: number): Grid {
  const max = 10n ** BigInt(width) - 1n
  return { column: decimal(width, scale), scale, min: -max, max, wanted: numbers(scale, -max, max) }
}

/** Timestamps that JavaScript can write, with up to nine digits of a second. */
function momentGrid(name: ScalarName, scale: number, zone: string): Grid {
  const limit = 2n ** 63n - 2n
  const secondsMax = Number(8_640_000_000_000n)
  const seconds = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.integer({ min: -9_223_372_040, max: -9_223_372_030 }),
    fc.integer({ min: 9_223_372_030, max: 9_223_372_040 }),
    fc.integer({ min: -secondsMax, max: secondsMax }),
  )
  const fraction = fc.string({ unit: fc.constantFrom('0', '1', '5', '9'), maxLength: 9 })
  const wanted = fc.tuple(seconds, fraction).map(([second, digits]) => {
    const units = BigInt(second) * 10n ** BigInt(digits.length) + BigInt(digits || 0)
    const day = new Date(second * 1000).toISOString().slice(0, -5)
    const text = `${day}${digits === '' ? '' : `.${digits}`}${zone}`
    return { value: { units, scale: digits.length }, text }
  })
  return { column: scalar(name), scale, min: -limit, max: limit, wanted }
}

const dayMs = 86_400_000
const dates: Grid = {
  column: scalar('DATE'),
  scale: 0,
  min: -(2n ** 31n) + 2n,
  max: 2n ** 31n - 2n,
  wanted: fc.integer({ min: -100_000_000, max: 100_000_000 }).map((day) => ({
    value: { units: BigInt(day), scale: 0 },
    text: new Date(day * dayMs).toISOString().slice(0, -14),
  })),
}

function clockGrid(name: ScalarName, scale: number): Grid {
  const second = fc.oneof(fc.nat(86_399), fc.constantFrom(0, 1, 86_398, 86_399))
  const fraction = fc.string({ unit: fc.constantFrom('0', '1', '9'), maxLength: 9 })
  const wanted = fc.tuple(second, fraction).map(([whole, digits]) => ({
    value: { units: BigInt(`${whole}${digits}`), scale: digits.length },
    text: new Date(whole * 1000).toISOString().slice(11, 19) + (digits && `.${digits}`),
  }))
  return { column: scalar(name), scale, min: 0n, max: 86_400n * 10n ** BigInt(scale), wanted }
}

const grids: readonly Grid[] = [
  integerGrid('TINYINT', -128n, 127n),
  integerGrid('UTINYINT', 0n, 255n),
  integerGrid('SMALLINT', -(2n ** 15n), 2n ** 15n - 1n),
  integerGrid('USMALLINT', 0n, 2n ** 16n - 1n),
  integerGrid('INTEGER', -(2n ** 31n), 2n ** 31n - 1n),
  integerGrid('UINTEGER', 0n, 2n ** 32n - 1n),
  integerGrid('BIGINT', -(2n ** 63n), 2n ** 63n - 1n),
  integerGrid('UBIGINT', 0n, 2n ** 64n - 1n),
  integerGrid('HUGEINT', -(2n ** 127n), 2n ** 127n - 1n),
  integerGrid('UHUGEINT', 0n, 2n ** 128n - 1n),
  decimalGrid(1, 0),
  decimalGrid(3, 3),
  decimalGrid(18, 2),
  decimalGrid(38, 10),
  dates,
  momentGrid('TIMESTAMP_S', 0, ''),
  momentGrid('TIMESTAMP_MS', 3, ''),
  momentGrid('TIMESTAMP', 6, ''),
  momentGrid('TIMESTAMP_NS', 9, ''),
  momentGrid('TIMESTAMPTZ', 6, 'Z'),
  clockGrid('TIME', 6),
  clockGrid('TIME_NS', 9),
]

/** Rows to test: empty, the ends of the column, and the steps around the value. */
function stepsNear({ scale, min, max }: Grid, { units, scale: finer }: Exact): readonly bigint[] {
  const near = (units * 10n ** BigInt(scale)) / 10n ** BigInt(finer)
  return [min, min + 1n, max - 1n, max, near - 2n, near - 1n, near, near + 1n, near + 2n].filter(
    (step) => step >= min && step <= max,
  )
}

/** The sign of step − value, in whole numbers. */
function difference(scale: number, step: bigint, { units, scale: finer }: Exact): bigint {
  return step * 10n ** BigInt(finer) - units * 10n ** BigInt(scale)
}

/** A value beyond the range of its column would not fit the type it is bound as. */
function canBeBound({ min, max }: Grid, predicates: readonly Predicate[]): boolean {
  return predicates.every((predicate) => {
    if (!('value' in predicate)) return true
    const { value } = predicate
    return typeof value === 'bigint' && value >= min && value <= max
  })
}

await t.test(
  'a comparison agrees with exact arithmetic, also beyond the range of the column',
  (t) => {
    for (const grid of grids) {
      const { column, scale, wanted } = grid
      const name = column.type.kind === 'scalar' ? column.type.name : JSON.stringify(column.type)
      const found = fc.check(
        fc.property(wanted, ({ value, text }) => {
          for (const operator of comparisons) {
            if (!canBeBound(grid, filterPredicates(column, operator, [text]))) return false
            if (passes(column, operator, [text], null) !== expected(operator, null)) return false
            for (const step of stepsNear(grid, value)) {
              const right = expected(operator, difference(scale, step, value))
              if (passes(column, operator, [text], step) !== right) return false
            }
          }
          return true
        }),
        { numRuns: 250 },
      )
      t.equal(found.failed, false, `${name}: ${JSON.stringify(found.counterexample?.[0]?.text)}`)
    }
    t.end()
  },
)

await t.test('a list agrees with exact arithmetic for each of its values', (t) => {
  for (const grid of grids) {
    const { column, scale, wanted } = grid
    const found = fc.check(
      fc.property(fc.array(wanted, { minLength: 1, maxLength: 4 }), (list) => {
        const texts = list.map(({ text }) => text)
        if (passes(column, 'in', texts, null) || passes(column, 'not_in', texts, null)) return false
        return list
          .flatMap(({ value }) => stepsNear(grid, value))
          .every((step) => {
            const isIn = list.some(({ value }) => difference(scale, step, value) === 0n)
            return (
              passes(column, 'in', texts, step) === isIn &&
              passes(column, 'not_in', texts, step) === !isIn
            )
          })
      }),
      { numRuns: 60 },
    )
    t.equal(found.failed, false, JSON.stringify(found.counterexample))
  }
  t.end()
})

await t.test('a day beyond the range of a column is later, or earlier, than all days', (t) => {
  const [newest, oldest] = [dates.max, dates.min]
  for (const [text, isLater] of [
    ['+5881581-01-01', true],
    ['-5877642-01-01', false],
  ] as const) {
    t.equal(passes(dates.column, 'lt', [text], newest), isLater)
    t.equal(passes(dates.column, 'gt', [text], oldest), !isLater)
    t.equal(passes(dates.column, 'eq', [text], newest), false)
    t.equal(passes(dates.column, 'ne', [text], oldest), true)
  }
  t.equal(passes(dates.column, 'eq', ['+5881580-07-10'], newest), true, 'the last day')
  t.equal(passes(dates.column, 'eq', ['+5881580-07-11'], newest), false, 'that day is infinity')
  t.equal(passes(dates.column, 'eq', ['-5877641-06-23'], -(2n ** 31n)), true, 'the first day')
  t.end()
})

await t.test('the documented examples hold', (t) => {
  const kinds = (column: Column, operator: Operator, ...texts: readonly string[]) =>
    filterPredicates(column, operator, texts).map((each) => each.kind)
  t.same(kinds(decimal(18, 2), 'eq', '10.005'), ['nothing'])
  t.same(kinds(scalar('INTEGER'), 'lt', '99999999999999999999'), ['not_null'])
  t.equal(passes(scalar('INTEGER'), 'gt', ['1.5'], 1n), false)
  t.equal(passes(scalar('INTEGER'), 'gt', ['1.5'], 2n), true)
  t.same(kinds(scalar('INTEGER'), 'isdistinct', '1.5'), [], 'every row, the empty ones too')
  t.same(kinds(scalar('INTEGER'), 'in', '1.5', '7', '7.0', '007'), ['eq'], 'one value is left')
  t.same(kinds(scalar('INTEGER'), 'not_in', '1.5', '99999999999'), ['not_null'])
  t.same(kinds(scalar('BOOLEAN'), 'is_null'), ['is_null'])
  t.end()
})

await t.test('a duplicate in a list counts once, however it is written', (t) => {
  const [predicate] = filterPredicates(scalar('INTEGER'), 'in', ['7', '07', '7.00', '8'])
  t.match(predicate, { kind: 'in', values: [7n, 8n] })
  const [zeros] = filterPredicates(scalar('DOUBLE'), 'in', ['0', '-0', '0e5', '1'])
  t.match(zeros, { kind: 'in', values: [0, 1] })
  t.end()
})

await t.test('a FLOAT is compared as a FLOAT, a DOUBLE as a DOUBLE', (t) => {
  const anyDouble = fc.double({ noNaN: true, noDefaultInfinity: true })
  for (const [name, round] of [
    ['FLOAT', Math.fround],
    ['DOUBLE', (value: number) => value],
  ] as const) {
    const column = scalar(name)
    fc.assert(
      fc.property(anyDouble, anyDouble, (stored, wanted) => {
        const value = round(stored)
        if (!Number.isFinite(value)) return true
        const difference = BigInt(order(value, round(wanted)))
        return comparisons.every(
          (operator) =>
            passes(column, operator, [String(wanted)], value) === expected(operator, difference),
        )
      }),
      { numRuns: 2000 },
    )
  }
  const tenth = Math.fround(0.1)
  t.equal(passes(scalar('FLOAT'), 'eq', ['0.1'], tenth), true, 'a served value finds its row')
  t.equal(passes(scalar('DOUBLE'), 'eq', ['0.1'], tenth), false)
  t.end()
})

await t.test('every value is less than one beyond the largest float, and none is equal', (t) => {
  for (const [name, beyond, largest] of [
    ['DOUBLE', '1e400', Number.MAX_VALUE],
    ['FLOAT', '1e39', 3.4028234663852886e38],
  ] as const) {
    const column = scalar(name)
    const all = (text: string, value: number | null) =>
      comparisons.filter((operator) => passes(column, operator, [text], value))
    t.same(all(beyond, largest), ['ne', 'lt', 'lte', 'isdistinct'])
    t.same(all(`-${beyond}`, -largest), ['ne', 'gt', 'gte', 'isdistinct'])
    t.same(all(beyond, null), ['isdistinct'])
    t.equal(passes(column, 'in', [beyond, '1'], 1), true)
    t.equal(passes(column, 'not_in', [beyond], largest), true)
  }
  t.equal(passes(scalar('DOUBLE'), 'eq', ['1e39'], 1e39), true)
  t.equal(passes(scalar('DOUBLE'), 'eq', ['1e-400'], 0), true, 'too small to differ from zero')
  t.equal(passes(scalar('DOUBLE'), 'eq', ['-0'], 0), true)
  t.equal(passes(scalar('DOUBLE'), 'gt', ['-0'], 0), false)
  t.end()
})

await t.test("a plan's years end with the newest value of an integer column", (t) => {
  const years = (name: ScalarName, newest: bigint | undefined, count: number) =>
    latestYears(scalar(name), newest, count)
  t.match(years('INTEGER', 2025n, 1), [{ kind: 'gte', value: 2025n }])
  t.match(years('INTEGER', 2025n, 3), [{ kind: 'gte', value: 2023n }])
  t.match(years('INTEGER', undefined, 3), [{ kind: 'nothing' }], 'no value, no row')
  t.match(years('UTINYINT', 3n, 5), [{ kind: 'not_null' }], 'further back than the column goes')
  t.end()
})

await t.test(
  "a plan's years of dates and timestamps are calendar years, to the last instant",
  (t) => {
    const firstSeen = (column: Column, newest: string, count: number) => {
      const [bound] = filterPredicates(column, 'eq', [newest])
      const value =
        bound?.kind === 'eq' && typeof bound.value === 'bigint' ? bound.value : undefined
      const [window, ...others] = latestYears(column, value, count)
      t.same(others, [])
      return window
    }
    const startsAt = (column: Column, start: string) => {
      const [bound] = filterPredicates(column, 'gte', [start])
      return bound
    }
    const cases: readonly (readonly [ScalarName, string, number, string])[] = [
      ['DATE', '2018-02-14', 1, '2018-01-01'],
      ['DATE', '2018-12-31', 2, '2017-01-01'],
      ['DATE', '2018-01-01', 1, '2018-01-01'],
      ['DATE', '0018-06-01', 1000, '-0981-01-01'],
      ['DATE', '-0043-03-15', 1, '-0043-01-01'],
      ['DATE', '+300000-03-15', 2, '+299999-01-01'],
      ['DATE', '9999-12-31', 1, '9999-01-01'],
      ['TIMESTAMP_S', '2023-12-31T23:59:59', 1, '2023-01-01'],
      ['TIMESTAMP', '2023-12-31T23:59:59.999999', 1, '2023-01-01'],
      ['TIMESTAMP_NS', '2023-12-31T23:59:59.999999999', 1, '2023-01-01'],
      ['TIMESTAMP_NS', '2024-01-01T00:00:00', 1, '2024-01-01'],
      ['TIMESTAMPTZ', '2024-01-01T02:59:59+03:00', 1, '2023-01-01'],
      ['TIMESTAMP', '1969-12-31T23:59:59.999999', 1, '1969-01-01'],
    ]
    for (const [name, newest, count, start] of cases) {
      t.same(
        firstSeen(scalar(name), newest, count),
        startsAt(scalar(name), start),
        `${name} ${newest}`,
      )
    }
    t.match(firstSeen(scalar('DATE'), '-5877000-01-01', 1000), { kind: 'not_null' })
    t.end()
  },
)
