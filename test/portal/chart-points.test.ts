import fc from 'fast-check'
import t from 'tap'
import { entityNames } from '../../src/portal/browser/chart/names.js'
import { drawable, pictureOf, pointsOf } from '../../src/portal/browser/chart/points.js'
import { shortValues } from '../../src/portal/chart/short-values.js'
import { unitScale } from '../../src/portal/chart/unit-scale.js'
import { readExactRows } from '../../src/portal/browser/question/exact-rows.js'
import type { PageColumn } from '../../src/portal/browser/question/page-column.js'
import { readShort } from './fixtures/read-short.js'

function column(name: string, changes: Partial<PageColumn> = {}): PageColumn {
  const plain = {
    label: '',
    section: '',
    type: 'string',
    unit: '',
    description: '',
    operators: [],
  } as const
  return { name, ...plain, isKey: false, isQuantity: false, ...changes }
}

const amount = column('2110', { type: 'integer', isQuantity: true, unit: 'RUB' })
const columns = [
  column('year', { type: 'integer', isKey: true }),
  column('okved'),
  column('inn', { isKey: true }),
  column('name'),
  column('okfs', { type: 'integer' }),
  column('staff', { type: 'integer', isQuantity: true }),
  amount,
]

/** Rows of `inn`, `year`, `name` and amount. */
function rowsOf(rows: readonly (readonly [string, number, string | null, string])[]) {
  const texts = rows.map(
    ([inn, year, name, value]) =>
      `{"inn":"${inn}","year":${year},"okved":"70","name":${JSON.stringify(name)},"2110":${value}}`,
  )
  return readExactRows(`{"data":[${texts.join()}],"next_cursor":null}`)
}

function picture(rows: Parameters<typeof rowsOf>[0]) {
  const chart = { rows: rowsOf(rows), columns, time: 'year' }
  return pictureOf(pointsOf(chart, amount, entityNames(chart)))
}

await t.test('codes and years are not offered as quantities, amounts come first', (t) => {
  const offered = drawable({ rows: [], columns, time: 'year' })
  t.same(
    offered.map(({ name }) => name),
    ['2110', 'staff'],
  )
  t.end()
})

await t.test('years are lines, one for each company, by its newest name', (t) => {
  const drawn = picture([
    ['b', 2021, 'Beta (new)', '3'],
    ['a', 2021, 'Alpha', 'null'],
    ['b', 2020, 'Beta', '9007199254740993'],
    ['a', 2020, 'Alpha', '1'],
    ['b', 2022, 'Beta (new)', '4'],
  ])
  t.match(drawn, {
    kind: 'lines',
    isJoined: true,
    omitted: 0,
    series: [
      {
        name: 'Beta (new)',
        points: [{ x: 2020, yText: '9007199254740993' }, { x: 2021 }, { x: 2022 }],
      },
      { name: 'Alpha', points: [{ x: 2020, yText: '1' }] },
    ],
  })
  t.end()
})

await t.test('many companies of one year are bars, in the order of the rows', (t) => {
  const rows = Array.from(
    { length: 40 },
    (_, index) => [`i${index}`, 2024, `Company No ${index}`, String(40 - index)] as const,
  )
  const drawn = picture(rows)
  t.match(drawn, { kind: 'bars', omitted: 10 })
  t.equal(drawn?.kind === 'bars' && drawn.points.length, 30)
  t.match(drawn, { points: [{ name: 'Company No 0', yText: '40' }] })
  const few = picture(rows.slice(0, 3))
  t.match(few, { kind: 'bars', omitted: 0 })
  t.end()
})

await t.test('of many companies over years, the largest are lines', (t) => {
  const drawn = picture(
    Array.from({ length: 10 }, (_, index) =>
      [2023, 2024].map((year) => [`i${index}`, year, null, String(index * year)] as const),
    ).flat(),
  )
  t.match(drawn, { kind: 'lines', omitted: 4 })
  t.same(drawn?.kind === 'lines' && drawn.series.map(({ name }) => name), [
    ...['i4', 'i5', 'i6', 'i7', 'i8', 'i9'],
  ])
  t.end()
})

// Guarantee: what is largest over all times is drawn, whatever its last value is.
await t.test('the largest series by total are drawn, also one that ended early', (t) => {
  const rows = Array.from({ length: 8 }, (_, index) =>
    [2023, 2024].map((year) => [`i${index}`, year, null, String(10 + index)] as const),
  ).flat()
  const drawn = picture([...rows, ['old', 2022, null, '1000'], ['old', 2023, null, '1']])
  t.match(drawn, { kind: 'lines', omitted: 3 })
  t.ok(drawn?.kind === 'lines' && drawn.series.some(({ name }) => name === 'old'))
  t.end()
})

await t.test('of many bars the largest are drawn, at any position', (t) => {
  const rows = Array.from(
    { length: 40 },
    (_, index) => [`i${index}`, 2024, `Company No ${index}`, String(index)] as const,
  )
  const drawn = picture(rows)
  const names = drawn?.kind === 'bars' ? drawn.points.map(({ name }) => name) : []
  t.equal(names[0], 'Company No 10')
  t.equal(names.at(-1), 'Company No 39')
  t.end()
})

// Guarantee: a value in short is that of its unit: 4 trillion roubles in thousands are no 4 billion.
await t.test('the number in a unit multiplies the value', (t) => {
  for (const [unit, factor, rest] of [
    ['thousand RUB', 1e3, 'RUB'],
    ['тыс. руб.', 1e3, 'руб.'],
    ['тысяч человек', 1e3, 'человек'],
    ['million RUB', 1e6, 'RUB'],
    ['млн руб.', 1e6, 'руб.'],
    ['billions of RUB', 1e9, 'RUB'],
    ['млрд. руб.', 1e9, 'руб.'],
    ['thousand RUB / people', 1e3, 'RUB / people'],
    ['RUB', 1, 'RUB'],
    ['share', 1, 'share'],
    ['thousand', 1e3, ''],
    ['тыс руб.', 1e3, 'руб.'],
    ['RUB, millions', 1e6, 'RUB'],
    ['руб., млн', 1e6, 'руб.'],
    ['трлн руб.', 1e12, 'руб.'],
    ['тысячелистник', 1, 'тысячелистник'],
    ['тыс.руб.', 1e3, 'руб.'],
    ['births per thousand', 1, 'births per thousand'],
    ['случаев на 100 тыс.', 1, 'случаев на 100 тыс.'],
    ['', 1, ''],
  ] as const) {
    t.same(unitScale(unit), { factor, unit: rest }, unit)
  }
  t.end()
})

// Guarantee: 3,453,224,535 thousand roubles are never "4 billion".
await t.test('a value in short is its value times its unit, to three digits', (t) => {
  const units = [
    ['тыс. руб.', 1e3],
    ['млн руб.', 1e6],
    ['руб.', 1],
    ['billion RUB', 1e9],
    ['share', 1],
    ['people', 1],
  ] as const
  const value = fc.oneof(
    fc.integer({ min: -9_999_999_999, max: 9_999_999_999 }),
    fc.integer({ min: -99_999, max: 99_999 }),
    fc.double({ min: 0.001, max: 1, noNaN: true }),
  )
  const property = fc.property(
    fc.constantFrom(...units),
    value,
    fc.constantFrom('ru', 'en'),
    ([unit, factor], number, locale) => {
      const { write, writeExact } = shortValues(locale, unit)
      if (Math.abs(number * factor) >= 1e15) return
      for (const text of [write(number), writeExact(String(number))]) {
        const error = Math.abs(readShort(text, locale) - number * factor)
        if (error > Math.abs(number * factor) * 0.005 + 1e-9) {
          throw new Error(`${number} ${unit} is written as ${text}`)
        }
      }
    },
  )
  fc.assert(property, { numRuns: 2000 })
  const { write, unit } = shortValues('ru', 'тыс. руб.')
  t.equal(unit, 'руб.')
  t.equal(write(3_453_224_535).replace(/\s/g, ' '), '3,45 трлн ₽')
  t.equal(shortValues('en', 'thousand RUB').write(-3_453_224_535), '\u22123.45T\u00a0₽')
  t.equal(shortValues('en', 'share').write(0.125), '12.5%')
  t.equal(shortValues('en', 'people').writeExact('1234'), '1234')
  t.end()
})

// Guarantee: what is not drawn by itself is smaller than all that is, and nothing is lost.
await t.test('the largest groups by total are drawn, and all the rest is their sum', (t) => {
  const group = fc.record({
    values: fc.dictionary(fc.constantFrom('2022', '2023', '2024'), fc.integer({ min: 0 }), {
      minKeys: 1,
    }),
  })
  const property = fc.property(fc.array(group, { minLength: 2, maxLength: 60 }), (groups) => {
    const points = groups.flatMap(({ values }, index) =>
      Object.entries(values).map(([year, y]) => {
        return { name: `g${index}`, x: Number(year), y, xText: year, yText: String(y) }
      }),
    )
    const drawn = pictureOf(points, { other: 'Other' })
    if (drawn?.kind !== 'lines' && drawn?.kind !== 'bars') return
    const own = drawn.kind === 'lines' ? drawn.series.flatMap((each) => each.points) : drawn.points
    const totalOf = (all: readonly { readonly y: number }[]) =>
      all.reduce((sum, { y }) => sum + y, 0)
    if (totalOf(own) !== totalOf(points)) throw new Error('values are lost')
    const names = new Set(
      drawn.kind === 'lines' ? drawn.series.map(({ name }) => name) : own.map(({ name }) => name),
    )
    if (names.size > (drawn.kind === 'lines' ? 6 : 30)) throw new Error('too many')
    if (names.has('Other') !== drawn.hasOther) throw new Error('the rest has no name')
    const totals = groups.map((_, index) => {
      return [`g${index}`, totalOf(points.filter(({ name }) => name === `g${index}`))] as const
    })
    const least = Math.min(...totals.flatMap(([name, total]) => (names.has(name) ? total : [])))
    const left = totals.filter(([name]) => !names.has(name))
    if (left.length !== drawn.omitted) throw new Error('the caption counts others')
    if (left.some(([, total]) => total > least)) throw new Error('a larger group is left out')
  })
  fc.assert(property, { numRuns: 500 })
  t.end()
})

await t.test('what does not add up has no sum of the rest', (t) => {
  const points = Array.from({ length: 40 }, (_, index) => {
    return { name: `g${index}`, x: null, y: index, xText: '', yText: String(index) }
  })
  t.match(pictureOf(points), { omitted: 10, hasOther: false })
  t.match(pictureOf(points, { other: 'Other' }), { omitted: 11, hasOther: true })
  t.end()
})

await t.test('a column with repeated values is not a name, and neither are codes', (t) => {
  const rows = rowsOf([
    ['a', 2021, 'North', '1'],
    ['b', 2021, 'North', '2'],
  ])
  const chart = { rows, columns, time: 'year' }
  t.same(rows.map(entityNames(chart)), ['a', 'b'])
  const numbers = rowsOf([
    ['a', 2021, '101', '1'],
    ['b', 2021, '102', '2'],
  ])
  t.same(numbers.map(entityNames({ ...chart, rows: numbers })), ['a', 'b'])
  const contracts = rowsOf([
    ['a', 2021, 'Supplier one', '1'],
    ['a', 2021, 'Supplier two', '2'],
    ['b', 2021, 'Supplier three', '2'],
  ])
  t.same(contracts.map(entityNames({ ...chart, rows: contracts })), ['a', 'a', 'b'])
  t.same(contracts.map(entityNames({ rows, columns: [amount], time: '' })), ['', '', ''])
  t.end()
})

await t.test('times are read in every form; rows without one are not drawn', (t) => {
  const time = column('at')
  const x = (text: string) => {
    const rows = readExactRows(`{"data":[{"at":${text},"2110":1}]}`)
    return pointsOf({ rows, columns: [time, amount], time: 'at' }, amount, () => '')[0]?.x
  }
  t.equal(x('2024'), 2024)
  t.equal(x('"2024-Q2"'), Date.UTC(2024, 3))
  t.equal(x('"2024-04"'), Date.UTC(2024, 3))
  t.equal(x('"2024-04-01"'), Date.UTC(2024, 3))
  t.equal(x('null'), undefined)
  t.equal(pictureOf([]), null)
  t.end()
})
