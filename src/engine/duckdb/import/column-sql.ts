import { cellKinds } from '../../../versions/tables/cell-kinds.js'
import type { CellType, StatedType } from '../../../versions/tables/column-types.js'
import { literal } from '../sql.js'

const wholeKinds = ['integer', 'long', 'zero', 'spaced']
const decimalKinds = [...wholeKinds, 'decimal', 'comma', 'group']
const dayKinds = ['date', 'day', 'dot']
/** The kinds of texts that a stated type takes, and its name in SQL. */
const types: Readonly<Record<string, readonly [kinds: readonly string[], sql: string]>> = {
  integer: [wholeKinds, 'BIGINT'],
  decimal: [decimalKinds, 'DECIMAL'],
  double: [[...decimalKinds, 'float'], 'DOUBLE'],
  boolean: [['boolean'], 'BOOLEAN'],
  date: [dayKinds, 'DATE'],
  timestamp: [dayKinds, 'TIMESTAMP'],
  instant: [['instant'], 'TIMESTAMPTZ'],
}

/** SQL of the kind of a text without spaces around it. */
export function kindSql(text: string): string {
  const exists = `TRY_CAST(${isoSql(text)} AS TIMESTAMP) >= '0001-01-01'`
  const cases = Object.entries(cellKinds).map(([kind, pattern]) => {
    const also = [...dayKinds, 'instant'].includes(kind) ? ` AND ${exists}` : ''
    return `WHEN regexp_full_match(${text}, ${literal(pattern)})${also} THEN '${kind}'`
  })
  // Most texts are none of all this by their first letter.
  const isOther = `NOT regexp_matches(${text}, '^[-.0-9]|^[tTfFиИлЛ].{3,5}$')`
  return `CASE WHEN ${isOther} THEN 'text' ${cases.join(' ')} ELSE 'text' END`
}

/** SQL of the digits of a number before and after its point; zeros at its start do not count. */
export function digitsSql(text: string): readonly [whole: string, scale: string] {
  const digits = (pattern: string) =>
    `length(regexp_extract(${numberSql(text)}, ${literal(pattern)}, 1))`
  return [digits(String.raw`^-?0*(\d*)`), digits(String.raw`\.(\d+)`)]
}

/** SQL of whether the nearest double of a number has its digits, so that nothing is rounded. */
export function isExactSql(text: string): string {
  const digits = (number: string) =>
    `trim(regexp_replace(split_part(lower(${number}), 'e', 1), '[^0-9]', '', 'g'), '0')`
  const double = `CAST(TRY_CAST(${numberSql(text)} AS DOUBLE) AS VARCHAR)`
  return `coalesce(${digits(text)} = ${digits(double)}, false)`
}

/** SQL of whether a text of a kind has an exact value of a stated type; of `double`, the nearest. */
export function fitsSql(text: string, type: StatedType): string {
  if (type === 'text') return 'true'
  const [name = '', width = 38, places = null] = type.split(/[(),]/)
  const [whole, scale] = digitsSql(text)
  const kinds = types[name]?.[0].map(literal).join(', ')
  const digits =
    places === null
      ? `${whole} + ${scale} <= ${width}`
      : `${scale} <= ${places} AND ${whole} <= ${Number(width) - Number(places)}`
  const also: Readonly<Record<string, string>> = {
    integer: `${scale} = 0 AND TRY_CAST(${numberSql(text)} AS BIGINT) IS NOT NULL`,
    decimal: digits,
    double: `isfinite(TRY_CAST(${numberSql(text)} AS DOUBLE))`,
    date: `length(${text}) = 10`,
  }
  return `(${kindSql(text)} IN (${kinds}) AND ${also[name] ?? 'true'})`
}

/** SQL of the value of a text in its type; it fails for a text that does not fit. */
export function valueSql(text: string, type: CellType): string {
  if (type === 'text') return text
  const trimmed = `trim(${text})`
  if (type === 'boolean') return `lower(${trimmed}) IN ('true', 'истина')`
  const [name = '', digits = ''] = type.split(/(?=\()/)
  const plain = ['date', 'timestamp', 'instant'].includes(name)
    ? isoSql(trimmed)
    : numberSql(trimmed)
  return `CAST(${plain} AS ${types[name]?.[1]}${digits})`
}

/** A number without the spaces of its thousands, and with a point. */
function numberSql(text: string): string {
  return `replace(translate(${text}, ' \u00a0\u202f', ''), ',', '.')`
}

function isoSql(text: string): string {
  const [dotted, iso] = [String.raw`^(\d\d)\.(\d\d)\.(\d{4})`, String.raw`\3-\2-\1`]
  return `regexp_replace(${text}, ${literal(dotted)}, ${literal(iso)})`
}
