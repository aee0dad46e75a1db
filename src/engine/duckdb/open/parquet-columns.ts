import {
  DuckDBArrayType,
  DuckDBDecimalType,
  DuckDBEnumType,
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
} from '@duckdb/node-api'
import type { DuckDBType } from '@duckdb/node-api'
import { scalarNames } from '../../../columns/data-type.js'
import type { DataType, ScalarName } from '../../../columns/data-type.js'

const longNames: Readonly<Record<string, ScalarName>> = {
  'TIMESTAMP WITH TIME ZONE': 'TIMESTAMPTZ',
}

/** Converts a DuckDB type to a product type. */
export function dataTypeOf(type: DuckDBType): DataType {
  if (type.alias === 'JSON') return { kind: 'scalar', name: 'JSON' }
  if (type instanceof DuckDBDecimalType) {
    return { kind: 'decimal', width: type.width, scale: type.scale }
  }
  if (type instanceof DuckDBEnumType) return { kind: 'enum', values: type.values }
  if (type instanceof DuckDBListType) return { kind: 'list', element: dataTypeOf(type.valueType) }
  if (type instanceof DuckDBArrayType) {
    return { kind: 'array', element: dataTypeOf(type.valueType), length: type.length }
  }
  if (type instanceof DuckDBMapType) {
    return { kind: 'map', key: dataTypeOf(type.keyType), value: dataTypeOf(type.valueType) }
  }
  if (type instanceof DuckDBStructType) {
    return {
      kind: 'struct',
      fields: type.entryNames.map((name, index) => ({
        name,
        type: dataTypeOf(type.entryTypes[index] ?? type),
      })),
    }
  }
  const name = type.toString()
  const scalar = longNames[name] ?? scalarNames.find((known) => known === name)
  return scalar ? { kind: 'scalar', name: scalar } : { kind: 'other', name }
}
