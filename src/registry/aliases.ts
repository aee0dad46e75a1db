import type { Alias } from '../names/write-names.js'
import { plainText } from '../plain-text.js'
import { readCsv } from './csv-rows.js'

/**
 * Reads more names of entities: CSV with a header row and the columns `key` and `alias`. A key may
 * have several. Other columns are ignored.
 * @throws Error with the mistake and its line
 */
export function parseAliases(text: string): readonly Alias[] {
  return readCsv(text, 'alias').map(({ record, line }) => {
    const { key = '', alias = '' } = record
    const shown = plainText(alias)
    if (key === '' || shown === '') throw new Error(`line ${line} has no key or no alias`)
    return { key, alias: shown }
  })
}
