import { TableError, shownText } from './table.js'
import type { BadLines, TableOrder, TableRow, TableSource } from './table.js'
import { openWorkbook } from './workbook.js'
import type { Sheet, Workbook } from './workbook.js'

const rowsAtOnce = 1000
const errorsMax = 10
const saveAgain = 'open the file in Excel or LibreOffice and save it'

/**
 * Opens a sheet of an Excel workbook: the one that is named, or the first that is visible. A text
 * stays text, also one of digits. An error is empty, and a note names it; a formula whose result
 * was never computed is a bad line.
 * @throws TableError
 */
export async function openExcel(order: TableOrder, bad: BadLines): Promise<TableSource> {
  const { path, file, skipLines } = order
  try {
    const book = await openWorkbook(path, file)
    const sheet = chooseSheet(book, order)
    const others = book.sheets.filter((each) => each !== sheet)
    const names = others.map(({ name, isHidden }) => `"${name}"${isHidden ? ' (hidden)' : ''}`)
    const notes = others.length === 0 ? [] : [`other sheets, not read: ${names.join(', ')}`]
    const found = { texts: new Map<number, number>(), notes, doubts: [] as string[] }
    async function* rows() {
      let batch: TableRow[] = []
      try {
        for (const row of sheetRows(book, sheet, found, bad)) {
          if (row.line > (skipLines ?? 0)) batch.push(row)
          if (batch.length >= rowsAtOnce) yield batch.splice(0)
        }
      } catch (cause) {
        throw unreadable(file, cause)
      }
      yield batch
    }
    const none = { encoding: null, separator: null, names: null, wrong: /\0/ }
    return { ...found, ...none, sheet: sheet.name, rows: rows() }
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

function unreadable(file: string, cause: unknown): TableError {
  if (cause instanceof TableError) return cause
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TableError([`error: ${file} can't be read as an Excel workbook (.xlsx): ${why}`])
}

function chooseSheet({ sheets }: Workbook, { sheet: name, file }: TableOrder): Sheet {
  const found = sheets.find((each) => (name === null ? !each.isHidden : each.name === name))
  if (found) return found
  const names = sheets.map((each) => shownText(each.name)).join(', ')
  const what = name === null ? 'has no visible sheet' : `has no sheet ${shownText(name)}`
  throw new TableError([`error: ${file} ${what}. Name one with --sheet: ${names}`])
}

/** The rows that have a value or an error. */
function* sheetRows(
  book: Workbook,
  sheet: Sheet,
  found: Pick<TableSource, 'notes' | 'doubts'> & { readonly texts: Map<number, number> },
  bad: BadLines,
): Generator<TableRow> {
  const errors: string[] = []
  let [formulas, errorCount, line, column] = [0, 0, 0, 0]
  let cells: (string | null)[] = []
  let cell: Cell = { place: '', type: '', style: 0, value: null, isFormula: false }
  for (const { open, close, attribute, text } of sheet.tags()) {
    if (open === 'row') [line, column, cells] = [Number(attribute('r') ?? line + 1), 0, []]
    else if (open === 'c') {
      const place = attribute('r')
      column = place === undefined ? column + 1 : columnOf(place)
      const [type, style] = [attribute('t') ?? 'n', Number(attribute('s') ?? 0)]
      cell = { place: place ?? `cell ${column}`, type, style, value: null, isFormula: false }
    } else if (open === 'f') cell.isFormula = true
    else if (close === 'v' || close === 't') cell.value = (cell.value ?? '') + text
    else if (close === 'row' && cells.length > 0) yield { line, cells }
    if (close !== 'c') continue
    const content = contentOf(cell, book)
    if (cell.isFormula) formulas += 1
    if (content.problem !== undefined) bad.add(line, `${cell.place} ${content.problem}`)
    if (content.text === null) continue
    if (cell.type === 'e') errorCount += 1
    if (cell.type === 'e' && errorCount <= errorsMax) errors.push(`${cell.place} ${content.text}`)
    if (content.isText === true) found.texts.set(column - 1, line)
    while (cells.length < column) cells.push(null)
    if (cell.type !== 'e') cells[column - 1] = content.text
  }
  if (errorCount > 0) {
    const more = errorCount > errorsMax ? ', …' : ''
    found.notes.push(`${errorCount} cells hold an error and are empty: ${errors.join(', ')}${more}`)
  }
  if (formulas === 0 || !book.isStale) return
  found.doubts.push(
    `the file says that the results of its ${formulas} formulas are not computed yet: ${saveAgain}`,
  )
}

interface Cell {
  readonly place: string
  readonly type: string
  readonly style: number
  value: string | null
  isFormula: boolean
}

interface Content {
  /** Null = empty. */
  readonly text: string | null
  readonly isText?: boolean
  readonly problem?: string
}

function contentOf(cell: Cell, { strings, formats }: Workbook): Content {
  const { type, style, isFormula, value } = cell
  if (isFormula && (value === null || (value === '' && type !== 'str'))) {
    return { text: null, problem: `is a formula that was never computed: ${saveAgain}` }
  }
  if (value === null || value === '') return { text: null }
  switch (type) {
    case 'e':
      return { text: value }
    case 'b':
      return { text: value === '1' ? 'true' : 'false' }
    case 'd':
      return { text: value.replace(/T00:00(:00(\.0+)?)?$/, '') }
    case 'n': {
      const format = formats[style]
      return { text: format?.textOf(value) ?? value, isText: format?.isText ?? false }
    }
    default: {
      const text = type === 's' ? strings[Number(value)] : value
      if (text === undefined) return { text: null, problem: 'has a text that is not in the file' }
      return { text: unescaped(text) || null, isText: text !== '' }
    }
  }
}

/** Excel writes control characters as `_x000D_`. */
function unescaped(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([\da-f]{4})_/gi, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  )
}

/** The number of the column, from 1, of a place such as `AB12`. */
function columnOf(place: string): number {
  let column = 0
  for (const letter of place.replace(/[^A-Z]/gi, '')) {
    column = column * 26 + letter.toUpperCase().charCodeAt(0) - 64
  }
  return column
}
