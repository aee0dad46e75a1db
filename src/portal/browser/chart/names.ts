import type { Row } from '../question/exact-rows.js'
import { namedText } from '../question/page-column.js'
import type { PageColumn } from '../question/page-column.js'
import type { ChartRows } from './points.js'

/**
 * Returns what a row is of: its key's text, such as a company's number, or the first text. Where
 * another column names it, the name stands for it.
 */
export function entityNames(chart: ChartRows): (row: Row) => string {
  const texts = chart.columns.filter(({ type, name }) => type === 'string' && name !== chart.time)
  const entity = texts.find(({ isKey }) => isKey) ?? texts[0]
  if (!entity) return () => ''
  for (const column of texts.filter((each) => each !== entity)) {
    const nameOf = namesBy(chart, entity, column)
    if (nameOf) return nameOf
  }
  return (row) => namedText(entity, textOf(row, entity.name))
}

/**
 * Returns the newest name of a row's entity; null if the column has no names. A name has letters,
 * belongs to one entity, and changes seldom; without one row for each entity and time, never.
 */
export function namesBy(
  { rows, time }: Pick<ChartRows, 'rows' | 'time'>,
  entity: PageColumn,
  { name: column }: PageColumn,
): ((row: Row) => string) | null {
  const names = new Map<string, string>()
  const [pairs, times] = [new Set<string>(), new Set<string>()]
  for (const row of rows) {
    const [key, name] = [textOf(row, entity.name), textOf(row, column)]
    if (name === '') continue
    if (!/\p{L}{2}/u.test(name)) return null
    names.set(key, name)
    pairs.add(JSON.stringify([key, name]))
    times.add(JSON.stringify([key, textOf(row, time)]))
  }
  const isOneByTime = times.size === rows.length
  const isSteady = pairs.size <= names.size * (isOneByTime ? 2 : 1)
  const isOwn = new Set(names.values()).size === names.size
  if (names.size === 0 || !isSteady || !isOwn) return null
  return (row) => {
    const key = textOf(row, entity.name)
    return names.get(key) ?? namedText(entity, key)
  }
}

function textOf(row: Row, column: string): string {
  return row.get(column)?.text ?? ''
}
