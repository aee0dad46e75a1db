import type { Column } from '../../../columns/column.js'
import type { Value } from '../../../columns/filter-value.js'
import type { CompareKind, ListKind, Predicate } from '../../../columns/predicate.js'
import { comparisonSigns } from '../../comparison-signs.js'
import { bindList, bindText, bindValue } from '../bind.js'
import type { BoundValue } from '../bind.js'
import { servedText } from '../encode/encode.js'
import { wordPattern } from './word-pattern.js'

/**
 * DuckDB compares lists up to this long value by value while it scans. Its own IN of five or more
 * values is a join, which loses the stored order but is far faster for long lists.
 */
const shortListMax = 16
/** DuckDB prunes row groups by parameters but not by a list; more parameters cost more to plan. */
const parametersMax = 1100

/** Collects the values of one statement, each bound to the next `$n`. */
export class SqlParameters {
  readonly values: BoundValue[] = []

  add(bound: BoundValue): `$${number}` {
    this.values.push(bound)
    return `$${this.values.length}`
  }
}

type Comparison = Predicate & { readonly kind: CompareKind }
type Search = Predicate & { readonly kind: 'contains' }
type Membership = Predicate & { readonly kind: ListKind }

/** True for a condition that becomes a join, which loses the order of rows. */
export function isJoin(predicate: Predicate): boolean {
  return 'values' in predicate && predicate.values.length > shortListMax
}

/** One predicate as SQL over the column's expression from `sqlOf`; every value is bound. */
export function condition(
  predicate: Predicate,
  sqlOf: (column: Column) => string,
  parameters: SqlParameters,
): string {
  if (predicate.kind === 'nothing') return 'false'
  const sql = sqlOf(predicate.column)
  switch (predicate.kind) {
    case 'is_null':
    case 'not_null':
      return emptyCondition(predicate.kind, predicate.column, sql)
    case 'in':
    case 'not_in':
      return membership(predicate, sql, parameters)
    case 'contains':
      return contains(predicate, sql, parameters)
    default:
      return compare(predicate, sql, parameters)
  }
}

/** A value is empty if it is served as null: also NaN, ±infinity and a null written in JSON. */
function emptyCondition(kind: 'is_null' | 'not_null', column: Column, sql: string): string {
  if (mayBeInfinite(column)) {
    return kind === 'is_null' ? `(${sql} IS NULL OR NOT isfinite(${sql}))` : `isfinite(${sql})`
  }
  const { type } = column
  const isJson = type.kind === 'scalar' && ['JSON', 'VARIANT'].includes(type.name)
  return `${isJson ? servedText(type, sql) : sql} ${kind === 'is_null' ? 'IS NULL' : 'IS NOT NULL'}`
}

/** SQL for a value; NULL if null is served. */
export function presentValue(column: Column, sql: string): string {
  const isEmpty = emptyCondition('is_null', column, sql)
  return isEmpty === `${sql} IS NULL` ? sql : `CASE WHEN NOT (${isEmpty}) THEN ${sql} END`
}

function compare(
  { kind, column, value }: Comparison,
  sql: string,
  parameters: SqlParameters,
): string {
  const left = comparable(column, value, sql)
  const right = parameters.add(bindValue(column, value))
  // A range, because 0 and -0 are equal but Bloom filters in files distinguish them.
  if (kind === 'eq' && value === 0) return `(${left} >= ${right} AND ${left} <= -${right})`
  const comparison = `${left} ${comparisonSigns[kind]} ${right}`
  return kind === 'eq' || kind === 'isdistinct' ? comparison : finite(column, sql, comparison)
}

function membership(predicate: Membership, sql: string, parameters: SqlParameters): string {
  const { kind, column, values } = predicate
  if (kind === 'in' && !isJoin(predicate)) {
    const each = values.map((value) => compare({ kind: 'eq', column, value }, sql, parameters))
    return `(${each.join(' OR ')})`
  }
  const left = comparable(column, values[0] ?? '', sql)
  const list = valueList(predicate, parameters)
  return kind === 'in' ? `${left} IN ${list}` : finite(column, sql, `${left} NOT IN ${list}`)
}

function valueList(predicate: Membership, parameters: SqlParameters): string {
  const { kind, column, values } = predicate
  const prunes = kind === 'in' && parameters.values.length + values.length <= parametersMax
  if (prunes || !isJoin(predicate)) {
    return `(${values.map((value) => parameters.add(bindValue(column, value))).join(', ')})`
  }
  const { bound, listSql } = bindList(column, values)
  return `(SELECT unnest(${listSql(parameters.add(bound))}))`
}

function contains({ column, value }: Search, sql: string, parameters: SqlParameters): string {
  const text = comparable(column, value, sql)
  const pattern = wordPattern(value)
  const bound = parameters.add(bindText(pattern ?? value))
  return pattern === null ? `contains(${text}, ${bound})` : `regexp_matches(${text}, ${bound})`
}

/** The column in the form in which its values are bound. */
function comparable(column: Column, value: Value, sql: string): string {
  const { domain } = column.rules
  const isRendered = domain.kind === 'text' && domain.form !== 'text' && typeof value === 'string'
  return isRendered ? servedText(column.type, sql) : sql
}

/** Excludes rows whose value is NaN or infinite, because they count as empty. */
function finite(column: Column, sql: string, comparison: string): string {
  return mayBeInfinite(column) ? `(${comparison} AND isfinite(${sql}))` : comparison
}

/** True for types that also have NaN or ±infinity, which are served as null. */
export function mayBeInfinite({ rules: { domain } }: Column): boolean {
  return domain.kind === 'float' || (domain.kind === 'grid' && domain.infinities)
}
