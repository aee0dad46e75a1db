import { csvCell } from '../catalog/csv-cell.js'

/** Texts in quotes are passed over; what is left of JSON are brackets, commas and colons. */
const marks = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs

/**
 * The cells of a row, in its order, as the JSON texts that stand there: every digit is kept, and so
 * is the order of keys that are digits.
 */
export function cellsOf(row: string): readonly string[] {
  const cells: string[] = []
  let [depth, start] = [0, 0]
  for (const { 0: mark, index } of row.matchAll(marks)) {
    if (mark === '}' || mark === ']') depth--
    const isEnd = (depth === 1 && mark === ',') || (depth === 0 && mark === '}')
    if (isEnd) cells.push(row.slice(start, index).trim())
    if (depth === 1 && mark === ':') start = index + 1
    if (mark === '{' || mark === '[') depth++
  }
  return cells
}

/** The text of a cell: of a string, without quotes; null where there is no value. */
export function cellText(cell: string): string | null {
  if (cell === 'null') return null
  return cell.startsWith('"') ? String(JSON.parse(cell)) : cell
}

/** A row as a line of CSV without its end, as the server writes it. */
export function csvLine(cells: readonly string[]): string {
  const empty = cells.length === 1 ? '""' : ''
  return cells
    .map((cell) => {
      const text = cellText(cell)
      return text === null ? empty : text === '' ? '""' : csvCell(text)
    })
    .join()
}
