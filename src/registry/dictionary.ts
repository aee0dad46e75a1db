import { parse } from 'csv-parse/sync'
import { didYouMean, quoted } from '../text.js'

/** What a dictionary says of one column. */
interface DictionaryEntry {
  readonly unit: string | null
  readonly description: string | null
  /** False where the publisher promises that the column is never empty. */
  readonly nullable: boolean
  /** Where its line ends in the file, from 1. */
  readonly line: number
}

/** What a dictionary says, by the files' own column names. */
export type Dictionary = ReadonlyMap<string, DictionaryEntry>

interface CsvRow {
  readonly record: Readonly<Record<string, string | undefined>>
  readonly info: { readonly lines: number }
}

/**
 * Reads a dictionary: CSV with a header row and at least a `column` column; `unit`, `description`
 * and `nullable` (`true`, the default, or `false`) are understood, any other column is ignored.
 * @throws Error that says what is wrong with the text, and on which line
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
    if (column === '') throw new Error(`line ${line} names no column`)
    if (entries.has(column)) throw new Error(`line ${line}: ${quoted(column)} stands in it twice`)
    if (!['', 'true', 'false'].includes(nullable)) {
      throw new Error(`line ${line}: nullable is true or false, not ${quoted(nullable)}`)
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
    throw new Error(`its header row has no "column".${didYouMean('column', names)}`)
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`its header row has ${quoted(twice)} twice`)
  return [...names]
}
