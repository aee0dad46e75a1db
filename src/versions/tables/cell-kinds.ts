const number = String.raw`\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?`
const minutes = String.raw`[ T](?:[01]\d|2[0-3]):[0-5]\d`
const seconds = String.raw`:[0-5]\d(?:\.\d{1,6})?`
const time = `(?:${minutes}(?:${seconds})?)?`
const zone = String.raw`(?:Z|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)`
const anyCase = (word: string) => word.replace(/./g, (each) => `[${each}${each.toUpperCase()}]`)

/**
 * What the text of a cell may be, with a pattern for all of it, for JavaScript and RE2; the first
 * that matches counts, and everything else is `text`. Days must also exist, and may have a time.
 *
 * - `integer`, `decimal` and `comma` (a decimal with a comma) are exact numbers; `float` has an
 *   exponent; `group` is a number with a comma that may separate thousands: `1,234`.
 * - `long` is an integer with more digits than a double holds, `zero` a number with zeros at its
 *   start, `spaced` one with spaces between thousands.
 * - `date` is ISO 8601, `instant` the same with a zone, `day` dd.mm.yyyy with a day over 12, `dot` a
 *   date whose day may be a month.
 */
export const cellKinds = {
  integer: String.raw`-?(?:0|[1-9]\d{0,14})`,
  long: String.raw`-?[1-9]\d{15,}`,
  zero: `-?0${number}`,
  decimal: String.raw`-?\d*\.\d+`,
  group: String.raw`-?[1-9]\d{0,2},\d{3}`,
  comma: String.raw`-?\d+,\d+`,
  float: String.raw`-?\d+(?:\.\d+)?[eE][+-]?\d+`,
  spaced: '-?\\d{1,3}(?:[ \u00a0\u202f]\\d{3})+(?:[.,]\\d+)?',
  boolean: ['true', 'false', 'истина', 'ложь'].map(anyCase).join('|'),
  date: String.raw`\d{4}-\d\d-\d\d${time}`,
  instant: String.raw`\d{4}-\d\d-\d\d${minutes}${seconds}${zone}`,
  day: String.raw`(?:1[3-9]|[23]\d)\.\d\d\.\d{4}${time}`,
  dot: String.raw`\d\d\.\d\d\.\d{4}${time}`,
} as const

export type CellKind = keyof typeof cellKinds | 'text'

const value = new RegExp(`^(?:${Object.values(cellKinds).join('|')})$`)

/** Whether a text is a value, and so no name. */
export function isValue(text: string): boolean {
  return value.test(text.trim())
}
