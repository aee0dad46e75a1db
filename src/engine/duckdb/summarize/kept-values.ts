import type { Column } from '../../../columns/column.js'
import type { Aggregate } from '../../../query/summary.js'
import { doubleParts, leastBits, letIn, sumOfParts } from '../../sql/exact-numbers.js'
import type { Dialect, PercentileSql } from '../../sql/dialect.js'

/** The inverse of 2 to a smaller power is no DOUBLE; the parts hold the smallest DOUBLEs by it. */
const leastPower = -1000

/**
 * SQL of a DOUBLE sum for numbers of any size: slower, because it keeps them, to multiply them by
 * the power of two that brings the largest one close to 2^61. The parts then hold all digits of
 * numbers that are up to 2^132 times smaller.
 */
export function scaledSum(dialect: Dialect, value: string): string {
  const sumOf = (sql: string) => `list_sum(list_transform(x, lambda e: ${sql}))`
  const { whole, first, second } = doubleParts(dialect, 'e')
  const sums = `{whole: ${sumOf(whole)}, first: ${sumOf(first)}, second: ${sumOf(second)}}`
  const parts = { whole: 's.whole', first: 's.first', second: 's.second' }
  const power = `coalesce(greatest(ceil(log2(nullif(m, 0))) - ${leastBits + 1}, ${leastPower}), 0)`
  const largest = 'list_max(list_transform(l, lambda e: abs(e)))'
  const sum = `${letIn(dialect, 's', sums, sumOfParts(dialect, parts))} * pow(2::DOUBLE, p)`
  const scaled = letIn(dialect, 'x', 'list_transform(l, lambda e: e * pow(2::DOUBLE, -p))', sum)
  const byPower = letIn(dialect, 'm', largest, letIn(dialect, 'p', power, scaled))
  return letIn(dialect, 'l', listOf(value), byPower)
}

/** The percentiles of one value are computed at once, because each keeps all values. */
export function percentileSql(
  value: string,
  percent: number,
  percents: readonly number[],
): PercentileSql {
  const shares = percents.map((each) => each / 100).join(', ')
  return {
    kept: `list_aggregate(${listOf(value)}, 'quantile_cont', [${shares}])`,
    read: (kept) => `list_extract(${kept}, ${percents.indexOf(percent) + 1})`,
  }
}

/**
 * SQL of the list of a group's values that are not NULL; NULL for an empty list. An aggregate over
 * the list gives the same as over the group. But aggregates that keep values themselves
 * (`quantile_cont`, `min` of texts, any with ORDER BY) keep them in memory that DuckDB's limit does
 * not count, and that is never freed when the query is stopped.
 */
function listOf(value: string): string {
  return `list(${value}) FILTER (${value} IS NOT NULL)`
}

/**
 * True for an aggregate that keeps a text for each group. DuckDB must destroy what it keeps, also
 * when a query fails: where it was spilled and no memory is left to read it back, DuckDB ends the
 * process. So such aggregates run only in instances that do not spill.
 */
export function keepsTexts(aggregate: Aggregate): boolean {
  const isExtreme = aggregate.kind === 'min' || aggregate.kind === 'max'
  return isExtreme && aggregate.of.column.rules.domain.kind === 'text'
}

/** SQL of the smallest or largest value. */
export function extremeSql(kind: 'min' | 'max', column: Column, value: string): string {
  // DuckDB counts the memory of this form, and frees it when a query is stopped.
  return keepsTexts({ kind, of: { column, at: null } })
    ? `${kind}(${value}, 1)[1]`
    : `${kind}(${value})`
}
