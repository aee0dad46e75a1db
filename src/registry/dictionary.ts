import { quoted } from '../text.js'
import { readCsv } from './csv-rows.js'
import type { LocalText } from './local-text.js'

/** A dictionary's line about one column. */
interface DictionaryEntry {
  readonly unit: LocalText | null
  readonly description: LocalText | null
  /** False if the publisher promises that the column is never empty. */
  readonly nullable: boolean
  /** The number of its last line in the file, from 1. */
  readonly line: number
}

/** A dictionary's lines by the column's name in the files. */
export type Dictionary = ReadonlyMap<string, DictionaryEntry>

/**
 * Reads a dictionary: CSV with a header row and a `column` column; `unit`, `description`,
 * the same in Russian as `unit_ru` and `description_ru`, and `nullable` (`true`, the default, or
 * `false`) are optional, other columns are ignored.
 * @throws Error with the mistake and its line
 */
export function parseDictionary(text: string): Dictionary {
  const entries = new Map<string, DictionaryEntry>()
  for (const { record, line } of readCsv(text, 'column')) {
    const { column = '', unit, description, nullable = '' } = record
    if (column === '') throw new Error(`line ${line} has no column name`)
    if (entries.has(column)) throw new Error(`line ${line}: ${quoted(column)} is listed twice`)
    if (!['', 'true', 'false'].includes(nullable)) {
      throw new Error(`line ${line}: nullable must be true or false, got ${quoted(nullable)}`)
    }
    entries.set(column, {
      unit: localText(unit, record['unit_ru']),
      description: localText(description, record['description_ru']),
      nullable: nullable !== 'false',
      line,
    })
  }
  return entries
}

/** With a text in one language alone, both languages have it. */
function localText(english = '', russian = ''): LocalText | null {
  if (english === '') return russian || null
  return russian === '' ? english : { en: english, ru: russian }
}
