import {
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTimeNSValue,
  DuckDBTimeTZValue,
  DuckDBTimeValue,
  DuckDBUUIDValue,
} from '@duckdb/node-api'
import type { DuckDBValue } from '@duckdb/node-api'
import type { Column } from '../../../src/columns/column.js'
import type { Value } from '../../../src/columns/filter-value.js'
import { floorDivide } from '../../../src/columns/values.js'
import { decimalText } from '../../../test/columns/fixtures/predicate-model.js'

const secondsPerDay = 86_400n
const dateEnd = 2 ** 31 - 1
const timestampEnd = 2n ** 63n - 1n
/** Integers that are served as strings. */
const longIntegers: readonly string[] = ['HUGEINT', 'UBIGINT', 'UHUGEINT']

/** A cell of the model. */
export interface Cell {
  /** Steps of the column's grid, a number, text or truth; null = empty. */
  readonly value: Value | null
  /** Its JSON text in an answer; null where any text of the same number is right. */
  readonly json: string | null
}

const empty: Cell = { value: null, json: 'null' }

/** What the documentation says of a value that a file holds. */
export function cellOf(column: Column, value: DuckDBValue): Cell {
  const { type } = column
  const name = type.kind === 'scalar' ? type.name : ''
  if (value === null) return empty
  if (typeof value === 'boolean') return { value, json: String(value) }
  if (typeof value === 'bigint' || (typeof value === 'number' && !isFloating(name))) {
    const text = String(value)
    const json = longIntegers.includes(name) ? JSON.stringify(text) : text
    return { value: BigInt(value), json }
  }
  if (typeof value === 'number') return Number.isFinite(value) ? { value, json: null } : empty
  if (typeof value === 'string') {
    if (name === 'JSON') return { value: true, json: value }
    return { value, json: JSON.stringify(value) }
  }
  if (value instanceof DuckDBDecimalValue) {
    const { scale } = value
    return { value: value.value, json: decimalText({ units: value.value, scale }) }
  }
  return momentCell(value) ?? nestedCell(column, value)
}

function isFloating(name: string): boolean {
  return name === 'FLOAT' || name === 'DOUBLE'
}

function momentCell(value: DuckDBValue): Cell | undefined {
  if (value instanceof DuckDBDateValue) {
    const { days } = value
    if (Math.abs(days) === dateEnd) return empty
    return { value: BigInt(days), json: JSON.stringify(dateText(BigInt(days))) }
  }
  if (value instanceof DuckDBTimeValue) return timeCell(value.micros, 6)
  if (value instanceof DuckDBTimeNSValue) return timeCell(value.nanos, 9)
  if (value instanceof DuckDBTimestampTZValue) return timestampCell(value.micros, 6, 'Z')
  if (value instanceof DuckDBTimestampValue) return timestampCell(value.micros, 6)
  if (value instanceof DuckDBTimestampSecondsValue) return timestampCell(value.seconds, 0)
  if (value instanceof DuckDBTimestampMillisecondsValue) return timestampCell(value.millis, 3)
  if (value instanceof DuckDBTimestampNanosecondsValue) return timestampCell(value.nanos, 9)
  return undefined
}

function timeCell(units: bigint, scale: number): Cell {
  return { value: units, json: JSON.stringify(clockText(units, scale)) }
}

function timestampCell(units: bigint, scale: number, zone = ''): Cell {
  if (units === timestampEnd || units === -timestampEnd) return empty
  return { value: units, json: JSON.stringify(timestampText(units, scale) + zone) }
}

function nestedCell({ type }: Column, value: DuckDBValue): Cell {
  if (value instanceof DuckDBUUIDValue) return textCell(value.toString())
  if (value instanceof DuckDBTimeTZValue) return textCell(value.toString().replace(/\+00$/, 'Z'))
  if (value instanceof DuckDBBlobValue) {
    const json = JSON.stringify(Buffer.from(value.bytes).toString('base64'))
    return { value: true, json }
  }
  if (type.kind === 'other' || type.kind === 'enum') return textCell(String(value))
  return { value: true, json: nestedText(value) }
}

function textCell(text: string): Cell {
  return { value: text, json: JSON.stringify(text) }
}

/** Lists, structs and maps of whole numbers and texts. */
function nestedText(value: DuckDBValue): string {
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) {
    return `[${value.items.map(nestedText).join()}]`
  }
  if (value instanceof DuckDBStructValue) {
    const fields = Object.entries(value.entries)
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${nestedText(field)}`).join()}}`
  }
  if (value instanceof DuckDBMapValue) {
    const pairs = value.entries.map(
      ({ key, value: each }) => `${JSON.stringify(String(key))}:${nestedText(each)}`,
    )
    return `{${pairs.join()}}`
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

/** The calendar day by eras of 400 years, with a sign where the year is not 0 to 9999. */
export function dateText(days: bigint): string {
  const fromMarch = days + 719_468n
  const era = floorDivide(fromMarch, 146_097n)
  const dayOfEra = fromMarch - era * 146_097n
  const yearOfEra = (dayOfEra - dayOfEra / 1460n + dayOfEra / 36_524n - dayOfEra / 146_096n) / 365n
  const dayOfYear = dayOfEra - (365n * yearOfEra + yearOfEra / 4n - yearOfEra / 100n)
  const shifted = (5n * dayOfYear + 2n) / 153n
  const day = dayOfYear - (153n * shifted + 2n) / 5n + 1n
  const month = shifted < 10n ? shifted + 3n : shifted - 9n
  const year = yearOfEra + era * 400n + (month <= 2n ? 1n : 0n)
  const sign = year < 0n ? '-' : year > 9999n ? '+' : ''
  const digits = String(year < 0n ? -year : year).padStart(4, '0')
  return `${sign}${digits}-${twoDigits(month)}-${twoDigits(day)}`
}

/** Steps since midnight; zeros at the end of the fraction are left out. */
export function clockText(units: bigint, scale: number): string {
  const perSecond = 10n ** BigInt(scale)
  const seconds = units / perSecond
  const fraction = String(units % perSecond)
    .padStart(scale, '0')
    .replace(/0+$/, '')
  const parts = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map(twoDigits)
  return `${parts.join(':')}${scale === 0 || fraction === '' ? '' : `.${fraction}`}`
}

/** Steps since 1970. */
export function timestampText(units: bigint, scale: number): string {
  const perDay = secondsPerDay * 10n ** BigInt(scale)
  const days = floorDivide(units, perDay)
  return `${dateText(days)}T${clockText(units - days * perDay, scale)}`
}

function twoDigits(value: bigint): string {
  return String(value).padStart(2, '0')
}
