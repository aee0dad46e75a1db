const number = String.raw`\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?`
const minutes = String.raw`[ T](?:[01]\d|2[0-3]):[0-5]\d`
const seconds = String.raw`:[0-5]\d(?:\.\d{1,6})?`
const zone = String.raw`(?:Z|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)`
const isoDay = String.raw`\d{4}-\d\d-\d\d`
const lateDay = String.raw`(?:1[3-9]|[23]\d)\.\d\d\.\d{4}`
const anyDay = String.raw`\d\d\.\d\d\.\d{4}`

/**
 * What the text of a cell may be, with a pattern for all of it; the first that matches counts, and
 * everything else is `text`. Days must also exist.
 *
 * - `integer`, `decimal` and `comma` (a decimal with a comma) are exact numbers; `float` has an
 *   exponent; `group` is a number with a comma that may separate thousands: `1,234`.
 * - `long` is an integer with more digits than a double holds, `zero` one with zeros at its start.
 * - `date` is ISO 8601, `day` dd.mm.yyyy with a day over 12, `dot` a date whose day may be a month.
 *   `moment`, `daymoment` and `dotmoment` are the same with a time, `instant` ISO 8601 with a zone.
 */
export const cellKinds = {
  integer: String.raw`-?(?:0|[1-9]\d{0,14})`,
  long: String.raw`-?[1-9]\d{15,}`,
  zero: `-?0${number}`,
  decimal: String.raw`-?\d*\.\d+`,
  group: String.raw`-?[1-9]\d{0,2},\d{3}`,
  comma: String.raw`-?\d+,\d+`,
  float: String.raw`-?\d+(?:\.\d+)?[eE][+-]?\d+`,
  boolean: ['true', 'false', 'истина', 'ложь'].map(anyCase).join('|'),
  date: isoDay,
  day: lateDay,
  dot: anyDay,
  moment: `${isoDay}${minutes}(?:${seconds})?`,
  daymoment: `${lateDay}${minutes}(?:${seconds})?`,
  dotmoment: `${anyDay}${minutes}(?:${seconds})?`,
  instant: `${isoDay}${minutes}${seconds}${zone}`,
} as const

export type CellKind = keyof typeof cellKinds | 'text'

/** Kinds with a day. */
export const dayKinds = [
  'date',
  'day',
  'dot',
  'moment',
  'daymoment',
  'dotmoment',
  'instant',
] as const

/** Whether a text is certainly a value, and not a name. */
export function isValue(text: string): boolean {
  return anyKind.test(text.trim())
}

const anyKind = new RegExp(`^(?:${Object.values(cellKinds).join('|')})$`)

function anyCase(word: string): string {
  return word.replace(/./g, (letter) => `[${letter}${letter.toUpperCase()}]`)
}
