import { labelLettersMax } from '../columns/column.js'
import type { ColumnAbout } from '../columns/column.js'
import { quoted } from '../text.js'
import { readCsv } from './csv-rows.js'
import type { LocalText } from './local-text.js'

/** A dictionary's line about one column. */
interface DictionaryEntry extends Readonly<Record<keyof ColumnAbout, LocalText | null>> {
  /** False if the publisher promises that the column is never empty, which the files must keep. */
  readonly nullable: boolean
  /** The number of its last line in the file, from 1. */
  readonly line: number
}

/** A dictionary's lines by the column's name in the files. */
export type Dictionary = ReadonlyMap<string, DictionaryEntry>

/**
 * Reads a dictionary: CSV with a header row and a `column` column; `label_en`, `section`, `unit`,
 * `description`, the same in Russian as `label_ru`, `section_ru`, `unit_ru` and `description_ru`,
 * and `nullable` (`true`, the default, or `false`) are optional, other columns are ignored.
 * @throws Error with the mistake and its line
 */
export function parseDictionary(text: string): Dictionary {
  const entries = new Map<string, DictionaryEntry>()
  for (const { record, line } of readCsv(text, 'column')) {
    const { column = '', nullable = '' } = record
    if (column === '') throw new Error(`line ${line} has no column name`)
    if (entries.has(column)) throw new Error(`line ${line}: ${quoted(column)} is listed twice`)
    if (!['', 'true', 'false'].includes(nullable)) {
      throw new Error(`line ${line}: nullable must be true or false, got ${quoted(nullable)}`)
    }
    for (const key of ['label_en', 'label_ru']) {
      const letters = [...(record[key] ?? '')].length
      if (letters <= labelLettersMax) continue
      throw new Error(`line ${line}: ${key} has ${letters} characters; at most ${labelLettersMax}`)
    }
    entries.set(column, {
      label: localText(record['label_en'], record['label_ru']),
      section: localText(record['section'], record['section_ru']),
      unit: localText(record['unit'], record['unit_ru']),
      description: localText(record['description'], record['description_ru']),
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
