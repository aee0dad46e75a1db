import { stat } from 'node:fs/promises'
import { readSheet } from 'read-excel-file/node'
import { TableError, numberedNames, requireNames } from './table.js'
import type { Table, TableOptions, TableRow } from './table.js'

/** The whole sheet is in memory while it is read, in about 40 times the bytes of the file. */
const fileBytesMax = 50_000_000
const rowsAtOnce = 1000
/** The most significant digits that Excel writes of a number. */
const digitsMax = 17

type Cell = string | boolean | number | Date | ExactNumber | null

/** A number with more digits than a double has. */
interface ExactNumber {
  readonly text: string
}

/**
 * Opens a sheet of an Excel workbook: the first row with a value is the header. Formulas count with
 * the result that Excel saved, an error as empty. A text stays text, also
 * one of digits.
 * @throws TableError
 */
export async function openExcel(path: string, file: string, options: TableOptions): Promise<Table> {
  const { size } = await stat(path)
  if (size > fileBytesMax) {
    throw new TableError([
      `error: ${file} has ${Math.ceil(size / 1e6)} MB; a workbook may have 50. Save it as CSV.`,
    ])
  }
  const sheet = await readRows(path, file, options.sheet)
  const start = sheet.findIndex((cells) => cells.some(isFilled))
  const first = sheet[start]
  if (!first) throw new TableError([`error: ${file} is empty`])
  const { hasHeader } = options
  const names = hasHeader ? requireNames(first.map(cellText), file) : numberedNames(first)
  const texts = new Set<number>()
  return {
    format: 'Excel',
    encoding: null,
    separator: null,
    names,
    texts,
    rows: () => tableRows(sheet, hasHeader ? start + 1 : start, texts),
  }
}

async function readRows(
  path: string,
  file: string,
  sheet: string | null,
): Promise<readonly (readonly Cell[])[]> {
  const options = { trim: false, parseNumber }
  try {
    const rows = await (sheet === null ? readSheet(path, options) : readSheet(path, sheet, options))
    return rows as unknown as readonly (readonly Cell[])[]
  } catch (cause) {
    const [message = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    throw new TableError([`error: ${file} can't be read as an Excel workbook: ${message}`])
  }
}

function parseNumber(text: string): number | ExactNumber {
  const digits = text
    .replace(/[eE].*$/, '')
    .replace(/\D/g, '')
    .replace(/^0+/, '')
  return digits.length > digitsMax ? { text } : Number(text)
}

async function* tableRows(
  sheet: readonly (readonly Cell[])[],
  start: number,
  texts: Set<number>,
): AsyncGenerator<TableRow[]> {
  for (let from = start; from < sheet.length; from += rowsAtOnce) {
    const rows: TableRow[] = []
    for (const [index, cells] of sheet.slice(from, from + rowsAtOnce).entries()) {
      if (!cells.some(isFilled)) continue
      const line = from + index + 1
      for (const [column, cell] of cells.entries()) {
        if (typeof cell === 'string' && cell !== '') texts.add(column)
      }
      rows.push({ line, cells: cells.map(cellText) })
    }
    yield rows
  }
}

function isFilled(cell: Cell): boolean {
  return cell !== null && cell !== ''
}

function cellText(cell: Cell): string | null {
  if (cell === null || cell === '') return null
  if (cell instanceof Date) return dateText(cell)
  if (typeof cell === 'object') return cell.text
  return String(cell)
}

/**
 * Excel keeps a time as a fraction of a day, which misses the second by less than a millisecond. A
 * time without a date belongs to the last days of 1899: 25 hours to the last one.
 */
function dateText(date: Date): string {
  const ms = date.getTime()
  const seconds = Math.round(ms / 1000) * 1000
  const text = new Date(Math.abs(ms - seconds) <= 1 ? seconds : ms).toISOString()
  const [day = '', time = ''] = text.replace('Z', '').split('T')
  const clock = time.replace(/\.000$/, '')
  if (day === '1899-12-31') return String(24 + Number(clock.slice(0, 2))) + clock.slice(2)
  if (day.startsWith('1899')) return clock
  return clock === '00:00:00' ? day : `${day} ${clock}`
}
