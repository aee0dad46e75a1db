import { chartHeight as height, lineShapes } from '../../chart/line-shapes.js'
import type { LineChart, Point, Series, Shape } from '../../chart/line-shapes.js'
import type { ShortValues } from '../../chart/short-values.js'
import { element, svgElement } from '../element.js'
import { words } from '../page-words.js'

interface DescribedChart extends LineChart {
  readonly title: string
  /** Names a series that has no name. */
  readonly label: string
  readonly short: ShortValues
}

/** Draws series over time, and describes them in text below. */
export function lineChart(chart: DescribedChart): readonly Element[] {
  const { series, title, label, width, short } = chart
  return [
    svgElement(
      'svg',
      { role: 'img', 'aria-label': title, viewBox: `0 0 ${width} ${height}`, width, height },
      ...lineShapes(chart).map(drawn),
    ),
    element(
      'ul',
      { class: 'legend' },
      ...series.map((each, index) => legendItem(each, index, label, short)),
    ),
  ]
}

function drawn(shape: Shape): Element {
  switch (shape.kind) {
    case 'line': {
      const { name, x1, x2, y } = shape
      return svgElement('line', { class: name, x1, x2, y1: y, y2: y })
    }
    case 'text': {
      const { x, y, anchor, text } = shape
      return svgElement('text', { x, y, 'text-anchor': anchor }, text)
    }
    case 'path':
      return svgElement('polyline', { class: `s${shape.series}`, points: shape.points })
    case 'point': {
      const { series, x, y, title } = shape
      const circle = { class: `s${series}`, cx: x, cy: y, r: 3.5 }
      return svgElement('circle', circle, svgElement('title', {}, title))
    }
  }
}

function legendItem(
  { name, points }: Series,
  index: number,
  label: string,
  { writeExact }: ShortValues,
): HTMLElement {
  const [first, last] = [points.at(0), points.at(-1)]
  const shownName = name === '' ? label : name
  const shown = (point: Point | undefined) =>
    point ? `${writeExact(point.yText)} (${point.xText})` : words.empty
  return element(
    'li',
    {},
    svgElement(
      'svg',
      { class: 'key', viewBox: '0 0 12 12', 'aria-hidden': 'true' },
      svgElement('circle', { class: `s${index}`, cx: 6, cy: 6, r: 5 }),
    ),
    first === last
      ? `${shownName}: ${shown(first)}`
      : words.chartRange(shownName, shown(first), shown(last)),
  )
}
