import { parseDate } from '../../columns/values.js'

/** 1C and Excel write hours without a zero: `31.12.2024 0:00:00`. */
const minutes = String.raw`[ T](?:[01]?\d|2[0-3]):[0-5]\d`
const seconds = String.raw`:[0-5]\d(?:\.\d{1,6})?`
const time = `(?:${minutes}(?:${seconds})?)?`
const zone = String.raw`(?:Z|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)`

/**
 * What a text may be that begins like a number; the first pattern that matches counts.
 *
 * - `comma` is a decimal with a comma, `group` one that may separate thousands: `1,234`.
 * - `long` has more digits than a double holds, `zero` zeros at its start.
 * - `date` is ISO 8601, `instant` the same with a zone; `day` is dd.mm.yyyy with a day over 12,
 *   `dot` one whose day may be a month. All but `instant` may be without a time.
 */
const patterns = {
  integer: String.raw`-?(?:0|[1-9]\d{0,14})`,
  long: String.raw`-?[1-9]\d{15,}`,
  zero: String.raw`-?0\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?`,
  decimal: String.raw`-?\d*\.\d+`,
  group: String.raw`-?[1-9]\d{0,2},\d{3}`,
  comma: String.raw`-?\d+,\d+`,
  float: String.raw`-?\d+(?:\.\d+)?[eE][+-]?\d+`,
  spaced: String.raw`-?\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?`,
  date: String.raw`\d{4}-\d\d-\d\d${time}`,
  instant: String.raw`\d{4}-\d\d-\d\d${minutes}${seconds}${zone}`,
  day: String.raw`(?:1[3-9]|[23]\d)\.\d\d\.\d{4}${time}`,
  dot: String.raw`\d\d\.\d\d\.\d{4}${time}`,
} as const

export type CellKind = keyof typeof patterns | 'boolean' | 'text'

const kinds = Object.keys(patterns) as readonly CellKind[]
const groups = Object.values(patterns).map((pattern) => `(${pattern})`)
const anyKind = new RegExp(`^(?:${groups.join('|')})$`)
const booleans: ReadonlySet<string> = new Set(['true', 'false', 'истина', 'ложь'])
const booleanLettersMax = 6

/** What a text without spaces around it may be; a day must exist. */
export function kindOf(text: string): CellKind {
  if (!/^[-.\d]/.test(text)) {
    return text.length <= booleanLettersMax && booleans.has(text.toLowerCase()) ? 'boolean' : 'text'
  }
  const kind = kinds[(anyKind.exec(text)?.indexOf(text, 1) ?? 0) - 1] ?? 'text'
  if (!['date', 'instant', 'day', 'dot'].includes(kind)) return kind
  const iso = text.slice(0, 10).replace(/^(\d\d)\.(\d\d)\.(\d{4})/, '$3-$2-$1')
  return iso >= '0001' && parseDate(iso) ? kind : 'text'
}
