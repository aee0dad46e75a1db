import type { Column } from '../../columns/column.js'
import type { DataType, ScalarName } from '../../columns/data-type.js'
import { literal } from './quote.js'

/** A column and SQL for its value. */
export interface Cell {
  readonly column: Column
  readonly sql: string
}

/** SQL for a value's text (null if null is served), and how the text becomes JSON. */
interface EncodedSql {
  readonly sql: string
  /** `json`: it is JSON; `plain`: it only needs quotes; `text`: it also needs escapes. */
  readonly form: 'json' | 'plain' | 'text'
}

/** A function of Trino takes at most 127 arguments. */
const argumentsMax = 100

/**
 * SQL for one row as the text of a JSON object, the same text that DuckDB makes. Trino encodes
 * rows, so that no number passes through a parser that would round it.
 */
export function encodeRow(cells: readonly Cell[]): string {
  return objectText(cells.map(({ column, sql }) => [column.name, encodeCell(column, sql)]))
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

/** Texts that need quotes (RFC 4180), or start or end with a space, which some readers drop. */
const special = literal(String.raw`^$|[",\r\n]|^[\t\n\f\r ]|[\t\n\f\r ]$`)

/** SQL for one row as a line of CSV without its line end, the same text that DuckDB makes. */
export function encodeCsvRow(cells: readonly Cell[]): string {
  const empty = literal(cells.length === 1 ? '""' : '')
  const texts = cells.flatMap(({ column, sql }, index) => [
    ...(index === 0 ? [] : [`','`]),
    `coalesce(${csvCell(column.type, sql)}, ${empty})`,
  ])
  return concatenated(texts)
}

function csvCell(type: DataType, value: string): string {
  const { sql, form } = encodeValue(type, value, 0)
  if (form === 'plain' || (form === 'json' && isNumber(type))) return sql
  const quoted = (text: string) => `'"' || replace(${text}, '"', '""') || '"'`
  if (form === 'json') return quoted(sql)
  return letIn(sql, (t) => `IF(regexp_like(${t}, ${special}), ${quoted(t)}, ${t})`)
}

/** True for types whose JSON never needs quotes: numbers and BOOLEAN. */
function isNumber(type: DataType): boolean {
  return type.kind === 'decimal' || (type.kind === 'scalar' && type.name !== 'JSON')
}

/** `depth` counts the lists around a value, so that the members of each level have a name. */
function encodeValue(type: DataType, sql: string, depth: number): EncodedSql {
  switch (type.kind) {
    case 'scalar':
      return encodeScalar(type.name, sql)
    case 'decimal':
      return { sql: textOf(sql), form: 'json' }
    case 'list':
    case 'array':
      return { sql: listText(type.element, sql, depth), form: 'json' }
    case 'struct':
      return { sql: structText(type, sql, depth), form: 'json' }
    case 'map':
      return { sql: mapText(type, sql, depth), form: 'json' }
    case 'enum':
    case 'other':
      return { sql: textOf(sql), form: 'text' }
  }
}

function encodeScalar(name: ScalarName, x: string): EncodedSql {
  switch (name) {
    case 'FLOAT':
    case 'DOUBLE':
      return { sql: numberText(x), form: 'json' }
    case 'VARCHAR':
      return { sql: x, form: 'text' }
    case 'DATE':
      return { sql: `(IF(year(${x}) > 9999, '+', '') || ${textOf(x)})`, form: 'plain' }
    case 'HUGEINT':
    case 'UUID':
      return { sql: textOf(x), form: 'plain' }
    case 'TIME':
      return { sql: withoutZeros(textOf(x)), form: 'plain' }
    case 'TIMESTAMP':
      return { sql: momentText(textOf(x)), form: 'plain' }
    case 'TIMESTAMPTZ': {
      const inUtc = `replace(${textOf(`(${x} AT TIME ZONE 'UTC')`)}, ' UTC', '')`
      return { sql: `(${momentText(inUtc)} || 'Z')`, form: 'plain' }
    }
    case 'BLOB':
      return { sql: `to_base64(${x})`, form: 'plain' }
    case 'JSON':
      return { sql: `nullif(json_format(${x}), 'null')`, form: 'json' }
    default:
      return { sql: textOf(x), form: 'json' }
  }
}

/** Trino writes every digit of a type's precision; DuckDB omits zeros at the end. */
function withoutZeros(text: string): string {
  return `regexp_replace(${text}, '(\\.\\d*[1-9])0+$|\\.0+$', '$1')`
}

function momentText(text: string): string {
  return `replace(${withoutZeros(text)}, ' ', 'T')`
}

/**
 * SQL for a REAL or DOUBLE as DuckDB writes it: plain digits from 0.0001 to below 1e16, otherwise
 * an exponent of at least two digits; NULL for NaN and ±infinity. The JSON has the shortest digits.
 */
function numberText(x: string): string {
  const exponent = (t: string) => `CAST(regexp_extract(${t}, 'E(.*)$', 1) AS INTEGER)`
  const plain = (t: string) =>
    `regexp_replace(CAST(CAST(${t} AS DECIMAL(38,20)) AS VARCHAR), '(\\.\\d+?)0+$', '$1')`
  const scientific = (t: string) =>
    `regexp_replace(${t}, '(\\.0)?E.*$', '') || 'e' || format('%+03d', ${exponent(t)})`
  const text = letIn(
    `json_format(CAST(${x} AS JSON))`,
    (t) =>
      `CASE WHEN strpos(${t}, 'E') = 0 THEN ${t} ` +
      `WHEN ${exponent(t)} BETWEEN -4 AND 15 THEN ${plain(t)} ELSE ${scientific(t)} END`,
  )
  return `CASE WHEN is_finite(${x}) THEN ${text} END`
}

function jsonText({ sql, form }: EncodedSql): string {
  if (form === 'json') return sql
  return form === 'plain' ? `('"' || ${sql} || '"')` : jsonString(sql)
}

/** The value as a JSON string, for every type. */
function stringText(encoded: EncodedSql): string {
  if (encoded.form === 'plain') return jsonText(encoded)
  return jsonString(encoded.sql)
}

/** What a JSON string can't have as it is. */
const escaped = literal(String.raw`(["\\\x00-\x1f])`)

/** SQL for a text as a JSON string. Trino's own escapes also characters that need no escape. */
function jsonString(text: string): string {
  const inner = `regexp_extract(json_format(CAST(m[1] AS JSON)), '^"(.*)"$', 1)`
  return `('"' || regexp_replace(${text}, ${escaped}, m -> ${inner}) || '"')`
}

function textOf(sql: string): string {
  return `CAST(${sql} AS VARCHAR)`
}

function listText(element: DataType, list: string, depth: number): string {
  const member = `x${depth}`
  const json = jsonText(encodeValue(element, member, depth + 1))
  const members = `transform(${list}, ${member} -> coalesce(${json}, 'null'))`
  return `('[' || array_join(${members}, ',') || ']')`
}

function structText({ fields }: DataType & { kind: 'struct' }, sql: string, depth: number): string {
  const members = fields.map(({ name, type }, index) => {
    return [name, jsonText(encodeValue(type, `${sql}[${index + 1}]`, depth))] as const
  })
  return `CASE WHEN ${sql} IS NOT NULL THEN ${objectText(members)} END`
}

function mapText({ key, value }: DataType & { kind: 'map' }, sql: string, depth: number): string {
  const entry = `x${depth}`
  const keyText = stringText(encodeValue(key, `${entry}[1]`, depth + 1))
  const valueJson = jsonText(encodeValue(value, `${entry}[2]`, depth + 1))
  const pair = `(${keyText} || ':' || coalesce(${valueJson}, 'null'))`
  const pairs = `transform(map_entries(${sql}), ${entry} -> ${pair})`
  return `('{' || array_join(${pairs}, ',') || '}')`
}

/** Builds an object from pairs of a key and the SQL of its JSON. */
function objectText(members: readonly (readonly [string, string])[]): string {
  const parts = members.flatMap(([name, json], index) => {
    const key = `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`
    return [literal(key), `coalesce(${json}, 'null')`]
  })
  return concatenated([...parts, `'}'`])
}

/** Joins any number of texts. */
function concatenated(texts: readonly string[]): string {
  if (texts.length <= 1) return texts[0] ?? `''`
  if (texts.length <= argumentsMax) return `concat(${texts.join(', ')})`
  const groups: string[] = []
  for (let from = 0; from < texts.length; from += argumentsMax) {
    groups.push(concatenated(texts.slice(from, from + argumentsMax)))
  }
  return concatenated(groups)
}

/** Names a value within an expression, so that it is written and computed once. */
function letIn(value: string, body: (name: string) => string): string {
  return `transform(ARRAY[${value}], t -> ${body('t')})[1]`
}
