import type { Point, Series, Time } from '../../chart/line-shapes.js'
import type { Cell, Row } from '../question/exact-rows.js'
import { shownDigits } from '../question/page-column.js'
import type { PageColumn } from '../question/page-column.js'

/** Rows to draw, with the columns that they have. */
export interface ChartRows {
  readonly rows: readonly Row[]
  readonly columns: readonly PageColumn[]
  /** The column of times, if it is among them. */
  readonly time: string
}

/** A point, and the row that it is of; a sum is of none. */
export interface RowPoint extends Point {
  readonly row?: Row
}

/** What is drawn of the points: bars of one time, or lines over several times. */
export type Picture =
  | (Omitted & { readonly kind: 'bars'; readonly points: readonly RowPoint[] })
  | (Omitted & {
      readonly kind: 'lines'
      readonly series: readonly Series[]
      /** Each series has one value at a time, so that a line can join them. */
      readonly isJoined: boolean
    })
  /** The rows that are missing may be larger, or belong to what would be drawn. */
  | { readonly kind: 'unknown' }

/** Which rows of a question points are of: all, the largest by the drawn column, or others. */
export type Part = 'all' | 'largest' | 'some'

interface PictureChoice {
  /** The name of the sum of the rest; null = it is not drawn. */
  readonly other?: string | null
  readonly part?: Part
}

interface Omitted {
  /** How many of the points or series have no picture of their own. */
  readonly omitted: number
  /** They are drawn as one, their sum, which comes last. */
  readonly hasOther: boolean
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
): readonly RowPoint[] {
  const { rows, columns, time } = chart
  const hasTimes = columns.some(({ name }) => name === time)
  return rows.flatMap((row) => {
    const value = row.get(drawn.name)
    const y = value?.kind === 'number' ? Number(value.text) : NaN
    const over = hasTimes ? row.get(time) : undefined
    const x = over ? timeOf(over) : null
    if (!value || !Number.isFinite(y) || Number.isNaN(x)) return []
    return [
      {
        name: nameOf(row),
        x,
        y,
        xText: over?.text ?? '',
        yText: shownDigits(drawn, value.text),
        row,
      },
    ]
  })
}

/** The time of each row, with a value or without. */
export function timesOf({ rows, time }: ChartRows): readonly Time[] {
  return rows.flatMap((row) => {
    const over = row.get(time)
    const x = over ? timeOf(over) : NaN
    return over && !Number.isNaN(x) ? [{ x, xText: over.text }] : []
  })
}

/** A year, or milliseconds since 1970; NaN for what is no time. */
function timeOf({ kind, text }: Cell): number {
  if (kind === 'number') return Number(text)
  const [, year, quarter] = /^(\d{4})-Q([1-4])$/.exec(text) ?? []
  if (year === undefined) return Date.parse(text)
  return Date.UTC(Number(year), (Number(quarter) - 1) * 3)
}

/**
 * Chooses what to draw; null if there is nothing to compare. The largest by total are drawn; with a
 * name in `other`, the rest is added up under it. Of a part of the rows, only the largest of one
 * time are known to be so.
 */
export function pictureOf(
  points: readonly RowPoint[],
  { other = null, part = 'all' }: PictureChoice = {},
): Picture | null {
  if (points.length < 2) return null
  const times = new Set(points.map(({ x }) => x))
  if (part === 'some' || (part === 'largest' && times.size > 1)) return { kind: 'unknown' }
  if (times.size === 1) {
    const size = ({ y }: RowPoint) => (part === 'all' ? Math.abs(y) : y)
    const { shown, rest } = largest(points, size, barsMax, other !== null)
    const sum = other === null ? [] : sumsByTime(rest, other)
    return { kind: 'bars', points: [...shown, ...sum], ...omittedOf(rest, other) }
  }
  const byName = new Map<string, Point[]>()
  for (const point of points) byName.set(point.name, [...(byName.get(point.name) ?? []), point])
  const all = [...byName].map(([name, own]) => ({
    name,
    points: own.toSorted((left, right) => (left.x ?? 0) - (right.x ?? 0)),
  }))
  const total = ({ points: own }: Series) => own.reduce((sum, { y }) => sum + Math.abs(y), 0)
  const { shown, rest } = largest(all, total, seriesMax, other !== null)
  const isJoined = shown.every(
    ({ points: own }) => new Set(own.map(({ x }) => x)).size === own.length,
  )
  const series =
    other === null || rest.length === 0
      ? shown
      : [
          ...shown,
          {
            name: other,
            points: sumsByTime(
              rest.flatMap((each) => each.points),
              other,
            ),
          },
        ]
  return { kind: 'lines', series, ...omittedOf(rest, other), isJoined }
}

function omittedOf(rest: readonly unknown[], other: string | null): Omitted {
  return { omitted: rest.length, hasOther: other !== null && rest.length > 0 }
}

/** The largest of a list, in its order, and the rest, for which one place may be kept. */
function largest<T>(
  all: readonly T[],
  size: (each: T) => number,
  max: number,
  keepsPlace: boolean,
): { readonly shown: readonly T[]; readonly rest: readonly T[] } {
  const count = keepsPlace && all.length > max ? max - 1 : max
  const kept = new Set(all.toSorted((left, right) => size(right) - size(left)).slice(0, count))
  return {
    shown: all.filter((each) => kept.has(each)),
    rest: all.filter((each) => !kept.has(each)),
  }
}

/** One point for each time, from left to right: the sum of its values, exact for whole numbers. */
function sumsByTime(points: readonly Point[], name: string): readonly Point[] {
  const byTime = new Map<number | null, Point[]>()
  for (const point of points) byTime.set(point.x, [...(byTime.get(point.x) ?? []), point])
  const sums = [...byTime].map(([x, own]): Point => {
    const isWhole = own.every(({ yText }) => /^-?\d+$/.test(yText))
    const y = own.reduce((sum, each) => sum + each.y, 0)
    const exact = isWhole ? own.reduce((sum, each) => sum + BigInt(each.yText), 0n) : y
    return { name, x, y, xText: own[0]?.xText ?? '', yText: String(exact) }
  })
  return sums.toSorted((left, right) => (left.x ?? 0) - (right.x ?? 0))
}
