import type { Cell, Row } from '../question/exact-rows.js'
import type { PageColumn } from '../question/page-column.js'

/** Rows to draw, with the columns that they have. */
export interface ChartRows {
  readonly rows: readonly Row[]
  readonly columns: readonly PageColumn[]
  /** The column of times, if it is among them. */
  readonly time: string
}

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

export interface Series {
  readonly name: string
  /** From left to right. */
  readonly points: readonly Point[]
}

/** What is drawn of the points: bars of one time, or lines over several times. */
export type Picture =
  | { readonly kind: 'bars'; readonly points: readonly Point[]; readonly omitted: number }
  | {
      readonly kind: 'lines'
      readonly series: readonly Series[]
      readonly omitted: number
      /** Each series has one value at a time, so that a line can join them. */
      readonly isJoined: boolean
    }

const seriesMax = 6
const barsMax = 30

/** The columns that can be drawn, amounts first. */
export function drawable({ columns, time }: ChartRows): readonly PageColumn[] {
  return columns
    .filter(({ name, isQuantity }) => isQuantity && name !== time)
    .toSorted((left, right) => Number(left.unit === '') - Number(right.unit === ''))
}

/** The points of a column; rows in which it or the time is empty have none. */
export function pointsOf(
  chart: ChartRows,
  drawn: PageColumn,
  nameOf: (row: Row) => string,
): readonly Point[] {
  const { rows, columns, time } = chart
  const hasTimes = columns.some(({ name }) => name === time)
  return rows.flatMap((row) => {
    const value = row.get(drawn.name)
    const y = value?.kind === 'number' ? Number(value.text) : NaN
    const over = hasTimes ? row.get(time) : undefined
    const x = over ? timeOf(over) : null
    if (!value || !Number.isFinite(y) || Number.isNaN(x)) return []
    return [{ name: nameOf(row), x, y, xText: over?.text ?? '', yText: value.text }]
  })
}

/** A year, or milliseconds since 1970; NaN for what is no time. */
function timeOf({ kind, text }: Cell): number {
  if (kind === 'number') return Number(text)
  const [, year, quarter] = /^(\d{4})-Q([1-4])$/.exec(text) ?? []
  if (year === undefined) return Date.parse(text)
  return Date.UTC(Number(year), (Number(quarter) - 1) * 3)
}

/** Chooses what to draw; null if there is nothing to compare. */
export function pictureOf(points: readonly Point[]): Picture | null {
  if (points.length < 2) return null
  const times = new Set(points.map(({ x }) => x))
  if (times.size === 1) {
    const shown = largest(points, ({ y }) => Math.abs(y), barsMax)
    return { kind: 'bars', points: shown, omitted: points.length - shown.length }
  }
  const byName = new Map<string, Point[]>()
  for (const point of points) byName.set(point.name, [...(byName.get(point.name) ?? []), point])
  const all = [...byName].map(([name, own]) => ({
    name,
    points: own.toSorted((left, right) => (left.x ?? 0) - (right.x ?? 0)),
  }))
  const total = ({ points: own }: Series) => own.reduce((sum, { y }) => sum + Math.abs(y), 0)
  const series = largest(all, total, seriesMax)
  const isJoined = series.every(
    ({ points: own }) => new Set(own.map(({ x }) => x)).size === own.length,
  )
  return { kind: 'lines', series, omitted: all.length - series.length, isJoined }
}

/** The largest of a list, in its order. */
function largest<T>(all: readonly T[], size: (each: T) => number, max: number): readonly T[] {
  const kept = new Set(all.toSorted((left, right) => size(right) - size(left)).slice(0, max))
  return all.filter((each) => kept.has(each))
}
