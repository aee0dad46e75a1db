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
