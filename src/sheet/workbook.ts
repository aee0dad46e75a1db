import writeXlsxFile from 'write-excel-file/node'
import type { Cell, CellObject } from 'write-excel-file/node'
import { getCellAddress } from 'write-excel-file/utility'
import { firstInexact } from '../query/exact-json.js'
import { textOfJson } from '../row-texts.js'
import { cutText, escapedLetters, firstDayMs, sheetMax } from './sheet-text.js'
import type { CellKind, Sheet, SheetColumn, SheetTable } from './sheet.js'

type Features = NonNullable<NonNullable<Parameters<typeof writeXlsxFile>[1]>['features']>

/** Excel refuses longer names of sheets. */
const nameLettersMax = 31
const decimalsMax = 30
const instant = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d(?:\.\d{1,3})?)Z?)?$/

/** A table with the JSON texts of its cells. */
export interface WorkbookTable extends Omit<SheetTable, 'lines'> {
  readonly rows: readonly (readonly string[])[]
}

/**
 * An XLSX workbook: a sheet for each table with the names in bold, frozen, with filters, and one
 * that says what they are. A number that a spreadsheet would round, and a date that it can't count,
 * is text. Longer texts than Excel opens are cut, marked, and counted on the last sheet.
 */
export async function workbook(
  tables: readonly WorkbookTable[],
  about: Sheet['about'],
): Promise<Uint8Array> {
  let cuts = 0
  const cell = ({ cells }: SheetColumn, json: string, ofRow: CellKind = cells): Cell => {
    // Escapes may make JSON longer than its text.
    const text = json.length > sheetMax.cellLetters ? textOfJson(json) : ''
    const kind = cells.kind === 'number' ? ofRow : cells
    if (text.length <= sheetMax.cellLetters) return cellOf(kind, json)
    cuts += 1
    return textCell(cutText(text))
  }
  const names = sheetNames(tables)
  const sheets = tables.map(({ columns, rows, rowCells }, index) => ({
    data: [
      columns.map((column) => ({ ...textCell(column.name), ...headStyle })),
      ...rows.map((cells, row) =>
        columns.map((column, at) => cell(column, cells[at] ?? 'null', rowCells?.[row])),
      ),
    ],
    sheet: names[index] ?? '',
    columns: columns.map((column, at) => ({ width: widthOf(column, at, rows) })),
    stickyRowsCount: 1,
  }))
  const facts = [
    ...about.map(([name, text]) => [{ ...textCell(name), ...headStyle }, textCell(text)]),
    ...(cuts === 0 ? [] : [aboutCuts(cuts)]),
  ]
  const last = { data: facts, sheet: aboutName, columns: [{ width: 24 }, { width: 100 }] }
  const features = filterFeatures(tables)
  return writeXlsxFile(facts.length === 0 ? sheets : [...sheets, last], { features }).toBuffer()
}

const headStyle = { fontWeight: 'bold', wrap: true, alignVertical: 'top' } as const

const aboutName = 'About'

/**
 * Excel refuses some characters, longer names, and equal ones in any case; `History` is its own.
 * A name that is taken ends with a number.
 */
function sheetNames(tables: readonly Pick<WorkbookTable, 'name'>[]): readonly string[] {
  const taken = new Set(['', 'history', aboutName.toLowerCase()])
  return tables.map(({ name }) => {
    const safe = name.replaceAll(/[\\/?*[\]:]/g, ' ')
    const fitting = (end: string) =>
      safe.slice(0, nameLettersMax - end.length).replaceAll(/^[' ]+|[' ]+$/g, '') + end
    let [own, count] = [fitting(''), 1]
    while (taken.has(own.toLowerCase())) own = fitting(` ${++count}`)
    taken.add(own.toLowerCase())
    return own
  })
}

const sampledRows = 200
const widthMin = 10
const widthMax = 50
/** Separators of thousands, and the button of the filter. */
const moreLetters = 4

/** The room of the longest value, of the first rows; headings wrap. */
function widthOf({ name, cells }: SheetColumn, at: number, rows: WorkbookTable['rows']): number {
  const lengths = rows.slice(0, sampledRows).map((row) => row[at]?.length ?? 0)
  const heading = cells.kind === 'number' ? Math.min(name.length, 16) : Math.min(name.length, 30)
  const longest = Math.max(heading, ...lengths) + moreLetters
  return Math.min(Math.max(longest, widthMin), widthMax)
}

/** Buttons to filter and sort by each column. The library has no option for them. */
function filterFeatures(tables: readonly WorkbookTable[]): Features {
  const feature: Features[number] = {
    files: {
      transform: {
        'xl/worksheets/sheet{id}.xml': {
          transform: (xml, _, { sheetIndex }) => {
            const table = tables[sheetIndex]
            if (!table || table.columns.length === 0) return xml
            const end = getCellAddress(table.rows.length, table.columns.length - 1)
            return xml.replace('</sheetData>', `</sheetData><autoFilter ref="A1:${end}"/>`)
          },
        },
      },
    },
  }
  return [feature]
}

function aboutCuts(cuts: number) {
  const what = `Texts cut to ${sheetMax.cellLetters} characters, the most that a cell holds`
  return [textCell(what), numberCell({ decimals: 0 }, String(cuts))]
}

function cellOf(kind: CellKind, json: string): Cell {
  if (json === 'null') return null
  if (json.startsWith('"') && kind.kind === 'number') return textCell(textOfJson(json))
  switch (kind.kind) {
    case 'number':
      return numberCell(kind, json)
    case 'boolean':
      return { value: json === 'true', type: Boolean }
    case 'date':
      return dateCell(textOfJson(json), 'yyyy-mm-dd')
    case 'timestamp':
      return dateCell(textOfJson(json), 'yyyy-mm-dd hh:mm:ss')
    case 'text':
      return textCell(textOfJson(json))
  }
}

/** Spreadsheets keep 15 digits. A floating-point number has no more than they keep. */
function numberCell(
  { decimals, form }: Pick<Extract<CellKind, { kind: 'number' }>, 'decimals' | 'form'>,
  digits: string,
): CellObject {
  if (decimals !== null && firstInexact(digits) !== undefined) return textCell(digits)
  const value = { value: Number(digits), type: Number }
  if (form === 'share') return { ...value, format: '0.0%' }
  const whole = form === 'amount' ? '#,##0' : '0'
  // The fraction of a floating-point number is shown as it is.
  if (decimals === null) {
    return Number.isInteger(value.value) && form ? { ...value, format: whole } : value
  }
  const fraction = decimals === 0 ? '' : `.${'0'.repeat(Math.min(decimals, decimalsMax))}`
  return { ...value, format: whole + fraction }
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

/** A character that the library leaves out, because XML lacks it. */
const leftOut = '\ufffe'

/**
 * Escapes by the rules of Office Open XML (ST_Xstring). The library would take a text such as
 * `constructor`, a name that every object of JavaScript has, for one that it has already written.
 */
function escapedText(text: string): string {
  const safe = escapedLetters(text)
  return safe in {} ? leftOut + safe : safe
}
