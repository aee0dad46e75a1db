import { literal } from '../../sql/quote.js'

/**
 * SQL for the text of a JSON column as JSON. Digits stay as they are stored. Text that only
 * DuckDB's lenient parser accepts is corrected; text that it rejects becomes a JSON string.
 */
export function storedJson(text: string): string {
  const asString = `CAST(to_json(${text}) AS VARCHAR)`
  return `CASE WHEN json_valid(${text}) THEN ${tidy(text)} ELSE ${asString} END`
}

/** SQL for the JSON text that DuckDB makes of a VARIANT, which may contain bare NaN and `.5`. */
export function variantJson(text: string): string {
  return tidy(text)
}

/** Texts that may need a correction; the match may also be inside a string. */
const suspect = String.raw`^\s|\s$|[\n\r]|,\s*[\]}]|(?i)(?:^|[\[,:\s-])(?:nan|inf|\.)`
/** A JSON string with its quotes. */
const string = String.raw`"(?:[^"\\]|\\.)*"`
/** Corrections outside of strings, in this order; the result is JSON on one line. */
const corrections = [
  [String.raw`\s+`, ''],
  [String.raw`(?i)-?(?:nan|inf(?:inity)?)`, 'null'],
  [String.raw`,([\]}])`, String.raw`\1`],
  [String.raw`(^|[^0-9])\.`, String.raw`\10.`],
] as const

function tidy(text: string): string {
  const outside = `string_split_regex(${text}, ${literal(string)})`
  const strings = `regexp_extract_all(${text}, ${literal(string)})`
  const corrected = corrections.reduce(
    (sql, [from, to]) => `regexp_replace(${sql}, ${literal(from)}, ${literal(to)}, 'g')`,
    'part[1]',
  )
  const zipped = `list_zip(${outside}, ${strings})`
  const parts = `list_transform(${zipped}, lambda part: concat(${corrected}, part[2]))`
  const isSuspect = `regexp_matches(${text}, ${literal(suspect)})`
  const tidied = `array_to_string(${parts}, '')`
  return `nullif(CASE WHEN ${isSuspect} THEN ${tidied} ELSE ${text} END, 'null')`
}
