import { csvCell } from '../text.js'
import { textOfJson } from '../row-texts.js'
import type { SheetColumn } from './sheet.js'

const byteOrderMark = '\ufeff'

/**
 * CSV as Excel opens it by a double click: with a byte order mark, and with the separator and the
 * decimal sign of the user's language. Rows are JSON texts of cells.
 */
export function excelCsv(
  separator: ',' | ';',
  columns: readonly SheetColumn[],
  rows: readonly (readonly string[])[],
): Uint8Array {
  const quotes = (text: string) => (text.includes(';') ? `"${text.replaceAll('"', '""')}"` : null)
  const textCell = (text: string) => quotes(text) ?? (text === '' ? '""' : csvCell(text))
  const lines = rows.map((cells) =>
    columns.map((column, index) => {
      const json = cells[index] ?? 'null'
      if (json === 'null') return columns.length === 1 ? '""' : ''
      const text = textOfJson(json)
      if (column.cells.kind !== 'number') return textCell(text)
      return separator === ';' ? text.replace('.', ',') : text
    }),
  )
  const all = [columns.map(({ name }) => textCell(name)), ...lines]
  return Buffer.from(byteOrderMark + all.map((cells) => `${cells.join(separator)}\r\n`).join(''))
}
