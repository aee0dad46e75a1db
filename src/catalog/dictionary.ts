import { parse } from 'csv-parse/sync'

/** What a dictionary says of one column. */
export interface DictionaryEntry {
  readonly unit: string | null
  readonly description: string | null
  /** False where the publisher promises that the column is never empty. */
  readonly nullable: boolean
}

/**
 * Reads a dictionary: CSV with a header row and at least a `column` column; `unit`, `description`
 * and `nullable` are understood, any other column is ignored. Keys are the files' column names.
 * @throws Error that says what is wrong with the text
 */
export function parseDictionary(text: string): ReadonlyMap<string, DictionaryEntry> {
  const records = parse(text, { columns: true, bom: true, skip_empty_lines: true }) as Readonly<
    Record<string, string | undefined>
  >[]
  const entries = new Map<string, DictionaryEntry>()
  for (const record of records) {
    const column = record['column']
    if (column === undefined) throw new Error('the header row has no "column"')
    if (entries.has(column)) throw new Error(`column "${column}" stands in it twice`)
    entries.set(column, {
      unit: record['unit'] || null,
      description: record['description'] || null,
      nullable: record['nullable'] !== 'false',
    })
  }
  return entries
}
