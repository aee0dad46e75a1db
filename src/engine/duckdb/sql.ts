import { isFloat, typeText } from '../../columns/data-type.js'
import type { DataType } from '../../columns/data-type.js'

/** A name as an SQL identifier. Names come from the catalog, never from a request. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A text as an SQL literal, for names in our own statements; bind every value instead. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A stored column of a file whose own bounds DuckDB must not use. */
export function withoutBounds(sql: string): string {
  return `list_extract([${sql}], 1)`
}

/**
 * A stored column in the type of the dataset, which holds its values. Those without a place in it
 * are NaN and infinite numbers, which are served as null.
 */
export function castSql(sql: string, stored: DataType, type: DataType): string {
  if (typeText(stored) === typeText(type)) return sql
  return `${isFloat(stored) ? 'TRY_CAST' : 'CAST'}(${sql} AS ${typeText(type)})`
}
