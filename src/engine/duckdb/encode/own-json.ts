import { mapLeaves, typeText } from '../../../columns/data-type.js'
import type { DataType } from '../../../columns/data-type.js'
import type { Cell } from '../../sql/dialect.js'
import { literal } from '../../sql/quote.js'

/**
 * SQL for a row by `to_json`, which is fastest to plan; null if a type needs more. For the other
 * types `to_json` prints bare NaN, times without `T`, bytes as escapes and `.5` without its zero.
 */
export function ownRow(cells: readonly Cell[]): string | null {
  if (!cells.every(({ column }) => isPlain(column.type) && !column.asText)) return null
  const fields = cells.map(
    ({ column, sql }) => `${literal(column.name)}: ${withScale(column.type, sql)}`,
  )
  return toJson(`{${fields.join(', ')}}`)
}

/** The same of one value. */
export function ownJson(type: DataType, sql: string): string | null {
  return isPlain(type) ? toJson(withScale(type, sql)) : null
}

/** SQL for DuckDB's own JSON. */
export function toJson(sql: string): string {
  return `CAST(to_json(${sql}) AS VARCHAR)`
}

const plainScalars: readonly string[] = [
  'BOOLEAN',
  'TINYINT',
  'SMALLINT',
  'INTEGER',
  'BIGINT',
  'UTINYINT',
  'USMALLINT',
  'UINTEGER',
  'VARCHAR',
  'UUID',
  'TIME',
  'TIME_NS',
]

const decimalWidthMax = 38
/** `to_json` writes decimals of at least this width digit by digit, narrower ones as doubles. */
const digitsWidthMin = 16

/**
 * SQL for a value of a plain type, with its decimals cast to a type that `to_json` writes with all
 * their decimals and with a zero before the point: 7.000 for 7.0, 0.00000099 for 9.9e-7, 0.5 for
 * .5.
 */
function withScale(type: DataType, sql: string): string {
  const wide = mapLeaves(type, widerDecimal)
  const isSame = wide === type || typeText(wide) === typeText(type)
  return isSame ? sql : `CAST(${sql} AS ${typeText(wide)})`
}

function widerDecimal(type: DataType): DataType {
  if (type.kind !== 'decimal') return type
  const width = Math.max(type.width, type.scale + 1, digitsWidthMin)
  return width === type.width ? type : { ...type, width }
}

/** True for types that `to_json` writes correctly once their decimals are wide. */
function isPlain(type: DataType): boolean {
  switch (type.kind) {
    case 'scalar':
      return plainScalars.includes(type.name)
    case 'list':
    case 'array':
      return isPlain(type.element)
    case 'struct':
      return type.fields.every((field) => isPlain(field.type))
    case 'decimal':
      return type.scale < decimalWidthMax
    case 'enum':
      return true
    case 'map':
    case 'other':
      return false
  }
}
