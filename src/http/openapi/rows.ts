import type { Column } from '../../columns/column.js'
import type { ScalarName } from '../../columns/data-type.js'
import { double, int32, int64 } from './json.js'
import type { Json } from './json.js'

/**
 * The schema of a JSON row; no key is required, because `select` chooses the columns. Like every
 * answer it may have more members in a later version.
 */
export function rowSchema(columns: readonly Column[]): Json {
  return {
    type: 'object',
    properties: Object.fromEntries(
      columns.map((column) => [column.name, { ...cellSchema(column), ...described(column) }]),
    ),
  }
}

const text: Json = { type: 'string' }
const names: Json = { type: 'array', items: text }

/** The schema of a page of changes of rows. */
export function changesSchema(row: Json): Json {
  const entry = {
    type: 'object',
    required: ['change', 'fields', 'row'],
    properties: {
      change: { type: 'string', enum: ['added', 'changed', 'removed'] },
      fields: { ...names, description: 'The columns of `select` that changed.' },
      row,
    },
  }
  return {
    type: 'object',
    required: ['data', 'next_cursor', 'from', 'version'],
    properties: {
      data: { type: 'array', items: entry },
      next_cursor: { type: ['string', 'null'], description: 'Null on the last page.' },
      from: { description: 'The oldest history value that this token sees: drop what is older.' },
      version: { ...text, description: 'The next `since`.' },
      columns: {
        type: 'object',
        required: ['added', 'removed', 'changed'],
        properties: { added: names, removed: names, changed: names },
        description: 'On the first page, where the columns differ.',
      },
    },
  }
}

/** What a JSON cell of each storage type is; others are texts. */
const scalarSchemas: Readonly<Partial<Record<ScalarName, Json>>> = {
  BOOLEAN: { type: 'boolean' },
  TINYINT: int32,
  SMALLINT: int32,
  INTEGER: int32,
  BIGINT: int64,
  UTINYINT: int32,
  USMALLINT: int32,
  UINTEGER: int64,
  FLOAT: { type: 'number', format: 'float' },
  DOUBLE: double,
  UUID: { type: 'string', format: 'uuid' },
  DATE: { type: 'string', format: 'date' },
  // Timestamps without a zone are not RFC 3339.
  TIMESTAMPTZ: { type: 'string', format: 'date-time' },
  BLOB: { type: 'string', contentEncoding: 'base64' },
  VARIANT: {},
  JSON: {},
}

function typeSchema({ type, asText, rules }: Column): Json {
  if (asText) return text
  if (type.kind === 'decimal') return double
  if (type.kind === 'scalar') return scalarSchemas[type.name] ?? text
  return rules.shown === 'json' ? {} : text
}

function cellSchema(column: Column): Json {
  const schema = typeSchema(column)
  const mayBeNull = schema['type'] !== undefined && (column.nullable || isNullServed(column))
  return mayBeNull ? { ...schema, type: [schema['type'], 'null'] } : schema
}

/** JSON has no NaN and no infinities: they are served as null. */
function isNullServed({ rules: { domain } }: Column): boolean {
  return domain.kind === 'float' || (domain.kind === 'grid' && domain.infinities)
}

function described(column: Column): Json {
  const rounded = isRounded(column) ? 'exact with `json: string`' : null
  const words = [column.description, rounded].filter((each) => each !== null)
  return {
    ...(column.label !== null && { title: column.label }),
    ...(words.length > 0 && { description: words.join('; ') }),
    ...(column.unit !== null && { 'x-unit': column.unit }),
  }
}

/** A double holds 15 digits of every decimal number. */
function isRounded({ type, asText }: Column): boolean {
  return type.kind === 'decimal' && type.width > 15 && !asText
}
