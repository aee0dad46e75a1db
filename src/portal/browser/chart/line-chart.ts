import { element, svgElement } from '../element.js'
import { words } from '../page-words.js'
import type { Picture, Point, Series } from './points.js'
import type { ShortValues } from './short-values.js'

const height = 260
const margin = { top: 12, bottom: 28 } as const
const ticksWanted = 4
/** The room of one letter of the labels, at least. */
const letterWidth = 7.5
const labelGap = 12
const pointInset = 12

type Lines = Extract<Picture, { kind: 'lines' }>

interface LineTexts {
  readonly title: string
  /** Names a series that has no name. */
  readonly label: string
  /** In pixels. */
  readonly width: number
  readonly short: ShortValues
}

interface Scale {
  readonly x: (point: Point) => number
  readonly y: (value: number) => number
  /** Where the plot begins and ends. */
  readonly left: number
  readonly right: number
}

/** Draws series over time, and describes them in text below. */
export function lineChart(
  { series, isJoined }: Lines,
  { title, label, width, short }: LineTexts,
): readonly Element[] {
  const points = series.flatMap((each) => each.points)
  const ticks = yTicks(points.map(({ y }) => y))
  const scale = scaleOf(points, ticks.map(short.write), ticks, width)
  const picture = svgElement(
    'svg',
    { role: 'img', 'aria-label': title, viewBox: `0 0 ${width} ${height}`, width, height },
    ...ticks.flatMap((value) => yTick(value, short.write(value), scale)),
    ...xLabels(points, scale, width),
    ...series.flatMap(({ points: own }, index) => marks(own, index, isJoined, scale)),
  )
  return [
    picture,
    element(
      'ul',
      { class: 'legend' },
      ...series.map((each, index) => legendItem(each, index, label, short)),
    ),
  ]
}

/** Round values from below the least point, and zero, to above the greatest. */
function yTicks(values: readonly number[]): readonly number[] {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  const step = niceStep((high - low) / ticksWanted)
  const [first, last] = [Math.floor(low / step), Math.ceil(high / step)]
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}

/** 1, 2 or 5 times a power of ten. */
function niceStep(wanted: number): number {
  if (!(wanted > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(wanted))
  return power * ([1, 2, 5].find((each) => each * power >= wanted) ?? 10)
}

function scaleOf(
  points: readonly Point[],
  tickTexts: readonly string[],
  ticks: readonly number[],
  width: number,
): Scale {
  const xs = points.map(({ x }) => x ?? 0)
  const [first, last] = [Math.min(...xs), Math.max(...xs)]
  const [low = 0, high = 1] = [ticks.at(0), ticks.at(-1)]
  const letters = Math.max(...tickTexts.map(({ length }) => length))
  const left = letters * letterWidth + labelGap
  const lettersBelow = Math.max(...points.map(({ xText }) => tickText(xText).length))
  const right = width - Math.max(0, (lettersBelow * letterWidth) / 2 - pointInset) - 1
  const room = right - left - 2 * pointInset
  const tall = height - margin.top - margin.bottom
  return {
    x: ({ x }) => left + pointInset + (((x ?? 0) - first) / (last - first || 1)) * room,
    y: (value) => margin.top + tall - ((value - low) / (high - low || 1)) * tall,
    left,
    right,
  }
}

function yTick(value: number, shown: string, { y, left, right }: Scale): readonly Element[] {
  const place = { x1: left, x2: right, y1: y(value), y2: y(value) }
  const text = { x: left - 8, y: y(value) + 4, 'text-anchor': 'end' }
  return [
    svgElement('line', { class: value === 0 ? 'axis' : 'grid', ...place }),
    svgElement('text', text, shown),
  ]
}

/** The times, without those for which there is no room beside the one before. */
function xLabels(points: readonly Point[], { x }: Scale, width: number): readonly Element[] {
  const places = new Map(points.map((point) => [tickText(point.xText), x(point)]))
  const ordered = [...places].toSorted(([, left], [, right]) => left - right)
  let free = 0
  return ordered.flatMap(([text, place]) => {
    const half = (text.length * letterWidth) / 2
    if (place - half < free || place + half > width) return []
    free = place + half + labelGap
    return [svgElement('text', { x: place, y: height - 8, 'text-anchor': 'middle' }, text)]
  })
}

function tickText(text: string): string {
  return text.slice(0, 'YYYY-MM-DD'.length)
}

function marks(
  points: readonly Point[],
  index: number,
  isJoined: boolean,
  { x, y }: Scale,
): readonly Element[] {
  const path = points.map((point) => `${x(point)},${y(point.y)}`).join(' ')
  return [
    ...(isJoined ? [svgElement('polyline', { class: `s${index}`, points: path })] : []),
    ...points.map((point) =>
      svgElement(
        'circle',
        { class: `s${index}`, cx: x(point), cy: y(point.y), r: 3.5 },
        svgElement('title', {}, `${point.xText}: ${point.yText}`),
      ),
    ),
  ]
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
