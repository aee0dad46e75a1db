import { CsvRecords } from './csv-records.js'
import { BadLines } from './table.js'

const separators = [',', ';', '\t', '|'] as const

/**
 * The separator with which most of these lines have as many fields as the first. A comma if none
 * gives two fields: the file has one column.
 */
export function recognizeSeparator(beginning: string): string {
  let best = { separator: ',', share: 0, fields: 1 }
  for (const separator of separators) {
    const rows = new CsvRecords(separator, new BadLines()).read(beginning, false)
    const filled = rows.filter(({ cells }) => cells.length > 1 || cells[0] !== null)
    // A short file has no line that surely ends.
    const [first, ...others] =
      filled.length > 0 ? filled : new CsvRecords(separator, new BadLines()).read(beginning, true)
    const fields = first?.cells.length ?? 0
    if (fields < 2) continue
    const like = others.filter(({ cells }) => cells.length === fields).length
    const share = others.length === 0 ? 1 : like / others.length
    if (share > best.share || (share === best.share && fields > best.fields)) {
      best = { separator, share, fields }
    }
  }
  return best.separator
}
