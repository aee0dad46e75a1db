import type { Column } from './column.js'
import { floorDivide, yearOfDay } from './values.js'

const secondsPerDay = 86_400n
const msPerDay = 86_400_000
const dateMsMax = 8_640_000_000_000_000

/** The calendar year in UTC of a value of a history column, in steps of its grid. */
export function yearOf(column: Column, steps: bigint): bigint {
  return column.rules.shown === 'integer' ? steps : yearOfDay(dayOf(column, steps))
}

/** Days since 1970-01-01, UTC. */
export function dayOf({ rules: { domain, shown } }: Column, steps: bigint): bigint {
  const scale = domain.kind === 'grid' ? domain.scale : 0
  return shown === 'date' ? steps : floorDivide(steps, secondsPerDay * 10n ** BigInt(scale))
}

/** A value of a history column as `2025` or `2025-03-31`; null if no calendar has it. */
export function historyText(column: Column, steps: bigint): string | null {
  if (column.rules.shown === 'integer') return String(steps)
  const ms = Number(dayOf(column, steps)) * msPerDay
  return Math.abs(ms) > dateMsMax ? null : (new Date(ms).toISOString().split('T')[0] ?? null)
}
