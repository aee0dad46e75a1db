/**
 * Lines of CSV, quoted as RFC 4180 has it. A text that a spreadsheet would run as a formula gets an
 * apostrophe before it; an absent value is empty.
 */
export function csvLines(
  titles: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): readonly string[] {
  return [titles, ...rows].map((row) => row.map(csvCell).join(','))
}

function csvCell(cell: string | number | null): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
