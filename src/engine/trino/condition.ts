import type { Column } from '../../columns/column.js'
import type { Value } from '../../columns/filter-value.js'
import type { CompareKind, ListKind, Predicate } from '../../columns/predicate.js'
import { comparisonSigns } from '../comparison-signs.js'
import { wordPattern } from '../duckdb/read/word-pattern.js'
import { servedText } from './encode.js'
import { outsideOf } from './literals.js'
import { boundText, boundValue, joined, sql } from './sql.js'
import type { Sql } from './sql.js'

/** All predicates as one SQL condition over the columns' expressions; every value is bound. */
export function conditions(
  predicates: readonly Predicate[],
  sqlOf: (column: Column) => string,
): Sql {
  if (predicates.length === 0) return sql`true`
  return joined(
    predicates.map((predicate) => condition(predicate, sqlOf)),
    ' AND ',
  )
}

/** One predicate as SQL; "empty" is what is served as null. */
export function condition(predicate: Predicate, sqlOf: (column: Column) => string): Sql {
  if (predicate.kind === 'nothing') return sql`false`
  const { column } = predicate
  const value = sqlOf(column)
  switch (predicate.kind) {
    case 'is_null':
      return sql`${presentValue(column, value)} IS NULL`
    case 'not_null':
      return sql`${presentValue(column, value)} IS NOT NULL`
    case 'in':
    case 'not_in':
      return membership(predicate.kind, column, predicate.values, value)
    case 'contains':
      return contains(column, predicate.value, value)
    default:
      return comparison(predicate.kind, column, predicate.value, value)
  }
}

/** SQL for a value; NULL if null is served. */
export function presentValue(column: Column, value: string): string {
  if (isFloat(column)) return `CASE WHEN is_finite(${value}) THEN ${value} END`
  const { type } = column
  return type.kind === 'scalar' && type.name === 'JSON' ? servedText(type, value) : value
}

/** True for types that also have NaN and ±infinity, which are served as null. */
export function isFloat({ rules: { domain } }: Column): boolean {
  return domain.kind === 'float'
}

function membership(kind: ListKind, column: Column, all: readonly Value[], of: string): Sql {
  const values = all.filter((value) => outsideOf(column, value) === null)
  if (values.length === 0) return kind === 'in' ? sql`false` : sql`${of} IS NOT NULL`
  if (kind === 'in' && isFloat(column)) {
    const each = values.map((value) => comparison('eq', column, value, of))
    return sql`(${joined(each, ' OR ')})`
  }
  const list = joined(
    values.map((value) => boundValue(column, value)),
    ', ',
  )
  const left = comparable(column, values[0], of)
  return kind === 'in'
    ? sql`${left} IN (${list})`
    : finite(column, of, sql`${left} NOT IN (${list})`)
}

/** The comparisons that every value of a column meets with one that lies beside its type. */
const metBy: Readonly<Record<'below' | 'above', readonly CompareKind[]>> = {
  below: ['gt', 'gte', 'ne'],
  above: ['lt', 'lte', 'ne'],
}

function comparison(kind: CompareKind, column: Column, value: Value, of: string): Sql {
  const outside = outsideOf(column, value)
  if (outside && kind === 'isdistinct') return sql`true`
  if (outside) return metBy[outside].includes(kind) ? sql`${of} IS NOT NULL` : sql`false`
  const left = comparable(column, value, of)
  // A range, because 0 and -0 are equal but statistics of files distinguish them.
  if (kind === 'eq' && value === 0) {
    return sql`(${left} >= ${boundValue(column, -0)} AND ${left} <= ${boundValue(column, 0)})`
  }
  const compared = sql`${left} ${comparisonSigns[kind]} ${boundValue(column, value)}`
  if (kind !== 'isdistinct') return finite(column, of, compared)
  return isFloat(column) ? sql`(NOT is_finite(${of}) OR ${compared})` : compared
}

function contains(column: Column, word: string, value: string): Sql {
  const text = comparable(column, word, value)
  const pattern = wordPattern(word)
  return pattern === null
    ? sql`strpos(${text}, ${boundText(word)}) > 0`
    : sql`regexp_like(${text}, ${boundText(pattern)})`
}

/** The column in the form in which its values are bound. */
function comparable({ type, rules: { domain } }: Column, value: unknown, of: string): string {
  const isRendered = domain.kind === 'text' && domain.form !== 'text' && typeof value === 'string'
  return isRendered ? servedText(type, of) : of
}

function finite(column: Column, value: string, compared: Sql): Sql {
  return isFloat(column) ? sql`(${compared} AND is_finite(${value}))` : compared
}
