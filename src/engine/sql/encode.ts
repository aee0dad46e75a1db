import type { Column } from '../../columns/column.js'
import { typeText } from '../../columns/data-type.js'
import type { DataType, StructField } from '../../columns/data-type.js'
import type { Cell, Dialect, EncodedSql } from './dialect.js'
import { literal } from './quote.js'

/**
 * SQL for one row as the text of a JSON object. Engines encode rows, so that no cell passes through
 * JavaScript. Keys keep the given order, even names of digits. A number is written once, by its own
 * type, and never parsed again.
 */
export function encodeRow(dialect: Dialect, cells: readonly Cell[]): string {
  const members = () =>
    cells.map(({ column, sql }) => [column.name, encodeCell(dialect, column, sql)] as const)
  return dialect.ownRow(cells) ?? objectText(dialect, members())
}

/** SQL for one value as JSON text, as in a row; NULL if null is served. */
export function encodeCell(dialect: Dialect, { type, asText }: Column, sql: string): string {
  const encoded = encodeValue(dialect, type, sql)
  return asText ? stringText(dialect, encoded) : jsonText(dialect, encoded)
}

/** SQL for a value as its caller reads it, without quotes; null if null is served. */
export function servedText(dialect: Dialect, type: DataType, sql: string): string {
  return encodeValue(dialect, type, sql).sql
}

/**
 * A value as text, and how the text becomes JSON. `depth` counts the lists around a value, so that
 * the members of each level have a unique name.
 */
export function encodeValue(dialect: Dialect, type: DataType, sql: string, depth = 0): EncodedSql {
  switch (type.kind) {
    case 'scalar':
      return dialect.scalar(type.name, sql)
    case 'decimal':
      return { sql: dialect.decimalText(type, sql), form: 'json' }
    case 'enum':
      return { sql: textOf(sql), form: 'text' }
    case 'other':
      return { sql: dialect.otherText(type.name, sql), form: 'text' }
    default: {
      const json = dialect.ownJson(type, sql) ?? nestedText(dialect, type, sql, depth)
      return { sql: json, form: 'json' }
    }
  }
}

/** True for types that hold JSON of any shape, also a JSON null, which is served as null. */
export function isJson(type: DataType): boolean {
  return type.kind === 'scalar' && (type.name === 'JSON' || type.name === 'VARIANT')
}

/** SQL for the engine's own text of a value. */
export function textOf(sql: string): string {
  return `CAST(${sql} AS VARCHAR)`
}

/** SQL for any number of texts, none of them null, as one. */
export function concatenated({ argumentsMax }: Dialect, texts: readonly string[]): string {
  let parts = texts
  while (parts.length > argumentsMax) {
    const groups = Math.ceil(parts.length / argumentsMax)
    const all = parts
    parts = Array.from({ length: groups }, (_, group) =>
      concat(all.slice(group * argumentsMax, (group + 1) * argumentsMax)),
    )
  }
  return concat(parts)
}

function concat(texts: readonly string[]): string {
  return texts.length === 1 ? texts.join('') : `concat(${texts.join(', ')})`
}

function jsonText(dialect: Dialect, { sql, form }: EncodedSql): string {
  if (form === 'json') return sql
  return form === 'plain' ? `('"' || ${sql} || '"')` : dialect.jsonString(sql)
}

/** The value as a JSON string, for every type. */
function stringText(dialect: Dialect, encoded: EncodedSql): string {
  if (encoded.form === 'plain') return jsonText(dialect, encoded)
  return dialect.jsonString(encoded.sql)
}

type Nested = DataType & { kind: 'list' | 'array' | 'struct' | 'map' }

function nestedText(dialect: Dialect, type: Nested, sql: string, depth: number): string {
  switch (type.kind) {
    case 'list':
      return listText(dialect, type.element, sql, depth)
    case 'array': {
      // Only DuckDB has arrays of a fixed length.
      const list = `CAST(${sql} AS ${typeText(type.element)}[])`
      return listText(dialect, type.element, list, depth)
    }
    case 'struct':
      return structText(dialect, type.fields, sql, depth)
    case 'map':
      return mapText(dialect, type, sql, depth)
  }
}

function listText(dialect: Dialect, element: DataType, list: string, depth: number): string {
  const member = `x${depth}`
  const json = jsonText(dialect, encodeValue(dialect, element, member, depth + 1))
  const members = dialect.transform(list, member, `coalesce(${json}, 'null')`)
  return `('[' || ${dialect.functions.joinTexts}(${members}, ',') || ']')`
}

function structText(
  dialect: Dialect,
  fields: readonly StructField[],
  sql: string,
  depth: number,
): string {
  const members = fields.map(({ name, type }, index) => {
    const member = dialect.field(sql, index + 1)
    return [name, jsonText(dialect, encodeValue(dialect, type, member, depth))] as const
  })
  return `CASE WHEN ${sql} IS NOT NULL THEN ${objectText(dialect, members)} END`
}

/** Keys are encoded like values, but as strings. */
function mapText(
  dialect: Dialect,
  { key, value }: DataType & { kind: 'map' },
  sql: string,
  depth: number,
): string {
  const name = `x${depth}`
  const keySql = dialect.field(name, 1)
  const keyText = stringText(dialect, encodeValue(dialect, key, keySql, depth + 1))
  const keyJson = dialect.mapKey(keyText, keySql)
  const valueSql = dialect.field(name, 2)
  const valueJson = jsonText(dialect, encodeValue(dialect, value, valueSql, depth + 1))
  const pair = `concat(${keyJson}, ':', coalesce(${valueJson}, 'null'))`
  const pairs = dialect.transform(`map_entries(${sql})`, name, pair)
  return `('{' || ${dialect.functions.joinTexts}(${pairs}, ',') || '}')`
}

/** Builds an object from pairs of a key and the SQL of its JSON. */
function objectText(
  dialect: Dialect,
  members: readonly (readonly [name: string, json: string])[],
): string {
  const parts = members.flatMap(([name, json], index) => {
    const key = `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`
    return [literal(key), `coalesce(${json}, 'null')`]
  })
  return concatenated(dialect, [...parts, `'}'`])
}
