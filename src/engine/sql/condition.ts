import type { Column } from '../../columns/column.js'
import type { Value } from '../../columns/filter-value.js'
import type { CompareKind, ListKind, Predicate } from '../../columns/predicate.js'
import type { Dialect, Parameters } from './dialect.js'
import { isJson, servedText } from './encode.js'
import { wordPattern } from './word-pattern.js'

const signs: Readonly<Record<CompareKind, string>> = {
  eq: '=',
  ne: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  isdistinct: 'IS DISTINCT FROM',
}

/** The comparisons that every value of a column meets with one that lies beside its type. */
const metBy: Readonly<Record<'below' | 'above', readonly CompareKind[]>> = {
  below: ['gt', 'gte', 'ne'],
  above: ['lt', 'lte', 'ne'],
}

type Comparison = Predicate & { readonly kind: CompareKind }
type Search = Predicate & { readonly kind: 'contains' }
type Membership = Predicate & { readonly kind: ListKind }
type Emptiness = Predicate & { readonly kind: 'is_null' | 'not_null' }

/** One predicate as SQL over the column's expression from `sqlOf`; every value is bound. */
export function condition(
  predicate: Predicate,
  sqlOf: (column: Column) => string,
  parameters: Parameters,
): string {
  if (predicate.kind === 'nothing') return 'false'
  const sql = sqlOf(predicate.column)
  switch (predicate.kind) {
    case 'is_null':
    case 'not_null':
      return emptyCondition(predicate, sql, parameters)
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
function emptyCondition({ kind, column }: Emptiness, sql: string, { dialect }: Parameters): string {
  const isFinite = finiteCheck(dialect, column, sql)
  if (isFinite === null) {
    const present = presentValue(dialect, column, sql)
    return `${present} ${kind === 'is_null' ? 'IS NULL' : 'IS NOT NULL'}`
  }
  return kind === 'is_null' ? `(${sql} IS NULL OR NOT ${isFinite})` : isFinite
}

/** SQL that is NULL if null is served; otherwise the value, or the text of JSON. */
export function presentValue(dialect: Dialect, column: Column, sql: string): string {
  if (isJson(column.type)) return servedText(dialect, column.type, sql)
  const isFinite = finiteCheck(dialect, column, sql)
  return isFinite === null ? sql : `CASE WHEN ${isFinite} THEN ${sql} END`
}

/** True for a value that is not NaN or ±infinity; null for a type without these. */
function finiteCheck(dialect: Dialect, column: Column, sql: string): string | null {
  return dialect.mayBeInfinite(column) ? `${dialect.functions.isFinite}(${sql})` : null
}

function compare({ kind, column, value }: Comparison, sql: string, parameters: Parameters): string {
  const { dialect } = parameters
  const outside = dialect.outsideOf(column, value)
  if (outside && kind === 'isdistinct') return 'true'
  if (outside) return metBy[outside].includes(kind) ? `${sql} IS NOT NULL` : 'false'
  const left = comparable(dialect, column, value, sql)
  if (kind === 'eq' && value === 0) return dialect.isZero(left, column, parameters)
  const comparison = `${left} ${signs[kind]} ${parameters.value(column, value)}`
  const isFinite = finiteCheck(dialect, column, sql)
  if (isFinite === null || kind === 'eq') return comparison
  // Bounds of files do not show a NaN, and engines choose row groups by them.
  if (kind === 'isdistinct') return `(NOT ${isFinite} OR ${comparison})`
  return `(${comparison} AND ${isFinite})`
}

function membership(predicate: Membership, sql: string, parameters: Parameters): string {
  const { kind, column } = predicate
  const { dialect } = parameters
  const values = predicate.values.filter((value) => dialect.outsideOf(column, value) === null)
  const [first] = values
  if (first === undefined) return kind === 'in' ? 'false' : `${sql} IS NOT NULL`
  if (kind === 'in' && parameters.comparesEach(column, values.length)) {
    const each = values.map((value) => compare({ kind: 'eq', column, value }, sql, parameters))
    return `(${each.join(' OR ')})`
  }
  const left = comparable(dialect, column, first, sql)
  const list = parameters.list(kind, column, values)
  if (kind === 'in') return `${left} IN ${list}`
  const isFinite = finiteCheck(dialect, column, sql)
  return isFinite === null ? `${left} NOT IN ${list}` : `(${left} NOT IN ${list} AND ${isFinite})`
}

function contains({ column, value }: Search, sql: string, parameters: Parameters): string {
  const { dialect } = parameters
  const text = comparable(dialect, column, value, sql)
  const pattern = wordPattern(value)
  const bound = parameters.text(pattern ?? value)
  return pattern === null
    ? dialect.contains(text, bound)
    : `${dialect.functions.matches}(${text}, ${bound})`
}

/** The column in the form in which its values are bound. */
function comparable(dialect: Dialect, column: Column, value: Value, sql: string): string {
  const { domain } = column.rules
  const isRendered = domain.kind === 'text' && domain.form !== 'text' && typeof value === 'string'
  return isRendered ? servedText(dialect, column.type, sql) : sql
}
