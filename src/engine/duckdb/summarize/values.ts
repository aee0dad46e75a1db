import type { Column } from '../../../columns/column.js'
import type { GroupBy } from '../../../query/summary.js'
import type { GroupKey } from '../../group-key.js'
import { servedText } from '../encode/encode.js'
import { signedYear } from '../encode/encode-scalar.js'
import { presentValue } from '../read/condition.js'

/**
 * SQL for a column's value in the form that filters compare: the served text of types without an
 * order of their own, 0 for -0; NULL if null is served.
 */
export function comparableValue(column: Column, sql: string): string {
  const { domain } = column.rules
  if (domain.kind === 'text' && domain.form === 'rendered') return servedText(column.type, sql)
  const present = presentValue(column, sql)
  return domain.kind === 'float' ? `(${present} + 0)` : present
}

/** True for a type whose sums are not exact in SQL. */
export function isFloating({ rules: { domain } }: Column): boolean {
  return domain.kind === 'float'
}

/** SQL for a number as a DOUBLE; a FLOAT by the digits that are served, 0.1 and not 0.100000001. */
export function doubleValue(column: Column, sql: string): string {
  const { domain } = column.rules
  const present = presentValue(column, sql)
  const isSingle = domain.kind === 'float' && domain.single
  return `CAST(${isSingle ? `CAST(${present} AS VARCHAR)` : present} AS DOUBLE)`
}

const quartersPerYear = 4
const monthsPerYear = 12

/** Quarters and months are counted from year 0 until they are served: numbers group faster. */
export function groupKey({ column, by }: GroupBy, sql: string): GroupKey {
  const day = dayOf(column, sql)
  switch (by.kind) {
    case 'value':
      return { key: comparableValue(column, sql), served: same }
    case 'prefix':
      return { key: `left(${servedText(column.type, sql)}, ${by.length})`, served: same }
    case 'year':
      return { key: `year(${day})`, served: same }
    case 'quarter':
      return {
        key: `(year(${day}) * ${quartersPerYear} + quarter(${day}) - 1)`,
        served: (key) => partText(key, quartersPerYear, (part) => `'-Q' || ${part}`),
      }
    case 'month':
      return {
        key: `(year(${day}) * ${monthsPerYear} + month(${day}) - 1)`,
        served: (key) => partText(key, monthsPerYear, (part) => `format('-{:02d}', ${part})`),
      }
    case 'day':
      return { key: day, served: (key) => servedText({ kind: 'scalar', name: 'DATE' }, key) }
  }
}

function same(key: string): string {
  return key
}

function partText(key: string, perYear: number, text: (part: string) => string): string {
  const year = `CAST(floor(${key} / ${perYear}) AS BIGINT)`
  return `(${signedYear(year)} || ${text(`(${key} - ${year} * ${perYear} + 1)`)})`
}

const dayNs = 86_400_000_000_000n

/** The calendar day in UTC of a date or timestamp; NULL if null is served. */
function dayOf(column: Column, sql: string): string {
  const value = presentValue(column, sql)
  const name = column.type.kind === 'scalar' ? column.type.name : null
  if (name === 'DATE') return value
  if (name === 'TIMESTAMPTZ') return `CAST(make_timestamp(epoch_us(${value})) AS DATE)`
  if (name !== 'TIMESTAMP_NS') return `CAST(CAST(${value} AS TIMESTAMP) AS DATE)`
  // A cast would round the last nanoseconds before 1970 up to the next day.
  const ns = `epoch_ns(${value})`
  const days = `(${ns} // ${dayNs} - CASE WHEN ${ns} % ${dayNs} < 0 THEN 1 ELSE 0 END)`
  return `(DATE '1970-01-01' + CAST(${days} AS INTEGER))`
}
