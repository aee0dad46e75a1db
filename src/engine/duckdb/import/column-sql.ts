import { cellKinds, dayKinds } from '../../../versions/tables/cell-kinds.js'
import { decimalWidthMax } from '../../../versions/tables/column-types.js'
import type { CellType, StatedType } from '../../../versions/tables/column-types.js'
import { literal } from '../sql.js'

const spaces = ' \u00a0\u202f'
const grouped = String.raw`-?\d{1,3}(?:[ \x{a0}\x{202f}]\d{3})+(?:[.,]\d+)?`
const plain = String.raw`-?(?:\d+(?:\.\d+)?|\.\d+)`

/** SQL of the kind of a text that is not empty and has no spaces around it. */
export function kindSql(text: string): string {
  const day = isoSql(text)
  const exists = `TRY_CAST(${day} AS TIMESTAMP) IS NOT NULL AND ${day} >= '0001'`
  const cases = Object.entries(cellKinds).map(([kind, pattern]) => {
    const isDay = dayKinds.some((each) => each === kind)
    return `WHEN ${matches(text, pattern)}${isDay ? ` AND ${exists}` : ''} THEN '${kind}'`
  })
  // Most texts are none of all this by their first letter.
  return `CASE WHEN NOT regexp_matches(${text}, '^[-.0-9]|^[tTfFиИлЛ].{3,5}$') THEN 'text'
    ${cases.join(' ')} ELSE 'text' END`
}

/** SQL of the digits of a number before and after its point or comma, without zeros at its start. */
export function digitsSql(text: string): readonly [whole: string, scale: string] {
  const digits = (pattern: string) => `length(regexp_extract(${text}, ${literal(pattern)}, 1))`
  return [digits(String.raw`^-?0*(\d*)`), digits(String.raw`[.,](\d+)`)]
}

/** SQL of whether the nearest double of a number has its digits, so that nothing is rounded. */
export function isExactSql(text: string): string {
  const digits = (number: string) =>
    `trim(regexp_replace(split_part(lower(${number}), 'e', 1), '[^0-9]', '', 'g'), '0')`
  const double = `CAST(TRY_CAST(replace(${text}, ',', '.') AS DOUBLE) AS VARCHAR)`
  return `(length(${text}) <= 15 AND NOT contains(lower(${text}), 'e')
    OR coalesce(${digits(text)} = ${digits(double)}, false))`
}

/** SQL of whether a text has an exact value of a stated type; of `double`, the nearest one. */
export function fitsSql(text: string, type: StatedType): string {
  const [number, [whole, scale]] = [numberSql(text), digitsSql(numberSql(text))]
  const isKind = (...kinds: readonly string[]) =>
    `${kindSql(text)} IN (${kinds.map(literal).join(', ')})`
  switch (type) {
    case 'text':
      return 'true'
    case 'integer':
      return `(${matches(number, String.raw`-?\d{1,19}`)} AND TRY_CAST(${number} AS BIGINT) IS NOT NULL)`
    case 'double':
      return `(${matches(number, String.raw`${plain}(?:[eE][+-]?\d+)?`)} AND isfinite(TRY_CAST(${number} AS DOUBLE)))`
    case 'boolean':
    case 'instant':
      return isKind(type)
    case 'date':
      return isKind('date', 'day', 'dot')
    case 'timestamp':
      return isKind(...dayKinds.filter((kind) => kind !== 'instant'))
    default: {
      const [, width = decimalWidthMax, places = null] = /(\d+),(\d+)/.exec(type) ?? []
      const most =
        places === null
          ? `${whole} + ${scale} <= ${width}`
          : `${scale} <= ${places} AND ${whole} <= ${Number(width) - Number(places)}`
      return `(${matches(number, plain)} AND ${most})`
    }
  }
}

/** SQL of the value of a text in its type; it fails for a text that does not fit. */
export function valueSql(text: string, type: CellType): string {
  switch (type) {
    case 'text':
      return text
    case 'boolean':
      return `lower(trim(${text})) IN ('true', 'истина')`
    case 'date':
      return `CAST(${isoSql(`trim(${text})`)} AS DATE)`
    case 'timestamp':
      return `CAST(${isoSql(`trim(${text})`)} AS TIMESTAMP)`
    case 'instant':
      return `CAST(trim(${text}) AS TIMESTAMPTZ)`
    default: {
      const name = type === 'integer' ? 'BIGINT' : type
      return `CAST(${numberSql(`trim(${text})`)} AS ${name})`
    }
  }
}

function matches(text: string, pattern: string): string {
  return `regexp_full_match(${text}, ${literal(pattern)})`
}

/** A number without the spaces of its thousands, and with a point. */
export function numberSql(text: string): string {
  const joined = `translate(${text}, ${literal(spaces)}, '')`
  return `replace(CASE WHEN ${matches(text, grouped)} THEN ${joined} ELSE ${text} END, ',', '.')`
}

function isoSql(text: string): string {
  return `regexp_replace(${text}, ${literal(String.raw`^(\d\d)\.(\d\d)\.(\d{4})`)}, ${literal(String.raw`\3-\2-\1`)})`
}
