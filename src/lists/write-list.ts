import type { ShownType } from '../columns/column-types.js'
import { firstInexact } from '../query/exact-json.js'
import { textOfJson } from '../row-texts.js'
import { sheetStream } from '../sheet/sheet-stream.js'
import type { StreamCell } from '../sheet/sheet-stream.js'
import { csvCell, many } from '../text.js'
import type { TableRow } from '../versions/tables/table.js'
import { markOf, textEncoder } from './encode-text.js'
import type { JudgeCell, JudgedKey } from './judge-key.js'
import type { ListFile } from './open-list.js'
import { hasValues } from './read-keys.js'
import type { ListKeys } from './read-keys.js'
import type { NewColumns } from './new-columns.js'

export type Save = (bytes: Uint8Array) => void

/** Takes the rows of a list, in order. */
interface ListSink {
  /** Writes a row with more cells behind it, as JSON texts; null = the row as it is. */
  readonly write: (row: TableRow, cells: readonly string[] | null) => void
  /** Ends the file; returns what its owner should know. */
  readonly end: () => readonly string[]
}

/** How many lines have which status, and what the owner should know. */
export interface WrittenList {
  readonly found: number
  readonly notFound: number
  readonly malformed: number
  /** Of a run that did not end: lines whose keys may have more rows. */
  readonly unfinished: number
  readonly notes: readonly string[]
}

/** Writes a list with its new columns, whose names come with the status as the last one. */
export async function writeList(
  list: ListFile,
  { header, place, width }: ListKeys,
  judge: JudgeCell,
  columns: NewColumns,
  names: readonly string[],
  save: Save,
  isUnfinished: (key: string) => boolean,
): Promise<WrittenList> {
  const sink = list.encoding === null ? sheetSink : csvSink
  const { write, end } = await sink(list, width, columns.types, save)
  const empty = columns.names.map(() => 'null')
  const counts = { found: 0, notFound: 0, malformed: 0, unfinished: 0 }
  const statusOf = (key: JudgedKey) => {
    if (key.kind !== 'key') return 'malformed'
    if (isUnfinished(key.key)) return 'unfinished'
    return columns.linesOf(key.key).length > 0 ? 'found' : 'not_found'
  }
  const add = (row: TableRow) => {
    const key = judge(row.cells[place])
    const lines = key.kind === 'key' ? columns.linesOf(key.key) : []
    const status = statusOf(key)
    counts[status === 'not_found' ? 'notFound' : status] += 1
    const restored = key.kind === 'key' ? key.restored : null
    const own = restored === null ? row : withCell(row, place, restored)
    for (const cells of lines.length > 0 ? lines : [empty]) {
      write(own, [...cells, JSON.stringify(status)])
    }
  }
  const heading = names.map((name) => JSON.stringify(name))
  for await (const rows of list.rows()) {
    for (const row of rows) {
      if (row.line > header.line && hasValues(row)) add(row)
      else write(row, row.line === header.line ? heading : null)
    }
  }
  return { ...counts, notes: end() }
}

/** A row with another text in a cell: its line is written anew. */
function withCell({ text = '', ...row }: TableRow, place: number, cell: string) {
  const { cells, isText = [] } = row
  const end = lineEndOf(text)
  return {
    ...row,
    ...(end !== '' && { text: end }),
    cells: cells.with(place, cell),
    isText: cells.map((_, at) => at === place || isText[at] === true),
    isChanged: true,
  }
}

const lettersAtOnce = 256 * 1024

/** Adds cells to the lines of a text, which stay as they are. */
async function csvSink(
  { bytes, encoding, separator }: ListFile,
  width: number,
  _types: readonly ShownType[],
  save: Save,
): Promise<ListSink> {
  let [lost, text, usualEnd, isOpen] = [0, '', '\n', false]
  const encode = textEncoder(encoding ?? '', (count) => (lost += count))
  text += await markOf(bytes, encoding ?? '')
  const cellOf = (json: string) => {
    if (json === 'null') return ''
    if (/^[-\d]/.test(json)) return separator === ';' ? json.replace('.', ',') : json
    const cell = textOfJson(json)
    return cell === '' ? '""' : csvCell(cell, separator)
  }
  const write = (
    row: TableRow & { readonly isChanged?: boolean },
    cells: readonly string[] | null,
  ) => {
    const { text: line = '' } = row
    const end = lineEndOf(line)
    if (end !== '') usualEnd = end
    if (isOpen) text += usualEnd
    const own = row.isChanged
      ? row.cells.map((cell) => csvCell(cell ?? '', separator)).join(separator)
      : line.slice(0, line.length - end.length)
    const missing = separator.repeat(Math.max(0, width - row.cells.length))
    text += cells === null ? own : [own + missing, ...cells.map(cellOf)].join(separator)
    text += end
    isOpen = end === ''
    if (text.length < lettersAtOnce) return
    save(encode(text))
    text = ''
  }
  const end = () => {
    save(encode(text))
    const what = `${many(lost, 'character')} that ${encoding} lacks became "?"`
    return lost === 0 ? [] : [`${what}: save the list as UTF-8 to keep them`]
  }
  return { write, end }
}

function lineEndOf(line: string): string {
  return /\r\n$|[\r\n]$/.exec(line.slice(-2))?.[0] ?? ''
}

/** Writes the values of a sheet, and what is new, into a workbook. */
function sheetSink(
  { sheet }: ListFile,
  width: number,
  types: readonly ShownType[],
  save: Save,
): ListSink {
  const stream = sheetStream(sheet ?? 'Sheet1', save)
  let [last, shift] = [0, 0]
  const write = (row: TableRow, cells: readonly string[] | null) => {
    // A row that is written again moves the rows below it.
    if (row.line === last) shift += 1
    last = row.line
    const own = row.cells.map((cell, at) => valueCell(cell, at, row))
    const missing = Array.from({ length: width - own.length }, () => null)
    const added = (cells ?? []).map((json, at) => jsonCell(json, types[at] ?? 'string'))
    stream.row(row.line + shift, [...own, ...missing, ...added])
  }
  const end = () => {
    stream.end()
    const kept = 'styles, formulas and other sheets of the workbook are not kept'
    return stream.cuts === 0 ? [kept] : [kept, `${many(stream.cuts, 'long text')} cut`]
  }
  return { write, end }
}

const number = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

function valueCell(
  text: string | null,
  at: number,
  { isText, serials }: TableRow,
): StreamCell | null {
  if (text === null) return null
  if (isText?.[at]) return { kind: 'text', text }
  if (number.test(text)) return { kind: 'number', text }
  const isBoolean = text === 'true' || text === 'false'
  const serial = serials?.[at]
  return { kind: isBoolean ? 'boolean' : 'date', text, ...(serial !== undefined && { serial }) }
}

/** A number that a spreadsheet would round is a text. */
function jsonCell(json: string, type: ShownType): StreamCell | null {
  const text = textOfJson(json)
  if (json === 'null' || text === '') return null
  if (json === 'true' || json === 'false') return { kind: 'boolean', text }
  const isDate = type === 'date' || type === 'timestamp'
  if (json.startsWith('"')) return { kind: isDate ? 'date' : 'text', text }
  // The digits of a floating-point number beyond 15 tell it from its neighbours only.
  const isExact = firstInexact(json) === undefined || String(Number(json)) === json
  return { kind: number.test(json) && isExact ? 'number' : 'text', text }
}
