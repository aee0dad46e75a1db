import type { Column } from '../../columns/column.js'
import { isFloat } from '../../columns/data-type.js'
import type { GroupBy } from '../../query/summary.js'
import { presentValue } from './condition.js'
import type { Dialect } from './dialect.js'
import { servedText, textOf } from './encode.js'

/**
 * SQL for a column's value in the form that filters compare: the served text of types without an
 * order of their own, 0 for -0; NULL if null is served.
 */
export function comparableValue(dialect: Dialect, column: Column, sql: string): string {
  if (isRendered(column)) return servedText(dialect, column.type, sql)
  const present = presentValue(dialect, column, sql)
  return isFloat(column.type) ? `(${present} + 0)` : present
}

/** True for a type without an order of its own, whose values are compared by their texts. */
export function isRendered({ rules: { domain } }: Column): boolean {
  return domain.kind === 'text' && domain.form === 'rendered'
}

/** SQL for a number as a DOUBLE; a FLOAT by the digits that are served. */
export function doubleValue(dialect: Dialect, column: Column, sql: string): string {
  const { domain } = column.rules
  const present = presentValue(dialect, column, sql)
  const isSingle = domain.kind === 'float' && domain.single
  return `CAST(${isSingle ? dialect.floatText(present) : present} AS DOUBLE)`
}

/** What rows are grouped by, and how it is served. */
export interface GroupKey {
  /** SQL over the column; keys have the order of the groups. */
  readonly key: string
  /** SQL over the key, in the type of the group's result column. */
  readonly served: (key: string) => string
}

const quartersPerYear = 4
const monthsPerYear = 12

/** Quarters and months are counted from year 0 until they are served: numbers group faster. */
export function groupKey(
  dialect: Dialect,
  { column, by }: Pick<GroupBy, 'column' | 'by'>,
  sql: string,
): GroupKey {
  const day = () => dayOf(dialect, column, sql)
  switch (by.kind) {
    case 'rest':
      throw new TypeError('the rest has no key of its own')
    case 'value':
      return { key: comparableValue(dialect, column, sql), served: same }
    case 'level':
      // The SQL is that of the upper code.
      return { key: sql, served: same }
    case 'prefix': {
      const text = servedText(dialect, column.type, sql)
      return { key: `substr(${text}, 1, ${by.length})`, served: same }
    }
    case 'year':
      return { key: `year(${day()})`, served: same }
    case 'quarter':
      return {
        key: `(year(${day()}) * ${quartersPerYear} + quarter(${day()}) - 1)`,
        served: (key) =>
          partText(dialect, key, quartersPerYear, (part) => `'-Q' || ${textOf(part)}`),
      }
    case 'month':
      return {
        key: `(year(${day()}) * ${monthsPerYear} + month(${day()}) - 1)`,
        served: (key) =>
          partText(dialect, key, monthsPerYear, (part) => `'-' || ${dialect.padded(part, 2)}`),
      }
    case 'day': {
      const date = { kind: 'scalar', name: 'DATE' } as const
      return { key: day(), served: (key) => servedText(dialect, date, key) }
    }
  }
}

function same(key: string): string {
  return key
}

/** Some functions that pad make a text of NULL too. */
function partText(
  dialect: Dialect,
  key: string,
  perYear: number,
  text: (part: string) => string,
): string {
  const year = `CAST(floor(${key} / ${perYear}e0) AS BIGINT)`
  const part = `(${key} - ${year} * ${perYear} + 1)`
  const full = `${signedYear(year, dialect.padded)} || ${text(part)}`
  return `CASE WHEN ${key} IS NOT NULL THEN ${full} END`
}

/** SQL for the text of a year in at least four digits, with a sign if it is beyond 0–9999. */
export function signedYear(year: string, padded: Dialect['padded']): string {
  const sign = `CASE WHEN ${year} < 0 THEN '-' WHEN ${year} > 9999 THEN '+' ELSE '' END`
  return `${sign} || ${padded(`abs(${year})`, 4)}`
}

/** The calendar day in UTC of a date or timestamp; NULL if null is served. */
function dayOf(dialect: Dialect, column: Column, sql: string): string {
  const value = presentValue(dialect, column, sql)
  const name = column.type.kind === 'scalar' ? column.type.name : null
  return name === 'DATE' ? value : dialect.dayOf(name, value)
}
