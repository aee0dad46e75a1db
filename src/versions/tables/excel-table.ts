import { TableError, shownText } from './table.js'
import type { MergedCells, ReadBytes, TableOrder, TableRow, TableSource } from './table.js'
import { openWorkbook } from './workbook.js'
import type { Sheet, Workbook } from './workbook.js'

const rowsAtOnce = 1000
const errorsMax = 10
const hiddenMax = 5
/** Of the name of a column: `XFD`. */
const lettersMax = 3
const saveAgain = 'open the file in Excel or LibreOffice and save it'

type SheetOrder = Pick<TableOrder, 'file' | 'sheet' | 'skipLines'>

/** What is learned while the rows are read. */
type Found = Required<Pick<TableSource, 'notes' | 'doubts' | 'merged'>>

/**
 * Opens a sheet of an Excel workbook: the one that is named, or the first that is visible. A text
 * stays text, also one of digits. An error is empty, and a note names it; a formula whose result
 * was never computed is a bad row.
 * @throws TableError
 */
export async function openExcel(order: SheetOrder, bytes: ReadBytes): Promise<TableSource> {
  const fail = (cause: unknown): never => {
    if (cause instanceof TableError) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new TableError(`error: ${order.file} can't be read as a workbook (.xlsx): ${why}`)
  }
  const book = await openWorkbook(bytes, order.file).catch(fail)
  const sheet = chooseSheet(book, order)
  const others = book.sheets.filter((each) => each !== sheet)
  const names = others.map((each) => shownText(each.name) + (each.isHidden ? ' (hidden)' : ''))
  const notes = others.length === 0 ? [] : [`other sheets, not read: ${names.join(', ')}`]
  const found: Found = { notes, doubts: [], merged: [] }
  async function* rows() {
    const batch: TableRow[] = []
    try {
      for (const row of sheetRows(book, sheet, found, order.skipLines)) {
        if (row.line > order.skipLines) batch.push(row)
        if (batch.length >= rowsAtOnce) yield batch.splice(0)
      }
    } catch (cause) {
      fail(cause)
    }
    yield batch
  }
  return { encoding: null, separator: null, sheet: sheet.name, names: null, ...found, rows: rows() }
}

function chooseSheet({ sheets }: Workbook, { sheet: name, file }: SheetOrder): Sheet {
  const found = sheets.find((each) => (name === null ? !each.isHidden : each.name === name))
  if (found) return found
  const names = sheets.map((each) => shownText(each.name)).join(', ')
  const what = name === null ? 'has no visible sheet' : `has no sheet ${shownText(name)}`
  throw new TableError(`error: ${file} ${what}. Name one with --sheet: ${names}`)
}

interface SheetRow {
  readonly line: number
  readonly cells: (string | null)[]
  readonly isText: boolean[]
  readonly serials: (string | undefined)[]
  problem?: string
}

/** The rows that have a value or an error; those of the first `skipLines` are not used. */
function* sheetRows(
  book: Workbook,
  sheet: Sheet,
  found: Found,
  skipLines: number,
): Generator<TableRow> {
  const errors: string[] = []
  const hidden = watchHidden()
  let [errorCount, formulas, column] = [0, 0, 0]
  let row = newRow(0)
  let cell = newCell('', '', 0)
  for (const { open, close, attributes, text } of sheet.tags()) {
    const { r, t: type = 'n', s: style = '0' } = attributes
    if (open === 'row') row = newRow(Number(r ?? row.line + 1))
    if (open === 'row') column = 0
    if (open === 'row' || open === 'col') hidden.open(open, attributes)
    if (open === 'c') {
      column = r === undefined ? column + 1 : columnOf(r)
      cell = newCell(r ?? `${lettersOf(column)}${row.line}`, type, Number(style))
    }
    if (open === 'f') cell.isFormula = true
    if (open === 'mergeCell') found.merged.push(mergedAt(attributes['ref'] ?? ''))
    if (close === 'v' || close === 't') cell.value = (cell.value ?? '') + text
    if (close === 'row' && row.cells.length > 0) yield row
    if (close !== 'c') continue
    formulas += cell.isFormula ? 1 : 0
    const [kind, content, serial] = contentOf(cell, book)
    if (content === '') continue
    if (kind === 'problem') {
      row.problem = `${row.problem ? `${row.problem}; ` : ''}${cell.at} ${content}`
    }
    if (kind === 'error') errorCount += 1
    if (kind === 'error' && errorCount <= errorsMax) errors.push(`${cell.at} ${content}`)
    while (row.cells.length < column) row.cells.push(null)
    if (kind === 'text' || kind === 'value') row.cells[column - 1] = content
    row.isText[column - 1] = kind === 'text'
    if (serial !== undefined) row.serials[column - 1] = serial
    if (row.line > skipLines) hidden.see(row.line, column, cell.at)
  }
  found.doubts.push(...hidden.doubts())
  if (errorCount > errorsMax) errors.push('…')
  const cells = errorCount === 1 ? '1 cell has' : `${errorCount} cells have`
  if (errorCount > 0) found.notes.push(`${cells} an error, read as empty: ${errors.join(', ')}`)
  if (formulas === 0 || !book.isStale) return
  found.doubts.push(`the results of formulas wait to be computed (${formulas}): ${saveAgain}`)
}

const newRow = (line: number): SheetRow => ({ line, cells: [], isText: [], serials: [] })

const newCell = (at: string, type: string, style: number) => ({
  ...{ at, type, style, isFormula: false },
  value: null as string | null,
})

type CellContent = readonly [
  kind: 'value' | 'text' | 'error' | 'problem',
  content: string,
  serial?: string | undefined,
]

/** What a cell has; empty content = nothing. */
function contentOf(
  { type, style, value, isFormula }: ReturnType<typeof newCell>,
  { strings, formats }: Workbook,
): CellContent {
  if (isFormula && (value === null || (value === '' && type !== 'str'))) {
    return ['problem', `was never computed: ${saveAgain}`]
  }
  if (value === null || value === '') return ['value', '']
  if (type === 'e') return ['error', value]
  if (type === 'b') return ['value', value === '1' ? 'true' : 'false']
  if (type === 'd') return ['value', value.replace(/T00:00(:00(\.0+)?)?Z?$/, '')]
  if (type === 'n') {
    const format = formats[style]
    const serial = format?.serialOf?.(value)
    return [format?.isText ? 'text' : 'value', format?.textOf(value) ?? value, serial]
  }
  const text = type === 's' ? strings[Number(value)] : value
  if (text === undefined) return ['problem', 'has a text that is not in the file']
  // Excel writes control characters as `_x000D_`.
  const letter = (_: string, code: string) => String.fromCharCode(parseInt(code, 16))
  return ['text', text.replace(/_x([\da-f]{4})_/gi, letter)]
}

/**
 * Watches for values in hidden rows and columns, which somebody did not mean to show; `doubts` are
 * to be confirmed, once all cells were seen.
 */
function watchHidden() {
  const isOn = (value = '') => /^(1|true)$/.test(value)
  const ranges: (readonly [from: number, to: number])[] = []
  const [rows, columns] = [new Set<number>(), new Set<string>()]
  let isHiddenRow = false
  return {
    open(tag: 'row' | 'col', { hidden, min = '', max = min }: Readonly<Record<string, string>>) {
      if (tag === 'row') isHiddenRow = isOn(hidden)
      else if (isOn(hidden)) ranges.push([Number(min), Number(max)])
    },
    see(line: number, column: number, at: string): void {
      if (isHiddenRow) rows.add(line)
      const isIn = ranges.some(([from, to]) => column >= from && column <= to)
      if (isIn) columns.add(at.replace(/\d+$/, ''))
    },
    doubts(): readonly string[] {
      const listed = (word: string, all: readonly (string | number)[]) => {
        const more = all.length > hiddenMax ? `, and ${all.length - hiddenMax} more` : ''
        const shown = all.slice(0, hiddenMax).join(', ')
        return all.length === 0 ? [] : [`${word}${all.length > 1 ? 's' : ''} ${shown}${more}`]
      }
      const found = [...listed('column', [...columns]), ...listed('row', [...rows])].join(' and ')
      const way = 'show what is to be published, and delete the rest'
      return found === '' ? [] : [`the sheet hides values in ${found}; ${way}`]
    },
  }
}

function mergedAt(at: string): MergedCells {
  const [firstRow = 0, lastRow = firstRow] = (at.match(/\d+/g) ?? []).map(Number)
  return { at, firstRow, lastRow }
}

/** The letters of the column of this number, from 1. */
function lettersOf(column: number): string {
  if (column < 1) return ''
  const [rest, place] = [Math.floor((column - 1) / 26), (column - 1) % 26]
  return lettersOf(rest) + String.fromCharCode(65 + place)
}

/** The number of the column, from 1, of a cell such as `AB12`. */
function columnOf(at: string): number {
  const letters = at
    .toUpperCase()
    .replace(/[^A-Z]/g, '')
    .slice(0, lettersMax)
  return [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0)
}
