import type { Column } from '../../../columns/column.js'
import type { DataType } from '../../../columns/data-type.js'
import { literal } from '../sql.js'
import { encodeValue } from './encode.js'

/** Texts that need quotes (RFC 4180); also with a space at an end, which some readers drop. */
const special = literal(String.raw`^$|[",\r\n]|^\s|\s$`)

/**
 * SQL for one row as a line of CSV without its end. Cells are written like in JSON, but texts
 * without quotes. Null is an empty cell and an empty text is `""`. The only cell of a line is `""`
 * if it is null, because readers skip an empty line.
 */
export function encodeCsvRow(
  columns: readonly { readonly column: Column; readonly sql: string }[],
): string {
  const empty = literal(columns.length === 1 ? '""' : '')
  const cells = columns.map(({ column, sql }) => `coalesce(${csvCell(column.type, sql)}, ${empty})`)
  return `concat(${cells.join(", ',', ")})`
}

/** Null if null is served. */
function csvCell(type: DataType, value: string): string {
  const { sql, form } = encodeValue(type, value, 0)
  if (form === 'plain' || (form === 'json' && isNumber(type))) return sql
  const quoted = `('"' || replace(${sql}, '"', '""') || '"')`
  if (form === 'json') return quoted
  return `CASE WHEN regexp_matches(${sql}, ${special}) THEN ${quoted} ELSE ${sql} END`
}

/** Also true for BOOLEAN: its JSON never needs quotes. */
function isNumber(type: DataType): boolean {
  const isJson = type.kind === 'scalar' && ['JSON', 'VARIANT'].includes(type.name)
  return type.kind === 'decimal' || (type.kind === 'scalar' && !isJson)
}
