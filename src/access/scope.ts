import { yearOf } from '../columns/history-value.js'
import type { Access } from './access.js'

/**
 * The part of the dataset that the caller sees, as `demo: 5 values of inn` or
 * `plan free: year 2025`; null if it is the whole dataset. It depends on no filter, so it does not
 * tell whether a row exists outside.
 */
export function scopeOf({ plan, predicates, version }: Access): string | null {
  if (!plan) return `demo: ${predicates.map(subset).join(', ')}`
  const { history, newestHistory } = version
  if (plan.history === 'all' || !history) return null
  const years = plan.history === 1 ? 'the latest year' : `the latest ${plan.history} years`
  if (history.hidden || newestHistory === undefined) return `plan ${plan.name}: ${years}`
  const last = yearOf(history, newestHistory)
  const first = last - BigInt(plan.history) + 1n
  const shown = first === last ? `${last}` : `${first}-${last}`
  return `plan ${plan.name}: ${history.name} ${shown}`
}

function subset(predicate: Access['predicates'][number]): string {
  if (predicate.kind === 'nothing' || predicate.column.hidden) return 'a subset'
  const count = 'values' in predicate ? predicate.values.length : 1
  return `${count} ${count === 1 ? 'value' : 'values'} of ${predicate.column.name}`
}
