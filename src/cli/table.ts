import { csvCell } from '../text.js'
import type { Output } from './parts.js'
import { count } from './print.js'

type TableCell = string | number | null

const columnGap = '  '
const absent = '—'

/** The columns of a table: title → the cell of an item. */
type Columns<Item> = Readonly<Record<string, (item: Item) => TableCell>>

/** Items as a table of these columns, as `tableLines` writes it. */
export function listLines<Item>(
  output: Output,
  items: readonly Item[],
  columns: Columns<Item>,
): readonly string[] {
  return tableLines(output, Object.keys(columns), rowsOf(items, columns))
}

/** Items as a table, or a line that there are none. */
export function linesOrNone<Item>(
  output: Output,
  items: readonly Item[],
  none: string,
  columns: Columns<Item>,
): readonly string[] {
  return items.length === 0 ? [none] : listLines(output, items, columns)
}

/**
 * A table as lines, titles first. On a terminal: aligned columns, numbers to the right, their
 * thousands set apart. Elsewhere: cells between tabs, plain numbers, an absent value empty.
 */
export function tableLines(
  output: Output,
  titles: readonly string[],
  rows: readonly (readonly TableCell[])[],
): readonly string[] {
  const all = [titles, ...rows]
  if (!output.isTTY) return all.map((row) => row.map((cell) => cell ?? '').join('\t'))
  const textOf = (cell: TableCell) =>
    typeof cell === 'number' ? count(output, cell) : (cell ?? absent)
  const padded = titles.map((_, at) => {
    const cells = all.map((row) => row[at] ?? null)
    const isNumber = cells.some((cell) => typeof cell === 'number')
    const texts = cells.map(textOf)
    const width = Math.max(...texts.map(lettersOf))
    return texts.map((text) => {
      const fill = ' '.repeat(width - lettersOf(text))
      return isNumber ? fill + text : text + fill
    })
  })
  return all.map((_, line) =>
    padded
      .map((texts) => texts[line] ?? '')
      .join(columnGap)
      .trimEnd(),
  )
}

/** The cells of each item. */
function rowsOf<Item>(items: readonly Item[], columns: Columns<Item>) {
  const cells = Object.values(columns)
  return items.map((item) => cells.map((cell) => cell(item)))
}

/**
 * Items as lines of CSV (RFC 4180) without their ends, the names of the columns first; an absent
 * value is empty. A text that a spreadsheet would run as a formula gets an apostrophe.
 */
export function reportCsv<Item>(items: readonly Item[], columns: Columns<Item>): readonly string[] {
  const all = [Object.keys(columns), ...rowsOf(items, columns)]
  return all.map((row) => row.map(csvText).join())
}

/** An item as an object: column → cell. */
export function recordOf<Item>(columns: Columns<Item>, item: Item) {
  return Object.fromEntries(Object.entries(columns).map(([name, cell]) => [name, cell(item)]))
}

function csvText(cell: TableCell): string {
  const text = String(cell ?? '')
  return csvCell(typeof cell === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text)
}

function lettersOf(text: string): number {
  return [...text].length
}
