import type { Cell } from './exact-page.js'
import type { PageColumn } from './page-column.js'

type Row = ReadonlyMap<string, Cell>

export interface Point {
  /** For the position only; `xText` and `yText` are exact. */
  readonly x: number
  readonly y: number
  readonly xText: string
  readonly yText: string
}

export interface Series {
  readonly name: string
  /** From left to right. */
  readonly points: readonly Point[]
}

const seriesMax = 6

/** The numeric columns that can be drawn over the history column, amounts first. */
export function drawable(columns: readonly PageColumn[], history: string): readonly PageColumn[] {
  if (!columns.some(({ name }) => name === history)) return []
  return columns
    .filter(({ name, type }) => name !== history && (type === 'number' || type === 'integer'))
    .toSorted((left, right) => Number(left.unit === '') - Number(right.unit === ''))
}

/**
 * Groups a numeric column over the history column into series, one for each value of the first
 * text column with at most six values. Without such a column, all points form one series.
 */
export function seriesOf(
  rows: readonly Row[],
  columns: readonly PageColumn[],
  history: string,
  drawn: PageColumn,
): readonly Series[] {
  const groups = columns
    .filter(({ type, name }) => type === 'string' && name !== history)
    .find(({ name }) => new Set(rows.map((row) => row.get(name)?.text)).size <= seriesMax)
  const series = new Map<string, Point[]>()
  for (const row of rows) {
    const point = pointOf(row.get(history), row.get(drawn.name))
    if (!point) continue
    const name = (groups && row.get(groups.name)?.text) || drawn.name
    series.set(name, [...(series.get(name) ?? []), point])
  }
  return [...series].map(([name, points]) => ({
    name,
    points: points.toSorted((left, right) => left.x - right.x),
  }))
}

function pointOf(over: Cell | undefined, value: Cell | undefined): Point | undefined {
  if (!over || value?.kind !== 'number') return undefined
  const x = over.kind === 'number' ? Number(over.text) : Date.parse(over.text)
  const y = Number(value.text)
  if (!Number.isFinite(x) || !Number.isFinite(y)) return undefined
  return { x, y, xText: over.text, yText: value.text }
}
