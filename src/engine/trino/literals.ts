import type { Column } from '../../columns/column.js'
import type { Value } from '../../columns/filter-value.js'
import { decimalText } from '../../columns/shown-text.js'
import { floorDivide, yearOfDay } from '../../columns/values.js'
import { literal } from '../sql/quote.js'

const secondsPerDay = 86_400n
const microsPerSecond = 1_000_000n
/** A TIMESTAMP has its microseconds in 64 bits, one with a zone its milliseconds in 52. */
const microsMax = 9_223_372_036_854_000_000n
const zonedMicrosMax = (2n ** 51n - 1n) * 1000n

/** Where a value is that Trino's type of the column can't hold; null for one that it can. */
export function outsideOf({ type }: Column, value: Value): 'below' | 'above' | null {
  if (type.kind !== 'scalar' || typeof value !== 'bigint') return null
  // 24:00:00
  if (type.name === 'TIME') return value >= secondsPerDay * microsPerSecond ? 'above' : null
  if (type.name === 'TIMESTAMP') return value < -microsMax ? 'below' : null
  if (type.name !== 'TIMESTAMPTZ') return null
  return value > zonedMicrosMax ? 'above' : value < -zonedMicrosMax ? 'below' : null
}

/**
 * A filter's value as a literal of exactly its column's type, so that Trino converts nothing. Its
 * text holds digits, or a text in quotes.
 */
export function valueLiteral(column: Column, value: Value): string {
  if (typeof value === 'string') return literal(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return floatLiteral(column, value)
  const { type } = column
  if (type.kind === 'decimal') {
    return `CAST('${decimalText(value, type.scale)}' AS DECIMAL(${type.width},${type.scale}))`
  }
  if (type.kind !== 'scalar') throw new TypeError(`a value of type ${type.kind} can't be bound`)
  switch (type.name) {
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
    case 'BIGINT':
      return `${type.name} '${value}'`
    case 'HUGEINT':
      return `CAST('${value}' AS DECIMAL(38,0))`
    case 'UUID':
      return `UUID '${uuidText(value)}'`
    case 'DATE':
      return `DATE '${dayText(value)}'`
    case 'TIME':
      return `TIME '${clockText(value)}'`
    case 'TIMESTAMP':
      return `TIMESTAMP '${momentText(value)}'`
    case 'TIMESTAMPTZ':
      return `TIMESTAMP '${momentText(value)} UTC'`
    default:
      throw new TypeError(`a value of type ${type.name} can't be bound`)
  }
}

function floatLiteral({ rules: { domain } }: Column, value: number): string {
  return `${domain.kind === 'float' && domain.single ? 'REAL' : 'DOUBLE'} '${doubleText(value)}'`
}

/** The shortest digits that give this number again, with the sign of -0. */
function doubleText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

function uuidText(value: bigint): string {
  return value
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** A day since 1970-01-01 as a calendar day; years beyond 0000–9999 have a sign. */
function dayText(day: bigint): string {
  const year = yearOfDay(day)
  // The Gregorian calendar repeats every 400 years, and Date knows these.
  const shift = floorDivide(year - 2000n, 400n)
  const near = new Date(Number((day - shift * 146_097n) * secondsPerDay) * 1000)
  const rest = near.toISOString().slice(4, 10)
  const digits = String(year < 0n ? -year : year).padStart(4, '0')
  return `${year < 0n ? '-' : year > 9999n ? '+' : ''}${digits}${rest}`
}

function clockText(micros: bigint): string {
  const seconds = micros / microsPerSecond
  const parts = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n]
  const fraction = String(micros % microsPerSecond).padStart(6, '0')
  return `${parts.map((part) => String(part).padStart(2, '0')).join(':')}.${fraction}`
}

function momentText(micros: bigint): string {
  const perDay = secondsPerDay * microsPerSecond
  const day = floorDivide(micros, perDay)
  return `${dayText(day)} ${clockText(micros - day * perDay)}`
}
