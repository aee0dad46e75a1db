import { leavesOf, typeText } from '../../../columns/data-type.js'
import type { DataType, ScalarName } from '../../../columns/data-type.js'
import { servedText } from '../../sql/encode.js'
import { duckdb } from '../dialect.js'
import { zonedTime } from './encode-scalar.js'

const text: DataType = { kind: 'scalar', name: 'VARCHAR' }
const json: DataType = { kind: 'scalar', name: 'JSON' }

/**
 * Scalars that Parquet lacks, each with a type that holds all its values. DuckDB's writer would
 * silently convert the wide integers to DOUBLE. Other scalars keep their type.
 */
const scalarForms: Readonly<Partial<Record<ScalarName, DataType>>> = {
  // Comes only from a union of BIGINT and UBIGINT: 38 digits are enough.
  HUGEINT: { kind: 'decimal', width: 38, scale: 0 },
  UHUGEINT: text,
  TIMESTAMP_S: { kind: 'scalar', name: 'TIMESTAMP' },
}

/**
 * The type of a column in a page's Parquet file: its own, or the nearest that keeps every value. It
 * depends only on the column, so all pages have the same schema.
 *
 * | column                            | in the file                                      |
 * | --------------------------------- | ------------------------------------------------ |
 * | HUGEINT                           | DECIMAL(38,0)                                    |
 * | TIMESTAMP_S                       | TIMESTAMP, of microseconds                       |
 * | ENUM                              | VARCHAR                                          |
 * | fixed-size array                  | LIST                                             |
 * | VARIANT, or a type that holds one | JSON, like on JSON pages: few readers know it    |
 * | INTERVAL, GEOMETRY, BIT, UHUGEINT | VARCHAR, like on JSON pages                      |
 */
export function parquetType(type: DataType): DataType {
  return holdsVariant(type) ? json : nearestType(type)
}

/** SQL for a value converted exactly to its `parquetType`. */
export function parquetValue(type: DataType, sql: string): string {
  const form = typeText(parquetType(type))
  if (form === typeText(type)) return sql
  return `CAST(${holdsVariant(type) ? servedText(duckdb, type, sql) : sql} AS ${form})`
}

function nearestType(type: DataType): DataType {
  switch (type.kind) {
    case 'scalar':
      return scalarForms[type.name] ?? type
    case 'decimal':
      return type
    case 'enum':
      return text
    case 'list':
    case 'array':
      return { kind: 'list', element: nearestType(type.element) }
    case 'struct': {
      const fields = type.fields.map(({ name, type }) => ({ name, type: nearestType(type) }))
      return { kind: 'struct', fields }
    }
    case 'map':
      return { kind: 'map', key: nearestType(type.key), value: nearestType(type.value) }
    case 'other':
      return type.name === zonedTime ? type : text
  }
}

function holdsVariant(type: DataType): boolean {
  return leavesOf(type).some((leaf) => leaf.kind === 'scalar' && leaf.name === 'VARIANT')
}
