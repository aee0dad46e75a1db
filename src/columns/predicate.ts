import { badRequest } from '../errors.js'
import { quoted } from '../text.js'
import { columnOperators } from './column.js'
import type { Column } from './column.js'
import { parseFilterValue } from './filter-value.js'
import type { Value } from './filter-value.js'
import { stepsPerDay, yearOf } from './history-value.js'
import type { Operator } from './operators.js'
import { searchWords } from './search-words.js'
import { firstDayOfYear } from './values.js'

/**
 * One condition on a row; the predicates of a question are combined with AND. A plan's window, a
 * demo subset and a caller's filter all have this type and become SQL in the same way. "Empty"
 * means served as null: NULL, NaN and ±infinity.
 */
export type Predicate =
  | { readonly kind: CompareKind; readonly column: Column; readonly value: Value }
  | { readonly kind: ListKind; readonly column: Column; readonly values: readonly Value[] }
  /** The column's text has this folded word anywhere (`search-words.ts`). */
  | { readonly kind: 'contains'; readonly column: Column; readonly value: string }
  | { readonly kind: 'is_null' | 'not_null'; readonly column: Column }
  /** Matches no row: the column can't hold the value. */
  | { readonly kind: 'nothing' }

export type CompareKind = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'isdistinct'
export type ListKind = 'in' | 'not_in'

const lastCodePoint = 0x10ffff

/** @throws bad_request with the operators that the column has, if this is none of them */
export function requireOperator(column: Column, operator: Operator): void {
  const allowed = columnOperators(column)
  if (allowed.includes(operator)) return
  throw badRequest(
    `Column ${quoted(column.name)} (${column.rules.shown}) has no operator "${operator}". ` +
      `It has: ${allowed.join(', ')}.`,
  )
}

/**
 * The predicates of one filter; an empty list when every row passes. Values compare exactly: a
 * value between two steps of a column, or beyond its range, is never rounded.
 * @throws bad_request when the column lacks the operator or a value is malformed
 */
export function filterPredicates(
  column: Column,
  operator: Operator,
  texts: readonly string[],
): readonly Predicate[] {
  requireOperator(column, operator)
  switch (operator) {
    case 'is_null':
    case 'not_null':
      return [{ kind: operator, column }]
    case 'in':
    case 'not_in':
      return listPredicates(column, operator, texts)
    case 'like':
      return likePredicates(column, texts[0] ?? '')
    case 'contains':
      return containsPredicates(column, texts[0] ?? '')
    default:
      return comparePredicates(column, operator, texts[0] ?? '')
  }
}

/**
 * Rows of the latest `years` calendar years, counted back from the year of the column's newest
 * value; no row if the column has no value. A timestamp's year is its year in UTC.
 */
export function latestYears(
  column: Column,
  newest: bigint | undefined,
  years: number,
): readonly Predicate[] {
  const { domain, shown } = column.rules
  if (newest === undefined || domain.kind !== 'grid') return [{ kind: 'nothing' }]
  const before = BigInt(years) - 1n
  const firstYear = yearOf(column, newest) - before
  const first = shown === 'integer' ? firstYear : firstDayOfYear(firstYear) * stepsPerDay(column)
  return [first < domain.min ? present(column) : { kind: 'gte', column, value: first }]
}

/** A text that is equal for equal conditions, for signatures and cache keys. */
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

/** Rows with one of these values, or with none of them. @throws bad_request for a malformed one */
export function listPredicates(
  column: Column,
  kind: ListKind,
  texts: readonly string[],
): readonly Predicate[] {
  const values = new Set<Value>()
  for (const text of texts) {
    const parsed = parseFilterValue(column, text)
    if (parsed.kind === 'exact') values.add(parsed.value)
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
      `like on ${quoted(column.name)} takes one * at the end. ` +
        `Example: ${column.name}=like.${column.rules.example}*. ` +
        'For a text that contains *, use eq.',
    )
  }
  const stem = pattern.slice(0, star)
  const { domain } = column.rules
  const prefix = domain.kind === 'text' && domain.form === 'uuid' ? stem.toLowerCase() : stem
  if (prefix === '') return [present(column)]
  const next = textAfterPrefix(prefix)
  const from: Predicate = { kind: 'gte', column, value: prefix }
  return next === undefined ? [from] : [from, { kind: 'lt', column, value: next }]
}

/** All words are needed, so each is a condition. */
function containsPredicates(column: Column, text: string): readonly Predicate[] {
  const words = searchWords(
    text,
    `contains on ${quoted(column.name)}`,
    ` Example: ${column.name}=contains.word`,
  )
  return words.map((value) => ({ kind: 'contains', column, value }))
}

/** The first text, by code points, after all texts that begin with `prefix`, if there is one. */
export function textAfterPrefix(prefix: string): string | undefined {
  let end = prefix.length
  while (end > 0) {
    const start = isLowSurrogate(prefix.charCodeAt(end - 1)) ? end - 2 : end - 1
    const last = prefix.codePointAt(start) ?? 0
    if (last < lastCodePoint) {
      return prefix.slice(0, start) + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)
    }
    end = start
  }
  return undefined
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

function comparePredicates(column: Column, kind: CompareKind, text: string): readonly Predicate[] {
  const parsed = parseFilterValue(column, text)
  if (parsed.kind === 'exact') return [{ kind, column, value: parsed.value }]
  switch (kind) {
    case 'eq':
      return [{ kind: 'nothing' }]
    case 'ne':
      return [present(column)]
    case 'isdistinct':
      return []
    case 'gt':
    case 'gte':
      if (parsed.kind === 'below') return [present(column)]
      if (parsed.kind === 'between') return [{ kind: 'gt', column, value: parsed.floor }]
      return [{ kind: 'nothing' }]
    case 'lt':
    case 'lte':
      if (parsed.kind === 'above') return [present(column)]
      if (parsed.kind === 'between') return [{ kind: 'lte', column, value: parsed.floor }]
      return [{ kind: 'nothing' }]
  }
}

function present(column: Column): Predicate {
  return { kind: 'not_null', column }
}
