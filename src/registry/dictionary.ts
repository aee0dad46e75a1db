import { parse } from 'csv-parse/sync'
import { didYouMean, quoted } from '../text.js'

/** A dictionary's line about one column. */
interface DictionaryEntry {
  readonly unit: string | null
  readonly description: string | null
  /** False if the publisher promises that the column is never empty. */
  readonly nullable: boolean
  /** The number of its last line in the file, from 1. */
  readonly line: number
}

/** A dictionary's lines by the column's name in the files. */
export type Dictionary = ReadonlyMap<string, DictionaryEntry>

interface CsvRow {
  readonly record: Readonly<Record<string, string | undefined>>
  readonly info: { readonly lines: number }
}

/**
 * Reads a dictionary: CSV with a header row and a `column` column; `unit`, `description` and
 * `nullable` (`true`, the default, or `false`) are optional, other columns are ignored.
 * @throws Error with the mistake and its line
 */
export function parseDictionary(text: string): Dictionary {
  const rows = parse(text, {
    columns: checkHeader,
    bom: true,
    info: true,
    skip_empty_lines: true,
    trim: true,
  }) as unknown as readonly CsvRow[]
  const entries = new Map<string, DictionaryEntry>()
  for (const { record, info } of rows) {
    const { column = '', unit, description, nullable = '' } = record
    const line = info.lines
    if (column === '') throw new Error(`line ${line} has no column name`)
    if (entries.has(column)) throw new Error(`line ${line}: ${quoted(column)} is listed twice`)
    if (!['', 'true', 'false'].includes(nullable)) {
      throw new Error(`line ${line}: nullable must be true or false, got ${quoted(nullable)}`)
    }
    entries.set(column, {
      unit: unit || null,
      description: description || null,
      nullable: nullable !== 'false',
      line,
    })
  }
  return entries
}

function checkHeader(names: readonly string[]): string[] {
  if (!names.includes('column')) {
    throw new Error(`the header row has no "column".${didYouMean('column', names)}`)
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`the header row has ${quoted(twice)} twice`)
  return [...names]
}
