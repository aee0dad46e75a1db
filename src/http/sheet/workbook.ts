import writeXlsxFile from 'write-excel-file/node'
import type { Cell, CellObject } from 'write-excel-file/node'
import { firstInexact } from '../../query/exact-json.js'
import { plainText } from './sheet.js'
import type { CellKind, SheetColumn } from './sheet.js'

/** Excel refuses longer names of sheets. */
const nameLettersMax = 31
const decimalsMax = 30
/** Serial numbers of earlier days differ between spreadsheets: Excel takes 1900 for a leap year. */
const firstDayMs = Date.UTC(1900, 2, 1)
const instant = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d(?:\.\d{1,3})?)Z?)?$/

/** The longest text of a cell that Excel opens. */
const cellLettersMax = 32_767

/**
 * An XLSX workbook: a sheet with the names in bold, then the rows, whose cells are JSON texts. A
 * number that a spreadsheet would round, and a date that it can't count, is text. Longer texts than
 * Excel opens are cut, marked, and counted on a second sheet.
 */
export async function workbook(
  name: string,
  columns: readonly SheetColumn[],
  rows: readonly (readonly string[])[],
): Promise<Uint8Array> {
  const head = columns.map((column) => ({ ...textCell(column.name), fontWeight: 'bold' as const }))
  let cuts = 0
  const body = rows.map((cells) =>
    columns.map((column, index) => {
      const json = cells[index] ?? 'null'
      // Escapes may make JSON longer than its text.
      const text = json.length > cellLettersMax ? plainText(json) : ''
      if (text.length <= cellLettersMax) return cellOf(column.cells, json)
      cuts += 1
      return textCell(cutText(text))
    }),
  )
  const sheets = [
    { data: [head, ...body], sheet: name.slice(0, nameLettersMax), stickyRowsCount: 1 },
    ...(cuts === 0 ? [] : [{ data: aboutCuts(cuts), sheet: 'About' }]),
  ]
  return writeXlsxFile(sheets).toBuffer()
}

function cutText(text: string): string {
  const mark = ` … [cut: ${text.length} characters]`
  return text.slice(0, cellLettersMax - mark.length).toWellFormed() + mark
}

function aboutCuts(cuts: number) {
  const what = `Texts cut to ${cellLettersMax} characters, the most that a cell holds`
  return [[textCell(what), numberCell(0, String(cuts))]]
}

function cellOf(kind: CellKind, json: string): Cell {
  if (json === 'null') return null
  if (json.startsWith('"') && kind.kind === 'number') return textCell(plainText(json))
  switch (kind.kind) {
    case 'number':
      return numberCell(kind.decimals, json)
    case 'boolean':
      return { value: json === 'true', type: Boolean }
    case 'date':
      return dateCell(plainText(json), 'yyyy-mm-dd')
    case 'timestamp':
      return dateCell(plainText(json), 'yyyy-mm-dd hh:mm:ss')
    case 'text':
      return textCell(plainText(json))
  }
}

/** Spreadsheets keep 15 digits. A floating-point number has no more than they keep. */
function numberCell(decimals: number | null, digits: string): CellObject {
  if (decimals === null) return { value: Number(digits), type: Number }
  if (firstInexact(digits) !== undefined) return textCell(digits)
  const format = decimals === 0 ? '0' : `0.${'0'.repeat(Math.min(decimals, decimalsMax))}`
  return { value: Number(digits), type: Number, format }
}

/** Times are UTC or have no zone: a spreadsheet has none. */
function dateCell(text: string, format: string): CellObject {
  const [, day, time = '00:00:00'] = instant.exec(text) ?? []
  const ms = day === undefined ? NaN : Date.parse(`${day}T${time}Z`)
  return ms >= firstDayMs ? { value: new Date(ms), type: Date, format } : textCell(text)
}

/** The format keeps the text when a user edits the cell. */
function textCell(text: string): CellObject {
  return { value: escapedText(text), type: String, format: '@' }
}

/** Characters that XML lacks or the library leaves out, and `_` where an escape could be read. */
const special =
  // eslint-disable-next-line no-control-regex
  /[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffd-\uffff]|_(?=x[0-9A-Fa-f]{4}_)/g

/** A character that the library leaves out, because XML lacks it. */
const leftOut = '\ufffe'

/**
 * Escapes by the rules of Office Open XML (ST_Xstring). The library would take a text such as
 * `constructor`, a name that every object of JavaScript has, for one that it has already written.
 */
function escapedText(text: string): string {
  const safe = text.replaceAll(
    special,
    (letter) => `_x${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
  )
  return safe in {} ? leftOut + safe : safe
}
