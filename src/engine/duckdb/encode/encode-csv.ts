import type { Column } from '../../../columns/column.js'
import type { DataType } from '../../../columns/data-type.js'
import { literal } from '../sql.js'
import { encodeValue } from './encode.js'

/** What has to stand in quotes (RFC 4180); a space at an end too, since some readers drop it. */
const special = literal(String.raw`^$|[",\r\n]|^\s|\s$`)

/**
 * SQL for one row as a line of CSV without its end; cells as JSON has them, but texts without its
 * quotes. Null is an empty cell and an empty text is `""`. A line of one empty cell would be an
 * empty line, which readers pass over: it is `""` too.
 */
export function encodeCsvRow(
  columns: readonly { readonly column: Column; readonly sql: string }[],
): string {
  const empty = literal(columns.length === 1 ? '""' : '')
  const cells = columns.map(({ column, sql }) => `coalesce(${csvCell(column.type, sql)}, ${empty})`)
  return `concat(${cells.join(", ',', ")})`
}

/** Null where null is served. */
function csvCell(type: DataType, value: string): string {
  const { sql, form } = encodeValue(type, value, 0)
  if (form === 'plain' || (form === 'json' && isNumber(type))) return sql
  const quoted = `('"' || replace(${sql}, '"', '""') || '"')`
  if (form === 'json') return quoted
  return `CASE WHEN regexp_matches(${sql}, ${special}) THEN ${quoted} ELSE ${sql} END`
}

/** Or a truth value: its JSON has nothing that would need quotes. */
function isNumber(type: DataType): boolean {
  const isJson = type.kind === 'scalar' && ['JSON', 'VARIANT'].includes(type.name)
  return type.kind === 'decimal' || (type.kind === 'scalar' && !isJson)
}
