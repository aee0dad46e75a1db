import type { Access } from './access.js'
import type { Column } from '../columns/column.js'
import { floorDivide, yearOfDay } from '../columns/values.js'

const secondsPerDay = 86_400n
const msPerDay = 86_400_000
const dateMsMax = 8_640_000_000_000_000

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

function yearOf(column: Column, steps: bigint): bigint {
  return column.rules.shown === 'integer' ? steps : yearOfDay(dayOf(column, steps))
}

/** Days since 1970-01-01, UTC. */
function dayOf({ rules: { domain, shown } }: Column, steps: bigint): bigint {
  const scale = domain.kind === 'grid' ? domain.scale : 0
  return shown === 'date' ? steps : floorDivide(steps, secondsPerDay * 10n ** BigInt(scale))
}

/** A value of a history column as `2025` or `2025-03-31`; null if no calendar has it. */
export function historyText(column: Column, steps: bigint): string | null {
  if (column.rules.shown === 'integer') return String(steps)
  const ms = Number(dayOf(column, steps)) * msPerDay
  return Math.abs(ms) > dateMsMax ? null : (new Date(ms).toISOString().split('T')[0] ?? null)
}
