import type { ScalarName } from '../../../columns/data-type.js'
import type { EncodedSql } from '../../sql/dialect.js'
import { textOf } from '../../sql/encode.js'
import { signedYear } from '../../sql/values.js'
import { storedJson, variantJson } from './encode-json.js'

/** DuckDB's name for TIMETZ. Files store it in UTC, and Parquet has a type for that. */
export const zonedTime = 'TIME WITH TIME ZONE'

/** The text of a type without its own rules; TIMETZ has `Z` for UTC. */
export function otherText(name: string, x: string): string {
  return name === zonedTime ? `regexp_replace(${textOf(x)}, '[+]00$', 'Z')` : textOf(x)
}

/** SQL for a scalar in the form it has in rows. */
export function encodeScalar(name: ScalarName, x: string): EncodedSql {
  switch (name) {
    case 'BOOLEAN':
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
    case 'BIGINT':
    case 'UTINYINT':
    case 'USMALLINT':
    case 'UINTEGER':
      return { sql: textOf(x), form: 'json' }
    case 'HUGEINT':
    case 'UBIGINT':
    case 'UHUGEINT':
      // Strings, because most JSON readers would round these numbers.
      return { sql: textOf(x), form: 'plain' }
    case 'FLOAT':
    case 'DOUBLE':
      return { sql: finite(x, textOf(x)), form: 'json' }
    case 'VARCHAR':
      return { sql: x, form: 'text' }
    case 'DATE':
    case 'TIMESTAMP_S':
    case 'TIMESTAMP_MS':
    case 'TIMESTAMP':
    case 'TIMESTAMP_NS':
    case 'TIMESTAMPTZ':
      return { sql: finite(x, calendarText(name, x)), form: 'plain' }
    case 'TIME':
    case 'TIME_NS':
    case 'UUID':
      return { sql: textOf(x), form: 'plain' }
    case 'BLOB':
      return { sql: `base64(${x})`, form: 'plain' }
    case 'JSON':
      return { sql: storedJson(textOf(x)), form: 'json' }
    case 'VARIANT':
      return { sql: variantJson(textOf(`CAST(${x} AS JSON)`)), form: 'json' }
  }
}

/** NaN and ±infinity, also of dates and timestamps, are served as null. */
function finite(x: string, sql: string): string {
  return `CASE WHEN isfinite(${x}) THEN ${sql} END`
}

type CalendarName = ScalarName & ('DATE' | `TIMESTAMP${string}`)

/** ISO 8601 in full precision; `Z` if the type has a zone, in any time zone of the process. */
function calendarText(name: CalendarName, x: string): string {
  switch (name) {
    case 'DATE': {
      const years = "DATE '0001-01-01' AND DATE '9999-12-31'"
      return yearText(x, years, textOf(x), `strftime(${x}, '-%m-%d')`)
    }
    case 'TIMESTAMP_NS':
      return withT(x)
    case 'TIMESTAMPTZ':
      return `(${timestampText(`make_timestamp(epoch_us(${x}))`)} || 'Z')`
    default:
      return timestampText(`CAST(${x} AS TIMESTAMP)`)
  }
}

function withT(timestamp: string): string {
  return `replace(${textOf(timestamp)}, ' ', 'T')`
}

function timestampText(x: string): string {
  const rest = `rtrim(rtrim(strftime(${x}, '-%m-%dT%H:%M:%S.%f'), '0'), '.')`
  const years = "TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999'"
  return yearText(x, years, withT(x), rest)
}

/**
 * Years beyond 0001–9999 have a sign (ISO 8601): -0043-03-15, +12024-01-02. For each `year()` in a
 * statement, DuckDB first fills a table of the days of 80 years (0.15 ms); `date_part` with a list
 * of parts needs no table.
 */
function yearText(x: string, years: string, usual: string, rest: string): string {
  const year = `date_part(['year'], ${x}).year`
  const signed = `${signedYear(year, padded)} || ${rest}`
  return `CASE WHEN ${x} BETWEEN ${years} THEN ${usual} ELSE ${signed} END`
}

/** SQL for a whole number of at least this many digits. */
export function padded(number: string, digits: number): string {
  return `format('{:0${digits}d}', ${number})`
}

const dayNs = 86_400_000_000_000n

/** SQL for the calendar day in UTC of a timestamp. */
export function dayOf(name: ScalarName | null, value: string): string {
  if (name === 'TIMESTAMPTZ') return `CAST(make_timestamp(epoch_us(${value})) AS DATE)`
  if (name !== 'TIMESTAMP_NS') return `CAST(CAST(${value} AS TIMESTAMP) AS DATE)`
  // A cast would round the last nanoseconds before 1970 up to the next day.
  const ns = `epoch_ns(${value})`
  const days = `(${ns} // ${dayNs} - CASE WHEN ${ns} % ${dayNs} < 0 THEN 1 ELSE 0 END)`
  return `(DATE '1970-01-01' + CAST(${days} AS INTEGER))`
}
