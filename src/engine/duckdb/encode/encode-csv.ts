import type { Column } from '../../../columns/column.js'
import type { DataType } from '../../../columns/data-type.js'
import { literal } from '../sql.js'
import { encodeValue } from './encode.js'

/** Texts that need quotes (RFC 4180), or start or end with a space, which some readers drop. */
const special = literal(String.raw`^$|[",\r\n]|^\s|\s$`)

/**
 * SQL for one row as a line of CSV without its line end. Cells are like those in JSON, but texts
 * have no quotes. Null is an empty cell and an empty text is `""`. A null in a line of one cell is
 * `""`, because readers skip an empty line.
 */
export function encodeCsvRow(
  columns: readonly { readonly column: Column; readonly sql: string }[],
): string {
  const empty = literal(columns.length === 1 ? '""' : '')
  const cells = columns.map(({ column, sql }) => `coalesce(${csvCell(column.type, sql)}, ${empty})`)
  return `concat(${cells.join(", ',', ")})`
}

/** The CSV cell; null if null is served. */
function csvCell(type: DataType, value: string): string {
  const { sql, form } = encodeValue(type, value, 0)
  if (form === 'plain' || (form === 'json' && isNumber(type))) return sql
  const quoted = `('"' || replace(${sql}, '"', '""') || '"')`
  if (form === 'json') return quoted
  return `CASE WHEN regexp_matches(${sql}, ${special}) THEN ${quoted} ELSE ${sql} END`
}

/** True for types whose JSON never needs quotes: numbers and BOOLEAN. */
function isNumber(type: DataType): boolean {
  const isJson = type.kind === 'scalar' && ['JSON', 'VARIANT'].includes(type.name)
  return type.kind === 'decimal' || (type.kind === 'scalar' && !isJson)
}
