import { parse } from 'csv-parse/sync'
import { didYouMean, quoted } from '../text.js'

/** A line of CSV by the names of the header row. */
interface CsvRow {
  readonly record: Readonly<Record<string, string | undefined>>
  /** The number of its last line in the text, from 1. */
  readonly line: number
}

/**
 * Reads CSV with a header row that has the column `needed`; values are trimmed.
 * @throws Error with the mistake and its line
 */
export function readCsv(text: string, needed: string): readonly CsvRow[] {
  const rows = parse(text, {
    columns: (names: readonly string[]) => checkHeader(names, needed),
    bom: true,
    info: true,
    skip_empty_lines: true,
    trim: true,
  }) as unknown as readonly (Omit<CsvRow, 'line'> & { readonly info: { readonly lines: number } })[]
  return rows.map(({ record, info }) => ({ record, line: info.lines }))
}

function checkHeader(names: readonly string[], needed: string): string[] {
  if (!names.includes(needed)) {
    throw new Error(`the header row has no "${needed}".${didYouMean(needed, names)}`)
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`the header row has ${quoted(twice)} twice`)
  return [...names]
}
