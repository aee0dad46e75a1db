import type { RowTexts } from '../../query/row-texts.js'
import { csvCell } from '../../text.js'

/** The names of a row's columns, as people write them. */
export function titlesOf({ names }: RowTexts): readonly string[] {
  return names.map((name) => String(JSON.parse(name)))
}

/** The text of a cell: of a string, without quotes; null where there is no value. */
export function cellText(cell: string): string | null {
  if (cell === 'null') return null
  return cell.startsWith('"') ? String(JSON.parse(cell)) : cell
}

/** A row as a line of CSV without its end, as the server writes it. */
export function csvLine(cells: readonly string[], isJson: readonly boolean[]): string {
  const empty = cells.length === 1 ? '""' : ''
  return cells
    .map((cell, at) => {
      if (cell === 'null') return empty
      if (isJson[at]) return `"${cell.replaceAll('"', '""')}"`
      const text = cellText(cell)
      return text === null || text === '' ? '""' : csvCell(text)
    })
    .join()
}
