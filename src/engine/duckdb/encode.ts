import type { Column } from '../../catalog/column.js'
import { typeText } from '../../catalog/data-type.js'
import type { DataType, ScalarName, StructField } from '../../catalog/data-type.js'
import { identifier, literal } from './sql.js'

/**
 * SQL for one row as the text of a JSON object, keys in the given order, digit-only names too.
 * `to_json` alone is not enough: it prints bare NaN, times without `T` and bytes as escapes, so
 * every type whose JSON form is the contract's own (1.3) is rewritten first, at every depth.
 */
export function encodeRow(
  columns: readonly { readonly column: Column; readonly sql: string }[],
): string {
  const fields = columns.map(
    ({ column, sql }) => `${literal(column.name)}: ${encodeColumn(column, sql)}`,
  )
  return `CAST(to_json({${fields.join(', ')}}) AS VARCHAR)`
}

function encodeColumn(column: Column, sql: string): string {
  const encoded = encodeValue(column.type, sql)
  if (!column.asText) return encoded
  const isNested = column.rules.shown === 'json'
  return `CAST(${isNested ? `to_json(${encoded})` : encoded} AS VARCHAR)`
}

/** SQL whose `to_json` is what a caller reads for a value of this type. */
function encodeValue(type: DataType, sql: string, depth = 0): string {
  if (isPlain(type)) return sql
  switch (type.kind) {
    case 'scalar':
      return encodeScalar(type.name, sql)
    case 'list':
    case 'array':
      return encodeList(type, sql, depth)
    case 'struct':
      return encodeStruct(type.fields, sql, depth)
    case 'map':
      return encodeMap(type.value, sql, depth)
    case 'decimal':
    case 'enum':
    case 'other':
      return `CAST(${sql} AS VARCHAR)`
  }
}

function encodeList(
  type: DataType & { kind: 'list' | 'array' },
  sql: string,
  depth: number,
): string {
  const list = type.kind === 'list' ? sql : `CAST(${sql} AS ${typeText(type.element)}[])`
  const member = `x${depth}`
  return `list_transform(${list}, lambda ${member}: ${encodeValue(type.element, member, depth + 1)})`
}

/** Types whose `to_json` is right as it is. */
function isPlain(type: DataType): boolean {
  switch (type.kind) {
    case 'scalar':
      return plainScalars.includes(type.name)
    case 'list':
    case 'array':
      return isPlain(type.element)
    case 'struct':
      return type.fields.every((field) => isPlain(field.type))
    case 'map':
      return isPlain(type.value)
    case 'decimal':
    case 'enum':
      return true
    case 'other':
      return false
  }
}

const plainScalars: readonly ScalarName[] = [
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

function encodeScalar(name: ScalarName, x: string): string {
  switch (name) {
    case 'DOUBLE':
      return `CASE WHEN isfinite(${x}) THEN ${x} END`
    case 'FLOAT':
      // Through text: the shortest digits that read back as the same FLOAT, 0.1 and not 0.1000…15.
      return `CASE WHEN isfinite(${x}) THEN CAST(CAST(${x} AS VARCHAR) AS DOUBLE) END`
    case 'DATE':
      return calendar(x, `CAST(${x} AS VARCHAR)`, '-%m-%d', `DATE '9999-12-31'`, 'DATE')
    case 'TIMESTAMP_S':
    case 'TIMESTAMP_MS':
    case 'TIMESTAMP':
      return encodeTimestamp(`CAST(${x} AS TIMESTAMP)`, x, '')
    case 'TIMESTAMPTZ':
      return encodeTimestamp(`make_timestamp(epoch_us(${x}))`, x, 'Z')
    case 'TIMESTAMP_NS':
      return `CASE WHEN isfinite(${x}) THEN replace(CAST(${x} AS VARCHAR), ' ', 'T') END`
    case 'BLOB':
      return `base64(${x})`
    case 'JSON':
      return encodeJson(x, x)
    case 'VARIANT':
      return encodeJson(x, `CAST(${x} AS JSON)`)
    default:
      // HUGEINT, UBIGINT, UHUGEINT: beyond what most JSON readers keep, so as strings.
      return `CAST(${x} AS VARCHAR)`
  }
}

function encodeTimestamp(timestamp: string, stored: string, zone: string): string {
  const usual = `replace(CAST(${timestamp} AS VARCHAR), ' ', 'T')`
  const last = `TIMESTAMP '9999-12-31 23:59:59.999999'`
  const text = calendar(timestamp, usual, '-%m-%dT%H:%M:%S.%f', last, 'TIMESTAMP')
  return `CASE WHEN isfinite(${stored}) THEN ${text}${zone && ` || '${zone}'`} END`
}

/** Years beyond 0001–9999 are written with a sign, as ISO 8601 says: -0043-03-15, +12024-01-02. */
function calendar(x: string, usual: string, rest: string, last: string, type: string): string {
  const sign = `CASE WHEN year(${x}) < 0 THEN '-' WHEN year(${x}) > 9999 THEN '+' ELSE '' END`
  const expanded = `${sign} || format('{:04d}', abs(year(${x}))) || strftime(${x}, '${rest}')`
  return (
    `CASE WHEN ${x} BETWEEN ${type} '0001-01-01' AND ${last} THEN ${usual} ` +
    `WHEN isfinite(${x}) THEN ${expanded} END`
  )
}

/** What claims to be JSON may be none (a VARIANT's NaN, a file's broken text): then it is text. */
function encodeJson(x: string, json: string): string {
  const text = `to_json(CAST(${x} AS VARCHAR))`
  return `CASE WHEN json_valid(CAST(${json} AS VARCHAR)) THEN ${json} ELSE ${text} END`
}

function encodeStruct(fields: readonly StructField[], sql: string, depth: number): string {
  const members = fields.map(({ name, type }) => {
    const member = `struct_extract(${sql}, ${literal(name)})`
    return `${literal(name)}: ${encodeValue(type, member, depth)}`
  })
  return `CASE WHEN ${sql} IS NOT NULL THEN {${members.join(', ')}} END`
}

/** Built as text: a file's map may hold a key twice, which a rebuilt MAP would refuse. */
function encodeMap(value: DataType, sql: string, depth: number): string {
  const entry = `x${depth}`
  const member = `to_json(${encodeValue(value, `${entry}.value`, depth + 1)})`
  const pair =
    `concat(to_json(CAST(${entry}.key AS VARCHAR)), ':', ` +
    `coalesce(CAST(${member} AS VARCHAR), 'null'))`
  const pairs = `list_transform(map_entries(${sql}), lambda ${entry}: ${pair})`
  const text = `concat('{', array_to_string(${pairs}, ','), '}')`
  return `CASE WHEN ${sql} IS NOT NULL THEN CAST(${text} AS JSON) END`
}

/** A column as a file holds it, brought to the dataset's type; null where the file lacks it. */
export function columnSql(column: Column, stored: DataType | undefined): string {
  const type = typeText(column.type)
  if (stored === undefined) return `CAST(NULL AS ${type})`
  const name = identifier(column.source)
  return typeText(stored) === type ? name : `CAST(${name} AS ${type})`
}
