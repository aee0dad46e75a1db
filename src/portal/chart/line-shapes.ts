import type { ShortValues } from './short-values.js'

/** A value to draw. The numbers are for positions only; the texts are exact. */
export interface Point {
  /** What the value is of: a company, a class of codes; empty if the rows have no such column. */
  readonly name: string
  /** Null if the rows have no times. */
  readonly x: number | null
  readonly y: number
  readonly xText: string
  readonly yText: string
}

/** A time that may have no value. */
export type Time = Pick<Point, 'x' | 'xText'>

export interface Series {
  readonly name: string
  /** From left to right. */
  readonly points: readonly Point[]
}

/** Series over time, and the texts of their picture. */
export interface LineChart {
  readonly series: readonly Series[]
  /** The times that were asked for, with a value or without. */
  readonly times: readonly Time[]
  /** Each series has one value at a time, so that a line can join them. */
  readonly isJoined: boolean
  /** In pixels. */
  readonly width: number
  readonly short: Pick<ShortValues, 'write' | 'exact'>
}

/** A part of a picture, in pixels. */
export type Shape =
  | {
      readonly kind: 'line'
      readonly name: 'axis' | 'grid'
      readonly x1: number
      readonly x2: number
      readonly y: number
    }
  | {
      readonly kind: 'text'
      readonly x: number
      readonly y: number
      readonly anchor: 'middle' | 'end'
      readonly text: string
    }
  | { readonly kind: 'path'; readonly series: number; readonly points: string }
  | {
      readonly kind: 'point'
      readonly series: number
      readonly x: number
      readonly y: number
      readonly title: string
    }

/** The height of each picture, in pixels. */
export const chartHeight = 260
const margin = { top: 12, bottom: 28 } as const
const ticksWanted = 4
/** The room of one letter of the labels, at least. */
const letterWidth = 7.5
const labelGap = 12
const pointInset = 12

interface Scale {
  readonly x: (time: Time) => number
  readonly y: (value: number) => number
  /** Where the plot begins and ends. */
  readonly left: number
  readonly right: number
}

/**
 * The picture of series over time. Its axis has zero and every value; a line ends where a series
 * has no value at a time that is drawn, or in a year.
 */
export function lineShapes(chart: LineChart): readonly Shape[] {
  const { series, isJoined, width, short } = chart
  const points = series.flatMap((each) => each.points)
  const asked = [...chart.times, ...points]
  const ticks = yTicks(points.map(({ y }) => y))
  const scale = scaleOf(asked, ticks.map(short.write), ticks, width)
  const times = timesOf(asked)
  return [
    ...ticks.flatMap((value) => yTick(value, short.write(value), scale)),
    ...xLabels(asked, scale, width),
    ...series.flatMap(({ points: own }, index) => [
      ...(isJoined ? runsOf(own, times).map((run) => pathOf(run, index, scale)) : []),
      ...own.map((point) => markOf(point, index, scale, short)),
    ]),
  ]
}

/** Round values from below the least point, and zero, to above the greatest. */
function yTicks(values: readonly number[]): readonly number[] {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  const step = niceStep((high - low) / ticksWanted)
  const [first, last] = [Math.floor(low / step), Math.ceil(high / step)]
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}

/** Less than this is zero. */
const leastPower = 1e-323

/** 1, 2 or 5 times a power of ten. */
function niceStep(wanted: number): number {
  if (!(wanted > 0)) return 1
  const power = Math.max(10 ** Math.floor(Math.log10(wanted)), leastPower)
  return power * ([1, 2, 5].find((each) => each * power >= wanted) ?? 10)
}

function scaleOf(
  times: readonly Time[],
  tickTexts: readonly string[],
  ticks: readonly number[],
  width: number,
): Scale {
  const xs = times.map(({ x }) => x ?? 0)
  const [first, last] = [Math.min(...xs), Math.max(...xs)]
  const [low = 0, high = 1] = [ticks.at(0), ticks.at(-1)]
  const letters = Math.max(...tickTexts.map(({ length }) => length))
  const left = letters * letterWidth + labelGap
  const lettersBelow = Math.max(...times.map(({ xText }) => tickText(xText).length))
  const right = width - Math.max(0, (lettersBelow * letterWidth) / 2 - pointInset) - 1
  const room = right - left - 2 * pointInset
  const tall = chartHeight - margin.top - margin.bottom
  return {
    x: ({ x }) => left + pointInset + (((x ?? 0) - first) / (last - first || 1)) * room,
    y: (value) => margin.top + tall - ((value - low) / (high - low || 1)) * tall,
    left,
    right,
  }
}

function yTick(value: number, text: string, { y, left, right }: Scale): readonly Shape[] {
  return [
    { kind: 'line', name: value === 0 ? 'axis' : 'grid', x1: left, x2: right, y: y(value) },
    { kind: 'text', x: left - 8, y: y(value) + 4, anchor: 'end', text },
  ]
}

/** The times, without those for which there is no room beside the one before. */
function xLabels(times: readonly Time[], { x }: Scale, width: number): readonly Shape[] {
  const places = new Map(times.map((time) => [tickText(time.xText), x(time)]))
  const ordered = [...places].toSorted(([, left], [, right]) => left - right)
  let free = 0
  return ordered.flatMap(([text, place]): readonly Shape[] => {
    const half = (text.length * letterWidth) / 2
    if (place - half < free || place + half > width) return []
    free = place + half + labelGap
    return [{ kind: 'text', x: place, y: chartHeight - 8, anchor: 'middle', text }]
  })
}

function tickText(text: string): string {
  return text.slice(0, 'YYYY-MM-DD'.length)
}

/** Years are numbers below this; other times are milliseconds. */
const yearsMax = 10_000

/** Where a series may have a value: each time that was asked for, and of years each between. */
function timesOf(asked: readonly Time[]): readonly number[] {
  const drawn = [...new Set(asked.map(({ x }) => x ?? 0))].toSorted((left, right) => left - right)
  const [first = 0, last = 0] = [drawn[0], drawn.at(-1)]
  if (!drawn.every((time) => Number.isInteger(time) && Math.abs(time) < yearsMax)) return drawn
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/** The parts of a series between its gaps. */
function runsOf(points: readonly Point[], times: readonly number[]): readonly (readonly Point[])[] {
  const places = new Map(times.map((time, index) => [time, index]))
  const runs: Point[][] = []
  let next = NaN
  for (const point of points) {
    const place = places.get(point.x ?? 0) ?? NaN
    if (place === next) runs.at(-1)?.push(point)
    else runs.push([point])
    next = place + 1
  }
  return runs.filter(({ length }) => length > 1)
}

function pathOf(points: readonly Point[], series: number, { x, y }: Scale): Shape {
  const places = points.map((point) => `${rounded(x(point))},${rounded(y(point.y))}`)
  return { kind: 'path', series, points: places.join(' ') }
}

function markOf(
  point: Point,
  series: number,
  { x, y }: Scale,
  { exact }: LineChart['short'],
): Shape {
  const title = `${point.xText}: ${exact(point.yText)}`
  return { kind: 'point', series, x: rounded(x(point)), y: rounded(y(point.y)), title }
}

function rounded(pixels: number): number {
  return Math.round(pixels * 10) / 10
}
