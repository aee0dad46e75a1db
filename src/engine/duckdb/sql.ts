import { isFloat, typeText } from '../../columns/data-type.js'
import type { DataType } from '../../columns/data-type.js'
import type { ColumnMark } from '../../versions/opener.js'
import { identifier } from '../sql/quote.js'

/** A stored column; as a part of an expression where DuckDB must not use the file's own bounds. */
export function columnSql(name: string, marks: readonly ColumnMark[] = []): string {
  const column = identifier(name)
  return marks.includes('old statistics') ? `list_extract([${column}], 1)` : column
}

/**
 * A stored column in the type of the dataset, which holds its values. Those without a place in it
 * are NaN and infinite numbers, which are served as null.
 */
export function castSql(sql: string, stored: DataType, type: DataType): string {
  if (typeText(stored) === typeText(type)) return sql
  return `${isFloat(stored) ? 'TRY_CAST' : 'CAST'}(${sql} AS ${typeText(type)})`
}
