/**
 * What the text of a cell may be:
 *
 * - `integer`, `decimal` and `comma` (a decimal with a comma) are exact numbers; `float` has an
 *   exponent; `group` is a number with a comma that may separate thousands: `1,234`.
 * - `long` is an integer with more digits than a double holds, `zero` one with zeros at its start.
 * - `date` is ISO 8601, `day` dd.mm.yyyy with a day over 12, `dot` a date whose day may be a month.
 *   `moment`, `daymoment` and `dotmoment` are the same with a time, `instant` ISO 8601 with a zone.
 */
export type CellKind =
  | 'integer'
  | 'decimal'
  | 'comma'
  | 'group'
  | 'float'
  | 'long'
  | 'zero'
  | 'boolean'
  | 'date'
  | 'day'
  | 'dot'
  | 'moment'
  | 'daymoment'
  | 'dotmoment'
  | 'instant'
  | 'text'

/** Integers with more digits are codes or can't be held by a double. */
const integerDigitsMax = 15

const booleans: ReadonlySet<string> = new Set(['true', 'false', 'истина', 'ложь'])
/** Everything that is not text begins so, booleans aside. */
const numericStart = /^[-.\d]/
const integer = /^-?\d+$/
const decimal = /^-?\d*\.\d+$/
const comma = /^-?\d+,\d+$/
const float = /^-?\d+(?:\.\d+)?[eE][+-]?\d+$/
const time = String.raw`(?:[ T]([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?)`
const zone = String.raw`(Z|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)`
const isoDate = new RegExp(String.raw`^(\d{4})-(\d\d)-(\d\d)${time}?${zone}?$`)
/** DuckDB reads no zone after minutes. */
const zonedMinutes = /:\d\d[Z+-]/
const dottedDate = new RegExp(String.raw`^(\d\d)\.(\d\d)\.(\d{4})${time}?$`)

/** What a text that is not empty may be. Spaces around it do not count. */
export function cellKind(cell: string): CellKind {
  const text = trimmed(cell)
  if (numericStart.test(text)) return dateKind(text) ?? numberKind(text)
  const mayBeBoolean = text.length >= 4 && text.length <= 6
  return mayBeBoolean && booleans.has(text.toLowerCase()) ? 'boolean' : 'text'
}

/** Without spaces around it, of ASCII only. */
export function trimmed(text: string): string {
  return text.startsWith(' ') || text.endsWith(' ') ? text.replace(/^ +| +$/g, '') : text
}

function numberKind(text: string): CellKind {
  const start = text.startsWith('-') ? 1 : 0
  const digits = text.length - start
  if (integer.test(text)) {
    if (digits > 1 && text[start] === '0') return 'zero'
    return digits > integerDigitsMax ? 'long' : 'integer'
  }
  if (/^-?0\d/.test(text)) return isNumber(text) ? 'zero' : 'text'
  if (decimal.test(text)) return 'decimal'
  if (comma.test(text)) return /^-?[1-9]\d{0,2},\d{3}$/.test(text) ? 'group' : 'comma'
  return float.test(text) ? 'float' : 'text'
}

function isNumber(text: string): boolean {
  return decimal.test(text) || comma.test(text) || float.test(text)
}

function dateKind(text: string): CellKind | null {
  if (text.length < 10) return null
  if (text[4] === '-') {
    const [, year, month, day, clock, zoned] = isoDate.exec(text) ?? []
    if (!isDay(year, month, day)) return null
    if (clock === undefined) return zoned === undefined ? 'date' : null
    if (zoned === undefined) return 'moment'
    return zonedMinutes.test(text.slice(10, 17)) ? null : 'instant'
  }
  if (text[2] !== '.') return null
  const [, day, month, year, clock] = dottedDate.exec(text) ?? []
  if (!isDay(year, month, day)) return null
  const isSure = Number(day) > 12
  if (clock === undefined) return isSure ? 'day' : 'dot'
  return isSure ? 'daymoment' : 'dotmoment'
}

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** A day of the Gregorian calendar, from the year 1 on. */
function isDay(yearText?: string, monthText?: string, dayText?: string): boolean {
  const [year, month, day] = [Number(yearText), Number(monthText), Number(dayText)]
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = month === 2 && isLeap ? 29 : (monthDays[month - 1] ?? 0)
  return year >= 1 && day >= 1 && day <= days
}
