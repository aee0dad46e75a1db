import type { DataType } from '../../columns/data-type.js'
import type { Cell, Dialect } from './dialect.js'
import { concatenated, encodeValue, isJson } from './encode.js'
import { literal } from './quote.js'

/** Texts that need quotes (RFC 4180), or start or end with a space, which some readers drop. */
const special = literal(String.raw`^$|[",\r\n]|^[\t\n\f\r ]|[\t\n\f\r ]$`)

/**
 * SQL for one row as a line of CSV without its line end. Cells are like those in JSON, but texts
 * have no quotes. Null is an empty cell and an empty text is `""`. A null in a line of one cell is
 * `""`, because readers skip an empty line.
 */
export function encodeCsvRow(dialect: Dialect, cells: readonly Cell[]): string {
  const empty = literal(cells.length === 1 ? '""' : '')
  const texts = cells.flatMap(({ column, sql }, index) => [
    ...(index === 0 ? [] : [`','`]),
    `coalesce(${csvCell(dialect, column.type, sql)}, ${empty})`,
  ])
  return concatenated(dialect, texts)
}

/** The CSV cell; null if null is served. */
function csvCell(dialect: Dialect, type: DataType, value: string): string {
  const { sql, form } = encodeValue(dialect, type, value)
  const isBytes = type.kind === 'scalar' && type.name === 'BLOB'
  if ((form === 'plain' && !isBytes) || (form === 'json' && isNumber(type))) return sql
  const quoted = `('"' || replace(${sql}, '"', '""') || '"')`
  if (form === 'json') return quoted
  return `CASE WHEN ${dialect.functions.matches}(${sql}, ${special}) THEN ${quoted} ELSE ${sql} END`
}

/** True for types whose JSON never needs quotes: numbers and BOOLEAN. */
function isNumber(type: DataType): boolean {
  return type.kind === 'decimal' || (type.kind === 'scalar' && !isJson(type))
}
