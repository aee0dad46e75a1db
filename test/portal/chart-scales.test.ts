import fc from 'fast-check'
import t from 'tap'
import { barSpans } from '../../src/portal/chart/bar-spans.js'
import { lineShapes } from '../../src/portal/chart/line-shapes.js'

// Guarantee: a picture has the proportions of its numbers, on an axis with zero, and a line never
// crosses a year without a value.

const value = fc.double({ min: -1e15, max: 1e15, noNaN: true })

await t.test('bars begin at zero, and are as long as their values', (t) => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 30 }), (values) => {
      const spans = barSpans(values)
      const room = Math.max(0, ...values) - Math.min(0, ...values) || 1
      return spans.every(({ start, length }, at) => {
        const isInside = start > -1e-9 && start + length < 1 + 1e-9
        return isInside && Math.abs(length * room - Math.abs(values[at] ?? 0)) <= room * 1e-9
      })
    }),
  )
  t.end()
})

await t.test('a line joins neighbouring years only, and higher values are higher', (t) => {
  const some = fc.array(fc.option(value), { minLength: 2, maxLength: 12 })
  fc.assert(
    fc.property(some, (values) => {
      const times = values.map((_, at) => ({ x: 2000 + at, xText: String(2000 + at) }))
      const points = values.flatMap((y, at) =>
        y === null ? [] : [{ name: '', x: 2000 + at, xText: `${2000 + at}`, y, yText: `${y}` }],
      )
      const series = [{ name: '', points }]
      const short = { write: String, exact: String }
      const shapes = lineShapes({ series, times, isJoined: true, width: 760, short })
      const places = shapes.flatMap((shape) => (shape.kind === 'point' ? [shape] : []))
      const joined = shapes.flatMap((shape) =>
        shape.kind === 'path' ? [shape.points.split(' ').length - 1] : [],
      )
      const pairs = values.filter((y, at) => at > 0 && y !== null && values[at - 1] !== null)
      const isOrdered = places.every(({ y }, at) =>
        places.every((other, index) => {
          const [mine = 0, its = 0] = [points[at]?.y, points[index]?.y]
          return mine <= its || y <= other.y
        }),
      )
      const steps = joined.reduce((sum, each) => sum + each, 0)
      return places.length === points.length && isOrdered && steps === pairs.length
    }),
    { examples: [[[5e-324, -1e-323]], [[1e-322, 4e-322]], [[2e-308, 0]]] },
  )
  t.end()
})
