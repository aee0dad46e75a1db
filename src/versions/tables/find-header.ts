import { isValue } from './cell-kinds.js'
import { TableError, shownText } from './table.js'
import type { TableOrder, TableRow } from './table.js'

/** Where the columns of a table get their names. */
export interface Header {
  readonly names: readonly string[]
  /** The line of the names; null without one. */
  readonly line: number | null
  /** From this line on, rows have values. */
  readonly dataLine: number
  /** What has to be confirmed. */
  readonly doubts: readonly string[]
}

const problemsMax = 20

/**
 * Finds the names of the columns in the first rows of a table, none of which is blank. What is not
 * certain is a doubt: a title above the names, or values in their place.
 * @throws TableError for a name that is missing or used twice; case does not count
 */
export function findHeader(head: readonly TableRow[], order: TableOrder): Header {
  const { hasHeader, file, format } = order
  const word = format === 'Excel' ? 'row' : 'line'
  const widest = Math.max(...head.map(filledCells))
  // The cells of a title are fewer than half of the columns.
  const wide = head.findIndex((row) => filledCells(row) * 2 > widest)
  const at = hasHeader === null && wide + 1 < head.length ? wide : 0
  const [first, row = first, ...below] = [head[0], ...head.slice(at)]
  if (!first || !row) throw new TableError([`error: ${file} is empty`])
  const doubts: string[] = []
  if (row !== first) {
    doubts.push(
      `${word} ${first.line} looks like a title above the names of the columns: ` +
        `${shownRow(first)}. Leave it out with --skip-lines ${row.line - 1}, or use --header if ` +
        'it has the names.',
    )
  }
  if (hasHeader ?? true) {
    const value = hasHeader === null ? valueAmong(row, below) : null
    if (value === null) {
      const names = requireNames(row.cells, file)
      return { names, line: row.line, dataLine: row.line + 1, doubts }
    }
    doubts.push(
      `${word} ${row.line} looks like values, not like the names of the columns: ` +
        `${shownText(value)}. Use --no-header if the file has no names, or --header if it has.`,
    )
  }
  const names = row.cells.map((_, index) => `column${index + 1}`)
  return { names, line: null, dataLine: row.line, doubts }
}

function filledCells({ cells }: TableRow): number {
  return cells.filter((cell) => cell !== null).length
}

function shownRow({ cells }: TableRow): string {
  return shownText(cells.filter((cell) => cell !== null).join(' '))
}

/**
 * A cell that is no name: a number, a date, or a text that stands below it again. Years and codes of
 * four digits are names, unless all values below look like them.
 */
function valueAmong({ cells }: TableRow, below: readonly TableRow[]): string | null {
  const isShort = (text: string) => /^\d{4}$/.test(text)
  const found = cells.find((cell, index) => {
    if (cell === null) return false
    const others = below.flatMap((row) => row.cells[index] ?? [])
    if (!isValue(cell)) return others.includes(cell)
    return !isShort(cell) || (others.length > 0 && others.every(isShort))
  })
  return found ?? null
}

/**
 * The names of the columns, without spaces around them.
 * @throws TableError for a name that is missing or used twice; case does not count
 */
export function requireNames(cells: readonly (string | null)[], file: string): readonly string[] {
  const places = new Map<string, number>()
  const problems: string[] = []
  const names = cells.map((cell) => (cell ?? '').trim())
  for (const [index, name] of names.entries()) {
    const first = places.get(name.toLowerCase())
    if (name === '') problems.push(`  column ${index + 1} has no name`)
    else if (first === undefined) places.set(name.toLowerCase(), index + 1)
    else problems.push(`  column ${index + 1} has the name of column ${first}: ${name}`)
  }
  if (problems.length === 0) return names
  throw new TableError([
    `error: the first row of ${file} can't be its header, so nothing was written:`,
    ...problems.slice(0, problemsMax),
    'Correct the header, or use --no-header if the file has none, or --skip-lines if it is below.',
  ])
}
