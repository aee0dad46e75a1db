import { integerRange } from './data-type.js'
import type { DataType, ScalarName } from './data-type.js'
import type { Operator } from './operators.js'
import { parseDate, parseExact, parseTime, parseTimestamp } from './values.js'
import type { Exact } from './values.js'

/** A column's type as users see it, in schemas, errors and documentation (contract 1.2). */
export type ShownType =
  'integer' | 'number' | 'string' | 'boolean' | 'date' | 'timestamp' | 'time' | 'json' | 'binary'

/** How a filter's text becomes a value, and how that value is compared. */
export type Domain =
  | {
      /** Exact numbers on a grid of step 10^-scale, between `min` and `max` steps. */
      readonly kind: 'grid'
      readonly scale: number
      readonly min: bigint
      readonly max: bigint
      readonly parse: (text: string) => Exact | undefined
      /** The storage type also has ±infinity, which is served, and filtered, as empty. */
      readonly infinities: boolean
    }
  | { readonly kind: 'float'; readonly single: boolean }
  /** `text`: stored as text; `uuid`: as a UUID; `rendered`: compared by the text that is served. */
  | { readonly kind: 'text'; readonly form: 'text' | 'uuid' | 'rendered' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'opaque' }

/** One row of the table: everything the product knows of a storage type. */
export interface ColumnRules {
  readonly shown: ShownType
  readonly domain: Domain
  /** A value in the form that a filter takes. */
  readonly example: string
}

const orderedOperators: readonly Operator[] = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'not_in',
  'isdistinct',
  'is_null',
  'not_null',
]

/** The operators of each shown type; schema, documentation and errors are made from this table. */
export const typeOperators: Readonly<Record<ShownType, readonly Operator[]>> = {
  integer: orderedOperators,
  number: orderedOperators,
  string: ['eq', 'ne', 'like', 'in', 'not_in', 'isdistinct', 'is_null', 'not_null'],
  boolean: ['eq', 'ne', 'isdistinct', 'is_null', 'not_null'],
  date: orderedOperators,
  timestamp: orderedOperators,
  time: orderedOperators,
  json: ['is_null', 'not_null'],
  binary: ['is_null', 'not_null'],
}

/** The table's row for a storage type: DuckDB type → shown type, value parser, comparison. */
export function columnRules(type: DataType): ColumnRules {
  switch (type.kind) {
    case 'decimal':
      return decimalRules(type.width, type.scale)
    case 'enum':
      return { shown: 'string', domain: { kind: 'text', form: 'rendered' }, example: 'text' }
    case 'scalar':
      return scalarRules(type)
    case 'list':
    case 'array':
    case 'struct':
    case 'map':
      return opaque('json')
    case 'other':
      return { shown: 'string', domain: { kind: 'text', form: 'rendered' }, example: 'text' }
  }
}

function decimalRules(width: number, scale: number): ColumnRules {
  const max = 10n ** BigInt(width) - 1n
  const domain = { kind: 'grid', scale, min: -max, max, parse: parseExact, infinities: false }
  return { shown: 'number', domain: domain as Domain, example: '1500.25' }
}

function scalarRules(type: DataType & { kind: 'scalar' }): ColumnRules {
  const range = integerRange(type)
  if (range) {
    const domain: Domain = {
      kind: 'grid',
      scale: 0,
      ...range,
      parse: parseExact,
      infinities: false,
    }
    return { shown: 'integer', domain, example: '2024' }
  }
  return otherScalars[type.name as Exclude<ScalarName, IntegerName>]
}

type IntegerName =
  | 'TINYINT'
  | 'SMALLINT'
  | 'INTEGER'
  | 'BIGINT'
  | 'HUGEINT'
  | 'UTINYINT'
  | 'USMALLINT'
  | 'UINTEGER'
  | 'UBIGINT'
  | 'UHUGEINT'

const text = { shown: 'string', domain: { kind: 'text', form: 'text' }, example: 'text' } as const

const otherScalars: Readonly<Record<Exclude<ScalarName, IntegerName>, ColumnRules>> = {
  BOOLEAN: { shown: 'boolean', domain: { kind: 'boolean' }, example: 'true' },
  FLOAT: { shown: 'number', domain: { kind: 'float', single: true }, example: '0.5' },
  DOUBLE: { shown: 'number', domain: { kind: 'float', single: false }, example: '0.5' },
  VARCHAR: text,
  UUID: {
    shown: 'string',
    domain: { kind: 'text', form: 'uuid' },
    example: '123e4567-e89b-12d3-a456-426614174000',
  },
  DATE: { shown: 'date', domain: instants(0, 31, parseDate), example: '2024-12-31' },
  TIME: { shown: 'time', domain: times(6), example: '09:30:00' },
  TIME_NS: { shown: 'time', domain: times(9), example: '09:30:00' },
  TIMESTAMP_S: timestamps(0),
  TIMESTAMP_MS: timestamps(3),
  TIMESTAMP: timestamps(6),
  TIMESTAMP_NS: timestamps(9),
  TIMESTAMPTZ: {
    shown: 'timestamp',
    domain: instants(6, 63, (value) => parseTimestamp(value, true)),
    example: '2024-12-31T09:30:00Z',
  },
  BLOB: opaque('binary'),
  VARIANT: opaque('json'),
  JSON: opaque('json'),
}

/** Signed integers of `bits` + 1 bits, whose two outermost values stand for ±infinity. */
function instants(
  scale: number,
  bits: number,
  parse: (value: string) => Exact | undefined,
): Domain & { kind: 'grid' } {
  const max = 2n ** BigInt(bits) - 2n
  return { kind: 'grid', scale, min: -max, max, parse, infinities: true }
}

function times(scale: number): Domain {
  const max = 86_400n * 10n ** BigInt(scale)
  return { kind: 'grid', scale, min: 0n, max, parse: parseTime, infinities: false }
}

function timestamps(scale: number): ColumnRules {
  const parse = (value: string) => parseTimestamp(value, false)
  return { shown: 'timestamp', domain: instants(scale, 63, parse), example: '2024-12-31T09:30:00' }
}

function opaque(shown: ShownType): ColumnRules {
  return { shown, domain: { kind: 'opaque' }, example: '' }
}
