import type { Column } from '../../columns/column.js'
import type { Json } from './json.js'

/** The schema of a JSON row; no key is required, because `select` chooses the columns. */
export function rowSchema(columns: readonly Column[]): Json {
  return {
    type: 'object',
    properties: Object.fromEntries(
      columns.map((column) => [column.name, { ...cellSchema(column), ...described(column) }]),
    ),
    additionalProperties: false,
  }
}

/** Integers beyond the precision of JSON readers, served as strings. */
const textIntegers: readonly string[] = ['HUGEINT', 'UBIGINT', 'UHUGEINT']

function cellSchema(column: Column): Json {
  const { type, rules, asText } = column
  const mayBeNull = column.nullable || isNullServed(column)
  const typed = (name: string, more: Json = {}): Json => ({
    type: mayBeNull ? [name, 'null'] : name,
    ...more,
  })
  if (asText) return typed('string')
  const scalar = type.kind === 'scalar' ? type.name : null
  switch (rules.shown) {
    case 'integer':
      return typed(scalar !== null && textIntegers.includes(scalar) ? 'string' : 'integer')
    case 'number':
    case 'boolean':
      return typed(rules.shown)
    case 'date':
      return typed('string', { format: 'date' })
    case 'timestamp':
      return typed('string', scalar === 'TIMESTAMPTZ' ? { format: 'date-time' } : {})
    case 'binary':
      return typed('string', { contentEncoding: 'base64' })
    case 'string':
    case 'time':
      return typed('string')
    case 'json':
      return {}
  }
}

/** JSON has no NaN and no infinities: they are served as null. */
function isNullServed({ rules: { domain } }: Column): boolean {
  return domain.kind === 'float' || (domain.kind === 'grid' && domain.infinities)
}

function described({ description, unit }: Column): Json {
  return {
    ...(description !== null && { description }),
    ...(unit !== null && { 'x-unit': unit }),
  }
}
