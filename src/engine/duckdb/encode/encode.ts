import type { Column } from '../../../columns/column.js'
import { typeText } from '../../../columns/data-type.js'
import type { DataType, StructField } from '../../../columns/data-type.js'
import { literal } from '../sql.js'
import { encodeScalar, otherText, textOf } from './encode-scalar.js'
import type { EncodedSql } from './encode-scalar.js'

/**
 * SQL for one row as the text of a JSON object. DuckDB encodes rows, so that no cell passes through
 * JavaScript. Keys keep the given order, even names of digits. The SQL uses `to_json` for types
 * that `to_json` writes correctly, because it is fastest to plan. For other types `to_json` prints
 * bare NaN, times without `T`, bytes as escapes and `.5` without its zero: those are written as
 * text at every depth. A number is written once, by its own type, and never parsed again.
 */
export function encodeRow(
  columns: readonly { readonly column: Column; readonly sql: string }[],
): string {
  if (columns.every(({ column }) => isPlain(column.type) && !column.asText)) {
    const fields = columns.map(
      ({ column, sql }) => `${literal(column.name)}: ${withScale(column.type, sql)}`,
    )
    return toJson(`{${fields.join(', ')}}`)
  }
  return objectText(columns.map(({ column, sql }) => [column.name, encodeCell(column, sql)]))
}

/** SQL for one value as JSON text, as in a row; NULL if null is served. */
export function encodeCell({ type, asText }: Column, sql: string): string {
  const encoded = encodeValue(type, sql, 0)
  return asText ? stringText(encoded) : jsonText(encoded)
}

/** SQL for a value as its caller reads it, without quotes; null if null is served. */
export function servedText(type: DataType, sql: string): string {
  return encodeValue(type, sql, 0).sql
}

/**
 * A value as text, and how the text becomes JSON. `depth` counts the lists around a value, so that
 * the members of each level have a unique name.
 */
export function encodeValue(type: DataType, sql: string, depth: number): EncodedSql {
  switch (type.kind) {
    case 'scalar':
      return encodeScalar(type.name, sql)
    case 'decimal':
      return { sql: decimalText(type, sql), form: 'json' }
    case 'enum':
      return { sql: textOf(sql), form: 'text' }
    case 'other':
      return { sql: otherText(type.name, sql), form: 'text' }
    default:
      return {
        sql: isPlain(type) ? toJson(withScale(type, sql)) : nestedText(type, sql, depth),
        form: 'json',
      }
  }
}

/** DuckDB omits the zero before the point if the type has no digit for it. */
function decimalText({ width, scale }: DataType & { kind: 'decimal' }, sql: string): string {
  return width === scale ? `replace(${textOf(sql)}, '.', '0.')` : textOf(sql)
}

function jsonText({ sql, form }: EncodedSql): string {
  if (form === 'json') return sql
  return form === 'plain' ? `('"' || ${sql} || '"')` : toJson(sql)
}

/** The value as a JSON string, for every type. */
function stringText(encoded: EncodedSql): string {
  return encoded.form === 'plain' ? jsonText(encoded) : toJson(encoded.sql)
}

function toJson(sql: string): string {
  return `CAST(to_json(${sql}) AS VARCHAR)`
}

type Nested = DataType & { kind: 'list' | 'array' | 'struct' | 'map' }

function nestedText(type: Nested, sql: string, depth: number): string {
  switch (type.kind) {
    case 'list':
      return listText(type.element, sql, depth)
    case 'array':
      return listText(type.element, `CAST(${sql} AS ${typeText(type.element)}[])`, depth)
    case 'struct':
      return structText(type.fields, sql, depth)
    case 'map':
      return mapText(type, sql, depth)
  }
}

function listText(element: DataType, list: string, depth: number): string {
  const member = `x${depth}`
  const json = jsonText(encodeValue(element, member, depth + 1))
  const members = `list_transform(${list}, lambda ${member}: coalesce(${json}, 'null'))`
  return `('[' || array_to_string(${members}, ',') || ']')`
}

/** Reads fields by position, because SQL may misread their names. */
function structText(fields: readonly StructField[], sql: string, depth: number): string {
  const members = fields.map(({ name, type }, index) => {
    const member = `struct_extract_at(${sql}, ${index + 1})`
    return [name, jsonText(encodeValue(type, member, depth))] as const
  })
  return `CASE WHEN ${sql} IS NOT NULL THEN ${objectText(members)} END`
}

/** Builds an object from pairs of a key and the SQL of its JSON. */
function objectText(members: readonly (readonly [string, string])[]): string {
  const parts = members.map(([name, json], index) => {
    const key = `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`
    return `${literal(key)}, coalesce(${json}, 'null')`
  })
  return `concat(${parts.join(', ')}, '}')`
}

/** Keys are encoded like values, but as strings; a key encoded as null keeps DuckDB's text. */
function mapText({ key, value }: DataType & { kind: 'map' }, sql: string, depth: number): string {
  const entry = `x${depth}`
  const keyText = stringText(encodeValue(key, `${entry}.key`, depth + 1))
  const keyJson = `coalesce(${keyText}, ${toJson(textOf(`${entry}.key`))})`
  const valueJson = jsonText(encodeValue(value, `${entry}.value`, depth + 1))
  const pair = `concat(${keyJson}, ':', coalesce(${valueJson}, 'null'))`
  const pairs = `list_transform(map_entries(${sql}), lambda ${entry}: ${pair})`
  return `('{' || array_to_string(${pairs}, ',') || '}')`
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
  const wide = widerDecimals(type)
  return wide === type ? sql : `CAST(${sql} AS ${typeText(wide)})`
}

/** The type with wider decimals; the same type if it has none to widen. */
function widerDecimals(type: DataType): DataType {
  switch (type.kind) {
    case 'decimal': {
      const width = Math.max(type.width, type.scale + 1, digitsWidthMin)
      return width === type.width ? type : { ...type, width }
    }
    case 'list':
    case 'array': {
      const element = widerDecimals(type.element)
      return element === type.element ? type : { ...type, element }
    }
    case 'struct': {
      const fields = type.fields.map(({ name, type }) => ({ name, type: widerDecimals(type) }))
      const isSame = fields.every((field, index) => field.type === type.fields[index]?.type)
      return isSame ? type : { ...type, fields }
    }
    default:
      return type
  }
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
