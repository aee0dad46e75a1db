import { element, svgElement } from '../element.js'
import { words } from '../page-words.js'
import type { PageColumn } from './page-column.js'
import type { Point, Series } from './series.js'

const height = 260
const margin = { top: 12, right: 16, bottom: 28, left: 64 } as const
const ticksWanted = 4
const letterWidth = 8
const barWidthMax = 64

interface Scale {
  readonly x: (point: Point) => number
  readonly y: (value: number) => number
  readonly width: number
}

/**
 * Draws the series and describes them in text below. Draws lines if each series has one value at a
 * time, bars if there is only one time, points otherwise.
 */
export function chart(
  series: readonly Series[],
  drawn: PageColumn,
  history: string,
  width: number,
): HTMLElement {
  const points = series.flatMap((each) => each.points)
  const ends = {
    low: Math.min(0, ...points.map(({ y }) => y)),
    high: Math.max(0, ...points.map(({ y }) => y)),
  }
  const scale = scaleOf(points, ends, width)
  const what = [drawn.name, drawn.description].filter((text) => text !== '').join(' · ')
  const title = words.chartTitle(what, history)
  const picture = svgElement(
    'svg',
    { role: 'img', 'aria-label': title, viewBox: `0 0 ${width} ${height}`, width, height },
    ...yAxis(ends, scale),
    ...xAxis(points, scale),
    ...marks(series, scale),
  )
  const unit = drawn.unit === '' ? '' : `, ${drawn.unit}`
  return element(
    'figure',
    { class: 'chart' },
    element('figcaption', {}, `${title}${unit}`),
    picture,
    element(
      'ul',
      { class: 'legend' },
      ...series.map((each, index) => legendItem(each, index, drawn)),
    ),
  )
}

function scaleOf(
  points: readonly Point[],
  { low, high }: { readonly low: number; readonly high: number },
  width: number,
): Scale {
  const xs = points.map(({ x }) => x)
  const [first, last] = [Math.min(...xs), Math.max(...xs)]
  const inner = width - margin.left - margin.right
  const room = height - margin.top - margin.bottom
  const share = (x: number) => (last === first ? 0.5 : (x - first) / (last - first))
  return {
    x: ({ x }) => margin.left + 12 + share(x) * (inner - 24),
    y: (value) => margin.top + room - ((value - low) / (high - low || 1)) * room,
    width,
  }
}

function yAxis(
  { low, high }: { readonly low: number; readonly high: number },
  { y, width }: Scale,
): readonly Element[] {
  const { lang } = document.documentElement
  const format = new Intl.NumberFormat(lang, { notation: 'compact', maximumFractionDigits: 2 })
  const step = niceStep((high - low) / ticksWanted)
  const from = Math.ceil(low / step)
  const count = Math.floor(high / step) - from + 1
  return Array.from({ length: count }, (_, index) => (from + index) * step).flatMap((value) => [
    svgElement('line', {
      class: value === 0 ? 'axis' : 'grid',
      x1: margin.left,
      x2: width - margin.right,
      y1: y(value),
      y2: y(value),
    }),
    svgElement(
      'text',
      { x: margin.left - 8, y: y(value) + 4, 'text-anchor': 'end' },
      format.format(value),
    ),
  ])
}

/** 1, 2 or 5 times a power of ten. */
function niceStep(wanted: number): number {
  if (!(wanted > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(wanted))
  return power * ([1, 2, 5].find((each) => each * power >= wanted) ?? 10)
}

function xAxis(points: readonly Point[], { x, width }: Scale): readonly Element[] {
  const known = new Map(points.map((point) => [point.xText, point]))
  const ordered = [...known.values()].toSorted((left, right) => left.x - right.x)
  const letters = Math.max(0, ...ordered.map(({ xText }) => tickText(xText).length)) + 2
  const room = width - margin.left - margin.right
  const every = Math.ceil((ordered.length * letters * letterWidth) / room)
  const shown = ordered.filter((_, index) => index % every === 0)
  return shown.map((point) =>
    svgElement(
      'text',
      { x: x(point), y: height - 8, 'text-anchor': 'middle' },
      tickText(point.xText),
    ),
  )
}

function tickText(text: string): string {
  return text.slice(0, 'YYYY-MM-DD'.length)
}

function marks(series: readonly Series[], scale: Scale): readonly Element[] {
  const xs = new Set(series.flatMap(({ points }) => points.map(({ x }) => x)))
  const isSingle = series.every(
    ({ points }) => new Set(points.map(({ x }) => x)).size === points.length,
  )
  if (isSingle && xs.size === 1) return series.map((each, index) => bar(each, index, series, scale))
  return series.flatMap(({ points }, index) => [
    ...(isSingle ? [line(points, index, scale)] : []),
    ...points.map((point) =>
      svgElement(
        'circle',
        { class: `s${index}`, cx: scale.x(point), cy: scale.y(point.y), r: 3.5 },
        svgElement('title', {}, `${point.xText}: ${point.yText}`),
      ),
    ),
  ])
}

function line(points: readonly Point[], index: number, { x, y }: Scale): Element {
  const path = points.map((point) => `${x(point)},${y(point.y)}`).join(' ')
  return svgElement('polyline', { class: `s${index}`, points: path })
}

function bar(
  { points }: Series,
  index: number,
  { length }: readonly Series[],
  { y, width }: Scale,
): Element {
  const value = points[0]?.y ?? 0
  const room = (width - margin.left - margin.right) / length
  const wide = Math.min(barWidthMax, room * 0.7)
  return svgElement('rect', {
    class: `s${index}`,
    x: margin.left + room * (index + 0.5) - wide / 2,
    width: wide,
    y: Math.min(y(value), y(0)),
    height: Math.abs(y(value) - y(0)),
  })
}

function legendItem({ name, points }: Series, index: number, drawn: PageColumn): HTMLElement {
  const [first, last] = [points.at(0), points.at(-1)]
  const shown = (point: Point | undefined) =>
    point
      ? `${drawn.unit === '' ? point.yText : words.digits(point.yText)} (${point.xText})`
      : words.empty
  return element(
    'li',
    {},
    svgElement(
      'svg',
      { class: 'key', viewBox: '0 0 12 12', 'aria-hidden': 'true' },
      svgElement('circle', { class: `s${index}`, cx: 6, cy: 6, r: 5 }),
    ),
    words.chartRange(name, shown(first), shown(last)),
  )
}
