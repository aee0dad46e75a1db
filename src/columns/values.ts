/**
 * An exact number: `units` × 10^-`scale`; the scale may be negative. Integers, decimals, dates
 * (days), times and timestamps (seconds since 1970) are compared in this form, without rounding.
 */
export interface Exact {
  readonly units: bigint
  readonly scale: number
}

const digitsMax = 1000
/** More digits before or after the point than any column holds. */
const placesMax = 100

/**
 * Parses `-12.50`, `1.5e3` and the like exactly; undefined for anything else. `1e+5` may arrive as
 * `1e 5`. An exponent beyond ±100 is cut to 100: the number stays outside every column's range, or
 * nearer to 0 than any value, without long arithmetic.
 */
export function parseExact(text: string): Exact | undefined {
  if (text.length > digitsMax) return undefined
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+\- ]?\d+))?$/.exec(text)
  if (!match) return undefined
  const [, sign, whole = '', fraction = '', exponent] = match
  const exact =
    exponent === undefined
      ? { units: BigInt(whole + fraction), scale: fraction.length }
      : shifted(whole + fraction, fraction.length, Number(exponent.replace(' ', '+')))
  return sign ? { ...exact, units: -exact.units } : exact
}

/** The number with these digits, `scale` of them after the point, times 10^`exponent`. */
function shifted(digits: string, scale: number, exponent: number): Exact {
  const significant = digits.replace(/^0+/, '')
  if (significant === '') return { units: 0n, scale: 0 }
  const places = significant.length - scale + exponent
  if (places > placesMax) return { units: 1n, scale: -placesMax }
  if (places < -placesMax) return { units: 1n, scale: placesMax }
  return { units: BigInt(significant), scale: scale - exponent }
}

/** A decimal number with an optional exponent; `1e+5` may arrive as `1e 5`. */
export function parseFloating(text: string): number | undefined {
  if (text.length > digitsMax) return undefined
  return /^-?\d+(\.\d+)?([eE][+\- ]?\d+)?$/.test(text) ? Number(text.replace(' ', '+')) : undefined
}

/** Days since 1970-01-01 of a calendar day; years beyond 0000–9999 carry a sign (ISO 8601). */
export function parseDate(text: string): Exact | undefined {
  const match = /^(\d{4}|[+\- ]\d{5,7}|-\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (!match) return undefined
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  if (month < 1 || month > 12 || day < 1 || day > monthDays(year, month)) return undefined
  return { units: BigInt(daysOf(year, month, day)), scale: 0 }
}

/** Days since 1970-01-01 of a year's first day. */
export function firstDayOfYear(year: bigint): bigint {
  return BigInt(daysOf(Number(year), 1, 1))
}

/** The calendar year of a day, as days since 1970-01-01. */
export function yearOfDay(day: bigint): bigint {
  // The mean year is this long: the guess is at most one year off.
  let year = 1970n + floorDivide(day * 400n, 146_097n)
  while (firstDayOfYear(year) > day) year -= 1n
  while (firstDayOfYear(year + 1n) <= day) year += 1n
  return year
}

/** Integer division that rounds down, also below zero. */
export function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const rest = ((dividend % divisor) + divisor) % divisor
  return (dividend - rest) / divisor
}

/** Proleptic Gregorian calendar, by 400-year eras of 146,097 days counted from 1 March 0000. */
function daysOf(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1
  const era = Math.floor(marchYear / 400)
  const yearOfEra = marchYear - era * 400
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  const leapDays = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100)
  return era * 146_097 + yearOfEra * 365 + leapDays + dayOfYear - 719_468
}

function monthDays(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  if (month === 2) return leap ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

const clock = String.raw`(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?`
const timePattern = new RegExp(`^${clock}$`)
const day = String.raw`([+\- ]?\d{4,7}-\d{2}-\d{2})`
const zone = String.raw`(Z|z|[+\- ]\d{2}(?::?\d{2})?)`
const timestampPattern = new RegExp(`^${day}(?:[T ]${clock}${zone}?)?$`)

/** Seconds since midnight, up to 24:00:00. */
export function parseTime(text: string): Exact | undefined {
  const match = timePattern.exec(text)
  return match ? clockOf(match.slice(1)) : undefined
}

function clockOf(parts: readonly (string | undefined)[]): Exact | undefined {
  const [hours = 0, minutes = 0, seconds = 0] = parts.slice(0, 3).map((part) => Number(part ?? 0))
  const fraction = parts[3] ?? ''
  const whole = hours * 3600 + minutes * 60 + seconds
  const units = BigInt(whole + fraction)
  const scale = fraction.length
  if (minutes > 59 || seconds > 59 || units > 86_400n * 10n ** BigInt(scale)) return undefined
  return { units, scale }
}

/**
 * Seconds since 1970-01-01T00:00:00 of an ISO 8601 timestamp; a day alone means its midnight. Only
 * a column with a time zone accepts a zone; there, a timestamp without a zone is UTC.
 */
export function parseTimestamp(text: string, hasZone: boolean): Exact | undefined {
  const match = timestampPattern.exec(text)
  if (!match) return undefined
  const days = parseDate(match[1] ?? '')
  const time = clockOf(match.slice(2, 6))
  const offset = zoneSeconds(match[6])
  if (!days || !time || offset === undefined || (match[6] && !hasZone)) return undefined
  const seconds = days.units * 86_400n - BigInt(offset)
  return { units: seconds * 10n ** BigInt(time.scale) + time.units, scale: time.scale }
}

/** Accepts a space for `+`, because `+03:00` in a URL decodes to ` 03:00`. */
function zoneSeconds(text: string | undefined): number | undefined {
  if (!text || text === 'Z' || text === 'z') return 0
  const hours = Number(text.slice(1, 3))
  const minutes = Number(text.slice(3).replace(':', '') || 0)
  if (hours > 15 || minutes > 59) return undefined
  return (text.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60)
}

/** A UUID in 8-4-4-4-12 form, in either case, as one number. */
export function parseUuid(text: string): bigint | undefined {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return undefined
  return BigInt(`0x${text.replaceAll('-', '')}`)
}

/** The step at or below an exact value on a grid of step 10^-`scale`. */
export function onGrid(value: Exact, scale: number): { floor: bigint; exact: boolean } {
  if (value.scale <= scale) {
    return { floor: value.units * 10n ** BigInt(scale - value.scale), exact: true }
  }
  const step = 10n ** BigInt(value.scale - scale)
  const floor = floorDivide(value.units, step)
  return { floor, exact: floor * step === value.units }
}
