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
function dayOf(column: Column, steps: bigint): bigint {
  return floorDivide(steps, stepsPerDay(column))
}

/** The steps of a history column's grid in a day; its column is no year. */
export function stepsPerDay({ rules: { domain, shown } }: Column): bigint {
  const scale = domain.kind === 'grid' ? domain.scale : 0
  return shown === 'date' ? 1n : secondsPerDay * 10n ** BigInt(scale)
}

/** How far ahead a day may lie. */
const daysAheadMax = 400

/**
 * The newest value of a history column that can be right, in steps of its grid: next year, or a day
 * not too far ahead. A greater one is a mistake of its writer.
 */
export function newestPossible(column: Column, nowMs: number): bigint {
  if (column.rules.shown === 'integer') return BigInt(new Date(nowMs).getUTCFullYear() + 1)
  const lastDay = BigInt(Math.floor(nowMs / msPerDay) + daysAheadMax)
  return (lastDay + 1n) * stepsPerDay(column) - 1n
}

/** Whether a value of a history column is greater than any that can be right. */
export function isAhead(column: Column, steps: bigint, nowMs: number): boolean {
  return steps > newestPossible(column, nowMs)
}

/** A value of a history column as `2025` or `2025-03-31`; null if no calendar has it. */
export function historyText(column: Column, steps: bigint): string | null {
  if (column.rules.shown === 'integer') return String(steps)
  const ms = Number(dayOf(column, steps)) * msPerDay
  return Math.abs(ms) > dateMsMax ? null : (new Date(ms).toISOString().split('T')[0] ?? null)
}
