import { integerRanges } from './data-type.js'
import type { DataType, IntegerName, ScalarName } from './data-type.js'
import { operatorNames } from './operators.js'
import type { Operator } from './operators.js'
import { parseDate, parseExact, parseTime, parseTimestamp } from './values.js'
import type { Exact } from './values.js'

/** A column's type as callers see it, in schemas, errors and documentation. */
export type ShownType =
  'integer' | 'number' | 'string' | 'boolean' | 'date' | 'timestamp' | 'time' | 'json' | 'binary'

/** How a filter's text is parsed and its value compared. */
type Domain =
  | GridDomain
  | { readonly kind: 'float'; readonly single: boolean }
  /** `text`: stored as text; `uuid`: as a UUID; `rendered`: compared by the text that is served. */
  | { readonly kind: 'text'; readonly form: 'text' | 'uuid' | 'rendered' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'opaque' }

/** Exact numbers on a grid of step 10^-scale, between `min` and `max` steps. */
export interface GridDomain {
  readonly kind: 'grid'
  readonly scale: number
  readonly min: bigint
  readonly max: bigint
  readonly parse: (text: string) => Exact | undefined
  /** The storage type has ±infinity, which counts as empty. */
  readonly infinities: boolean
}

/** What the product knows about a storage type. */
export interface ColumnRules {
  readonly shown: ShownType
  readonly domain: Domain
  /** A value as a filter writes it. */
  readonly example: string
}

const orderedOperators = operatorNames.filter((name) => name !== 'like' && name !== 'contains')

/** The operators of each shown type; the source of schemas, documentation and errors. */
export const typeOperators: Readonly<Record<ShownType, readonly Operator[]>> = {
  integer: orderedOperators,
  number: orderedOperators,
  string: ['eq', 'ne', 'like', 'contains', 'in', 'not_in', 'isdistinct', 'is_null', 'not_null'],
  boolean: ['eq', 'ne', 'isdistinct', 'is_null', 'not_null'],
  date: orderedOperators,
  timestamp: orderedOperators,
  time: orderedOperators,
  json: ['is_null', 'not_null'],
  binary: ['is_null', 'not_null'],
}

/** A storage type's shown type, parser and comparison. */
export function columnRules(type: DataType): ColumnRules {
  switch (type.kind) {
    case 'scalar':
      return scalarRules[type.name]
    case 'decimal':
      return decimalRules(type.width, type.scale)
    case 'enum':
    case 'other':
      return rendered
    case 'list':
    case 'array':
    case 'struct':
    case 'map':
      return json
  }
}

const text: ColumnRules = {
  shown: 'string',
  domain: { kind: 'text', form: 'text' },
  example: 'text',
}
const rendered: ColumnRules = { ...text, domain: { kind: 'text', form: 'rendered' } }
const json: ColumnRules = { shown: 'json', domain: { kind: 'opaque' }, example: '' }

const scalarRules: Readonly<Record<ScalarName, ColumnRules>> = {
  BOOLEAN: { shown: 'boolean', domain: { kind: 'boolean' }, example: 'true' },
  TINYINT: integers('TINYINT'),
  SMALLINT: integers('SMALLINT'),
  INTEGER: integers('INTEGER'),
  BIGINT: integers('BIGINT'),
  HUGEINT: integers('HUGEINT'),
  UTINYINT: integers('UTINYINT'),
  USMALLINT: integers('USMALLINT'),
  UINTEGER: integers('UINTEGER'),
  UBIGINT: integers('UBIGINT'),
  UHUGEINT: integers('UHUGEINT'),
  FLOAT: { shown: 'number', domain: { kind: 'float', single: true }, example: '0.5' },
  DOUBLE: { shown: 'number', domain: { kind: 'float', single: false }, example: '0.5' },
  VARCHAR: text,
  UUID: {
    shown: 'string',
    domain: { kind: 'text', form: 'uuid' },
    example: '123e4567-e89b-12d3-a456-426614174000',
  },
  DATE: {
    shown: 'date',
    // Of dates, unlike timestamps, the number below that of -infinity is a day.
    domain: { ...instants(0, 31, parseDate), min: -(2n ** 31n) },
    example: '2024-12-31',
  },
  TIME: times(6),
  TIME_NS: times(9),
  TIMESTAMP_S: timestamps(0),
  TIMESTAMP_MS: timestamps(3),
  TIMESTAMP: timestamps(6),
  TIMESTAMP_NS: timestamps(9),
  TIMESTAMPTZ: {
    shown: 'timestamp',
    domain: instants(6, 63, (value) => parseTimestamp(value, true)),
    example: '2024-12-31T09:30:00Z',
  },
  BLOB: { shown: 'binary', domain: { kind: 'opaque' }, example: '' },
  VARIANT: json,
  JSON: json,
}

function integers(name: IntegerName): ColumnRules {
  const { min, max } = integerRanges[name]
  return { shown: 'integer', domain: finite(0, min, max, parseExact), example: '2024' }
}

function decimalRules(width: number, scale: number): ColumnRules {
  const max = 10n ** BigInt(width) - 1n
  return { shown: 'number', domain: finite(scale, -max, max, parseExact), example: '1500.25' }
}

function finite(scale: number, min: bigint, max: bigint, parse: GridDomain['parse']): GridDomain {
  return { kind: 'grid', scale, min, max, parse, infinities: false }
}

/** Signed integers of `bits` + 1 bits, whose smallest and largest values mean ±infinity. */
function instants(scale: number, bits: number, parse: GridDomain['parse']): GridDomain {
  const max = 2n ** BigInt(bits) - 2n
  return { kind: 'grid', scale, min: -max, max, parse, infinities: true }
}

function timestamps(scale: number): ColumnRules {
  const domain = instants(scale, 63, (value) => parseTimestamp(value, false))
  return { shown: 'timestamp', domain, example: '2024-12-31T09:30:00' }
}

/** From 00:00:00 to 24:00:00, both included. */
function times(scale: number): ColumnRules {
  const max = 86_400n * 10n ** BigInt(scale)
  return { shown: 'time', domain: finite(scale, 0n, max, parseTime), example: '09:30:00' }
}
