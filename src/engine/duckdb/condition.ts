import type { Column } from '../../catalog/column.js'
import type { CompareKind, ListKind, Predicate, Value } from '../../catalog/predicate.js'
import { bindList, bindValue } from './bind.js'
import type { Bound } from './bind.js'

/** Longer lists become joins inside DuckDB, which give up the stored order. */
export const shortListMax = 3
/** Parameters prune by row group and a list does not; beyond this many, planning costs more. */
const parametersMax = 1100

/** Collects the values of one statement, each bound to the next `$n`. */
export class Parameters {
  readonly values: Bound[] = []

  add(bound: Bound): string {
    this.values.push(bound)
    return `$${this.values.length}`
  }
}

const comparisons: Readonly<Record<CompareKind, string>> = {
  eq: '=',
  ne: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  isdistinct: 'IS DISTINCT FROM',
}

/** One predicate as SQL over the column as `sql` gives it; every value is bound. */
export function condition(
  predicate: Exclude<Predicate, { kind: 'nothing' }>,
  sql: string,
  parameters: Parameters,
): string {
  const { column } = predicate
  switch (predicate.kind) {
    case 'is_null':
      return mayBeInfinite(column) ? `(${sql} IS NULL OR NOT isfinite(${sql}))` : `${sql} IS NULL`
    case 'not_null':
      return mayBeInfinite(column) ? `isfinite(${sql})` : `${sql} IS NOT NULL`
    case 'in':
    case 'not_in':
      return listCondition(predicate.kind, column, predicate.values, sql, parameters)
    default:
      return compareCondition(predicate.kind, column, predicate.value, sql, parameters)
  }
}

/** Types whose NaN and ±infinity are served as null, and so are empty to every filter. */
function mayBeInfinite(column: Column): boolean {
  const { domain } = column.rules
  return domain.kind === 'float' || (domain.kind === 'grid' && domain.infinities)
}

function compareCondition(
  kind: CompareKind,
  column: Column,
  value: Value,
  sql: string,
  parameters: Parameters,
): string {
  const bound = parameters.add(bindValue(column, value))
  const comparison = `${comparable(column, value, sql)} ${comparisons[kind]} ${bound}`
  const isOpen = kind !== 'eq' && kind !== 'isdistinct'
  return isOpen && mayBeInfinite(column) ? `(${comparison} AND isfinite(${sql}))` : comparison
}

/** The column in the form that its values are bound in. */
function comparable(column: Column, value: Value, sql: string): string {
  const { domain } = column.rules
  const isRendered = domain.kind === 'text' && domain.form !== 'text' && typeof value === 'string'
  return isRendered ? `CAST(${sql} AS VARCHAR)` : sql
}

function listCondition(
  kind: ListKind,
  column: Column,
  values: readonly Value[],
  sql: string,
  parameters: Parameters,
): string {
  const [first = ''] = values
  const left = comparable(column, first, sql)
  const finite = kind === 'not_in' && mayBeInfinite(column) ? ` AND isfinite(${sql})` : ''
  const bind = (value: Value) => parameters.add(bindValue(column, value))
  if (values.length <= shortListMax) {
    const [comparison, glue] = kind === 'in' ? ['=', ' OR '] : ['<>', ' AND ']
    return `(${values.map((value) => `${left} ${comparison} ${bind(value)}`).join(glue)}${finite})`
  }
  if (kind === 'in' && parameters.values.length + values.length <= parametersMax) {
    return `${left} IN (${values.map(bind).join(', ')})`
  }
  const list = `(SELECT unnest(${parameters.add(bindList(column, values))}))`
  return `(${left} ${kind === 'in' ? 'IN' : 'NOT IN'} ${list}${finite})`
}
