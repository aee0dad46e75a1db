import type { Column } from '../../../columns/column.js'
import type { GroupBy } from '../../../query/summary.js'
import type { GroupKey } from '../../group-key.js'
import { comparableValue } from '../compile.js'
import { presentValue } from '../condition.js'
import { servedText } from '../encode.js'

/** SQL for a number as a DOUBLE; a REAL by the digits that are served, 0.1 and not 0.100000001. */
export function doubleValue(column: Column, sql: string): string {
  const { domain } = column.rules
  const present = presentValue(column, sql)
  const isSingle = domain.kind === 'float' && domain.single
  return `CAST(${isSingle ? `json_format(CAST(${present} AS JSON))` : present} AS DOUBLE)`
}

const quartersPerYear = 4
const monthsPerYear = 12

/** Quarters and months are counted from year 0 until they are served. */
export function groupKey({ column, by }: GroupBy, sql: string): GroupKey {
  const day = dayOf(column, sql)
  switch (by.kind) {
    case 'value':
      return { key: comparableValue(column, sql), served: same }
    case 'prefix':
      return { key: `substr(${servedText(column.type, sql)}, 1, ${by.length})`, served: same }
    case 'year':
      return { key: `year(${day})`, served: same }
    case 'quarter':
      return {
        key: `(year(${day}) * ${quartersPerYear} + quarter(${day}) - 1)`,
        served: (key) =>
          partText(key, quartersPerYear, (part) => `'-Q' || CAST(${part} AS VARCHAR)`),
      }
    case 'month':
      return {
        key: `(year(${day}) * ${monthsPerYear} + month(${day}) - 1)`,
        served: (key) => partText(key, monthsPerYear, (part) => `format('-%02d', ${part})`),
      }
    case 'day':
      return { key: day, served: (key) => servedText({ kind: 'scalar', name: 'DATE' }, key) }
  }
}

function same(key: string): string {
  return key
}

/** Trino's `format` makes a text of NULL too. */
function partText(key: string, perYear: number, text: (part: string) => string): string {
  const year = `CAST(floor(${key} / DOUBLE '${perYear}') AS BIGINT)`
  const sign = `CASE WHEN ${year} < 0 THEN '-' WHEN ${year} > 9999 THEN '+' ELSE '' END`
  const part = text(`(${key} - ${year} * ${perYear} + 1)`)
  return `IF(${key} IS NOT NULL, ${sign} || format('%04d', abs(${year})) || ${part})`
}

/** The calendar day in UTC of a date or timestamp. */
function dayOf({ type }: Column, sql: string): string {
  const name = type.kind === 'scalar' ? type.name : null
  if (name === 'TIMESTAMPTZ') return `CAST(${sql} AT TIME ZONE 'UTC' AS DATE)`
  return name === 'DATE' ? sql : `CAST(${sql} AS DATE)`
}
