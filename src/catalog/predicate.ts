import { badRequest } from '../errors.js'
import { columnOperators } from './column.js'
import type { Column } from './column.js'
import type { Domain } from './column-types.js'
import { quoted } from './nearest.js'
import type { Operator } from './operators.js'
import { onGrid, parseFloating, parseUuid } from './values.js'

/**
 * A value ready to be bound: steps of the column's grid (numbers, dates, times, UUIDs) as bigint,
 * FLOAT and DOUBLE as number, text as string.
 */
export type Value = bigint | number | string | boolean

/**
 * One condition on a row; a question's predicates are all ANDed. A plan's window, a demo subset
 * and a caller's filter are the same type and take the same road to the engine. "Empty" is what is
 * served as null: NULL, NaN and ±infinity.
 */
export type Predicate =
  | { readonly kind: CompareKind; readonly column: Column; readonly value: Value }
  | { readonly kind: ListKind; readonly column: Column; readonly values: readonly Value[] }
  | { readonly kind: 'is_null' | 'not_null'; readonly column: Column }
  /** No row: the value lies beyond what the column can hold. */
  | { readonly kind: 'nothing' }

export type CompareKind = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'isdistinct'
export type ListKind = 'in' | 'not_in'

/**
 * The predicates of one filter; none when every row passes. Values are compared as arithmetic
 * says: what lies between two steps of a column, or beyond its range, is never rounded into it.
 * @throws bad_request when the column lacks the operator or a value is malformed
 */
export function filterPredicates(
  column: Column,
  operator: Operator,
  texts: readonly string[],
): readonly Predicate[] {
  const allowed = columnOperators(column)
  if (!allowed.includes(operator)) {
    throw badRequest(
      `Column ${quoted(column.name)} (${column.rules.shown}) has no operator "${operator}". ` +
        `It has: ${allowed.join(', ')}.`,
    )
  }
  switch (operator) {
    case 'is_null':
    case 'not_null':
      return [{ kind: operator, column }]
    case 'in':
    case 'not_in':
      return listPredicates(column, operator, texts)
    case 'like':
      return likePredicates(column, texts[0] ?? '')
    default:
      return comparePredicates(column, operator, texts[0] ?? '')
  }
}

/** Rows of the latest `years` calendar years, counted back from the column's newest value. */
export function latestYears(
  column: Column,
  newest: bigint | undefined,
  years: number,
): readonly Predicate[] {
  const domain = column.rules.domain
  if (newest === undefined || domain.kind !== 'grid') return [{ kind: 'nothing' }]
  if (column.rules.shown === 'integer') {
    return [{ kind: 'gte', column, value: newest - BigInt(years) + 1n }]
  }
  const milliseconds = gridToMilliseconds(newest, column)
  const first = new Date(milliseconds).getUTCFullYear() - years + 1
  return comparePredicates(column, 'gte', `${String(first).padStart(4, '0')}-01-01`)
}

/** A date's or timestamp's grid value as milliseconds since 1970. */
export function gridToMilliseconds(value: bigint, column: Column): number {
  if (column.rules.shown === 'date') return Number(value) * 86_400_000
  const scale = column.rules.domain.kind === 'grid' ? column.rules.domain.scale : 0
  return Math.floor(Number(value) / 10 ** (scale - 3))
}

/** The same text for the same condition, for signatures and cache keys. */
export function predicateKey(predicate: Predicate): string {
  if (predicate.kind === 'nothing') return 'nothing'
  const parts: unknown[] = [predicate.column.name, predicate.kind]
  if ('value' in predicate) parts.push(tagged(predicate.value))
  if ('values' in predicate) parts.push(...predicate.values.map(tagged).sort())
  return JSON.stringify(parts)
}

function tagged(value: Value): string {
  return `${typeof value}:${Object.is(value, -0) ? '0' : String(value)}`
}

function listPredicates(
  column: Column,
  kind: ListKind,
  texts: readonly string[],
): readonly Predicate[] {
  const values = new Set<Value>()
  for (const text of texts) {
    const place = placeOf(column, text)
    if (place.kind === 'exact') values.add(place.value)
  }
  const [first] = values
  if (first === undefined) return kind === 'in' ? [{ kind: 'nothing' }] : [present(column)]
  if (values.size === 1) return [{ kind: kind === 'in' ? 'eq' : 'ne', column, value: first }]
  return [{ kind, column, values: [...values] }]
}

/** A prefix is a range of texts: at or after the prefix, before the next text that lacks it. */
function likePredicates(column: Column, pattern: string): readonly Predicate[] {
  const star = pattern.indexOf('*')
  if (star === -1) return comparePredicates(column, 'eq', pattern)
  if (star < pattern.length - 1) {
    throw badRequest(
      `"like" on ${quoted(column.name)} takes one * at the end only, as in ` +
        `${column.name}=like.${column.rules.example}*; use eq for a text that holds a *.`,
    )
  }
  const stem = pattern.slice(0, star)
  const prefix = isUuid(column.rules.domain) ? stem.toLowerCase() : stem
  if (prefix === '') return [present(column)]
  const next = textAfterPrefix(prefix)
  const from: Predicate = { kind: 'gte', column, value: prefix }
  return next === undefined ? [from] : [from, { kind: 'lt', column, value: next }]
}

function isUuid(domain: Domain): boolean {
  return domain.kind === 'text' && domain.form === 'uuid'
}

/** The first text, in UTF-8 order, after all that begin with `prefix`. */
export function textAfterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.length > 0) {
    const last = points.pop() ?? 0
    if (last < 0x10ffff) {
      return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
    }
  }
  return undefined
}

function comparePredicates(column: Column, kind: CompareKind, text: string): readonly Predicate[] {
  const place = placeOf(column, text)
  if (place.kind === 'exact') return [{ kind, column, value: place.value }]
  switch (kind) {
    case 'eq':
      return [{ kind: 'nothing' }]
    case 'ne':
      return [present(column)]
    case 'isdistinct':
      return []
    case 'gt':
    case 'gte':
      if (place.kind === 'below') return [present(column)]
      if (place.kind === 'between') return [{ kind: 'gt', column, value: place.floor }]
      return [{ kind: 'nothing' }]
    case 'lt':
    case 'lte':
      if (place.kind === 'above') return [present(column)]
      if (place.kind === 'between') return [{ kind: 'lte', column, value: place.floor }]
      return [{ kind: 'nothing' }]
  }
}

function present(column: Column): Predicate {
  return { kind: 'not_null', column }
}

/** Where a value stands among those that the column can hold. */
type Place =
  | { readonly kind: 'exact'; readonly value: Value }
  | { readonly kind: 'between'; readonly floor: bigint }
  | { readonly kind: 'below' | 'above' | 'elsewhere' }

function placeOf(column: Column, text: string): Place {
  const domain = column.rules.domain
  switch (domain.kind) {
    case 'grid':
      return gridPlace(column, domain, text)
    case 'float':
      return floatPlace(column, domain.single, text)
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw malformed(column, text)
      return { kind: 'exact', value: text === 'true' }
    case 'text':
      return domain.form === 'uuid' ? uuidPlace(text) : { kind: 'exact', value: text }
    case 'opaque':
      throw malformed(column, text)
  }
}

function gridPlace(column: Column, domain: Domain & { kind: 'grid' }, text: string): Place {
  const value = domain.parse(text)
  if (!value) throw malformed(column, text)
  const { floor, exact } = onGrid(value, domain.scale)
  if (floor < domain.min) return { kind: 'below' }
  if (floor > domain.max || (floor === domain.max && !exact)) return { kind: 'above' }
  return exact ? { kind: 'exact', value: floor } : { kind: 'between', floor }
}

function floatPlace(column: Column, single: boolean, text: string): Place {
  const parsed = parseFloating(text)
  if (parsed === undefined) throw malformed(column, text)
  const value = single ? Math.fround(parsed) : parsed
  if (value === Infinity) return { kind: 'above' }
  if (value === -Infinity) return { kind: 'below' }
  return { kind: 'exact', value }
}

function uuidPlace(text: string): Place {
  const value = parseUuid(text)
  return value === undefined ? { kind: 'elsewhere' } : { kind: 'exact', value }
}

function malformed(column: Column, text: string): Error {
  const { shown, example } = column.rules
  const article = /^[aeiou]/.test(shown) ? 'an' : 'a'
  return badRequest(
    `Column ${quoted(column.name)} is ${article} ${shown}; ${quoted(text)} is no value for it. ` +
      `Example: ${column.name}=${columnOperators(column)[0]}.${example}`,
  )
}
