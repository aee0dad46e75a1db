import { csvCell } from '../text.js'

type CsvCell = string | number | null

/**
 * A report as lines of CSV (RFC 4180) without their ends; an absent value is empty. A text that a
 * spreadsheet would run as a formula gets an apostrophe before it.
 */
export function reportCsv(
  titles: readonly string[],
  rows: readonly (readonly CsvCell[])[],
): readonly string[] {
  return [titles, ...rows].map((row) => row.map(reportCell).join())
}

function reportCell(cell: CsvCell): string {
  const text = String(cell ?? '')
  return csvCell(typeof cell === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text)
}

/**
 * A row of a dataset as a line of CSV without its end, exactly as the server writes it: an absent
 * value is empty, an empty text is `""`, and JSON is always quoted.
 */
export function datasetCsv(cells: readonly (string | null)[], isJson: readonly boolean[]): string {
  const empty = cells.length === 1 ? '""' : ''
  return cells
    .map((cell, at) => {
      if (cell === null) return empty
      if (isJson[at]) return `"${cell.replaceAll('"', '""')}"`
      return cell === '' ? '""' : csvCell(cell)
    })
    .join()
}
