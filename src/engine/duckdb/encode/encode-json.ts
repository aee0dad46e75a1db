import { literal } from '../sql.js'

/**
 * SQL for the text of a JSON column as JSON. The digits stay as they are stored; what only
 * DuckDB's generous reader takes for JSON is mended, and what not even that reader takes is text.
 */
export function storedJson(text: string): string {
  return `CASE WHEN json_valid(${text}) THEN ${tidy(text)} ELSE CAST(to_json(${text}) AS VARCHAR) END`
}

/** SQL for the JSON text that DuckDB makes of a VARIANT, which holds bare NaN and `.5`. */
export function variantJson(text: string): string {
  return tidy(text)
}

/** What may need mending, inside strings or outside of them. */
const suspect = String.raw`^\s|\s$|[\n\r]|,\s*[\]}]|(?i)(?:^|[\[,:\s-])(?:nan|inf|\.)`
/** A string in JSON, quotes and all. */
const string = String.raw`"(?:[^"\\]|\\.)*"`
/** What is mended outside of strings, in turn, so that the result is JSON on one line. */
const repairs = [
  [String.raw`\s+`, ''],
  [String.raw`(?i)-?(?:nan|inf(?:inity)?)`, 'null'],
  [String.raw`,([\]}])`, String.raw`\1`],
  [String.raw`(^|[^0-9])\.`, String.raw`\10.`],
] as const

function tidy(text: string): string {
  const outside = `string_split_regex(${text}, ${literal(string)})`
  const strings = `regexp_extract_all(${text}, ${literal(string)})`
  const mended = repairs.reduce(
    (sql, [from, to]) => `regexp_replace(${sql}, ${literal(from)}, ${literal(to)}, 'g')`,
    'part[1]',
  )
  const parts = `list_transform(list_zip(${outside}, ${strings}), lambda part: concat(${mended}, part[2]))`
  const isSuspect = `regexp_matches(${text}, ${literal(suspect)})`
  return `nullif(CASE WHEN ${isSuspect} THEN array_to_string(${parts}, '') ELSE ${text} END, 'null')`
}
