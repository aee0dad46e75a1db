import fc from 'fast-check'
import t from 'tap'
import { pictureOf } from '../../src/portal/browser/chart/points.js'
import type { Part, RowPoint } from '../../src/portal/browser/chart/points.js'
import { lineShapes } from '../../src/portal/chart/line-shapes.js'
import { shortValues } from '../../src/portal/chart/short-values.js'
import { readShort } from './fixtures/read-short.js'

// Guarantee: two false pictures can't be drawn. 4 trillion roubles, kept in thousands, stand at no
// mark that says 4 billion; and a picture of a part of the groups is not taken for that of the largest.

const units = [
  ['thousand RUB', 1e3],
  ['тыс. руб.', 1e3],
  ['RUB, millions', 1e6],
  ['млрд руб.', 1e9],
  ['thousand', 1e3],
  ['руб.', 1],
  ['share', 1],
  ['people', 1],
] as const

/** A text is this much below its mark. */
const baseline = 4

await t.test('a value stands where the marks of its axis say its amount in whole units', (t) => {
  const values = fc.array(fc.integer({ min: -9_999_999_999, max: 9_999_999_999 }), {
    minLength: 2,
    maxLength: 8,
  })
  const property = fc.property(
    fc.constantFrom(...units),
    fc.constantFrom('en', 'ru'),
    values,
    ([unit, factor], locale, drawn) => {
      const amounts = unit === 'share' ? drawn.map((each) => each / 1e10) : drawn
      if (amounts.every((each) => each === 0)) return
      const points = amounts.map((y, at) => {
        return { name: '', x: 2000 + at, xText: `${2000 + at}`, y, yText: `${y}` }
      })
      const short = shortValues(locale, unit)
      const series = [{ name: '', points }]
      const shapes = lineShapes({ series, times: points, isJoined: true, width: 760, short })
      const marks = shapes.flatMap((shape) =>
        shape.kind === 'text' && shape.anchor === 'end' ? [shape] : [],
      )
      const said = marks.map(({ text, y }) => ({
        amount: readShort(text, locale),
        y: y - baseline,
      }))
      const [low, high] = [said.at(0), said.at(-1)]
      if (!low || !high || low === high) throw new Error('an axis has two marks')
      const room = high.amount - low.amount
      for (const shape of shapes) {
        if (shape.kind !== 'point') continue
        const at = low.amount + ((low.y - shape.y) / (low.y - high.y)) * room
        const [year = ''] = shape.title.split(':')
        const meant = (amounts[Number(year) - 2000] ?? NaN) * factor
        const error = Math.abs(at - meant) / room
        if (!(error < 0.01)) throw new Error(`${meant} stands at ${at} of ${unit}`)
      }
    },
  )
  fc.assert(property, { numRuns: 500 })
  t.end()
})

interface Group {
  readonly name: string
  readonly year: number
  readonly y: number
}

const years = [2022, 2023, 2024]
const groups = fc
  .array(fc.tuple(fc.constantFrom(...years), fc.integer({ min: -50, max: 50 })), {
    minLength: 2,
    maxLength: 80,
  })
  .map((all) => all.map(([year, y], at): Group => ({ name: `g${Math.floor(at / 3)}`, year, y })))
/** How an answer is sorted: by year, as groups are unless told otherwise, or by the measure. */
const orders = {
  year: (one: Group, other: Group) => one.year - other.year,
  largest: (one: Group, other: Group) => other.y - one.y,
  smallest: (one: Group, other: Group) => one.y - other.y,
} as const

function pointOf({ name, year, y }: Group): RowPoint {
  return { name, x: year, xText: String(year), y, yText: String(y) }
}

await t.test('of an answer that is cut, nothing is drawn that the missing groups outdo', (t) => {
  const property = fc.property(
    groups,
    fc.constantFrom(...(['year', 'largest', 'smallest'] as const)),
    fc.integer({ min: 2, max: 60 }),
    fc.boolean(),
    (all, order, limit, isOneYear) => {
      const asked = isOneYear ? all.filter(({ year }) => year === 2024) : all
      const sorted = asked.toSorted(orders[order])
      const shown = sorted.slice(0, limit)
      const isCut = shown.length < sorted.length
      const part: Part = !isCut ? 'all' : order === 'largest' ? 'largest' : 'some'
      const picture = pictureOf(shown.map(pointOf), { part })
      if (!isCut || picture === null || picture.kind === 'unknown') return
      if (picture.kind === 'lines') throw new Error('points of its lines may be missing')
      const least = Math.min(...picture.points.map(({ y }) => y))
      const drawn = new Set(picture.points.map(({ name, xText }) => `${name} ${xText}`))
      const outdone = sorted.filter(({ name, year, y }) => {
        return !drawn.has(`${name} ${year}`) && y > least
      })
      if (outdone.length > 0) throw new Error(`${outdone[0]?.y} is larger than ${least}`)
    },
  )
  fc.assert(property, { numRuns: 2000 })
  t.end()
})

await t.test('the largest of one time are drawn of a cut answer, others are not', (t) => {
  const points = [5, 4, 3, -9].map((y, at) => pointOf({ name: `g${at}`, year: 2024, y }))
  t.equal(pictureOf(points, { part: 'some' })?.kind, 'unknown')
  t.match(pictureOf(points, { part: 'largest' }), { kind: 'bars', omitted: 0 })
  const years = points.map((point, at) => ({ ...point, x: 2020 + at }))
  t.equal(pictureOf(years, { part: 'largest' })?.kind, 'unknown')
  t.equal(pictureOf([], { part: 'some' }), null)
  t.end()
})
