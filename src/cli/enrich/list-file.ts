import { resolve } from 'node:path'
import { badRequest } from '../../errors.js'
import { didYouMean, listed, quoted } from '../../text.js'
import { openCsv, openText } from '../../versions/tables/csv-table.js'
import { csvSplitter } from '../../versions/tables/csv-records.js'
import { openExcel } from '../../versions/tables/excel-table.js'
import { tableFileOf } from '../../versions/tables/table-file.js'
import { TableError, badLines, badLinesMax } from '../../versions/tables/table.js'
import type { TableOrder, TableRow, TableSource } from '../../versions/tables/table.js'
import type { JudgedKey } from './judge-key.js'

/** What its owner says of a list; null = recognised. */
export interface ListOrder {
  readonly file: string
  readonly encoding: string | null
  readonly separator: string | null
  readonly sheet: string | null
}

/** A list of keys in a file, which is read several times. */
export interface ListFile extends Pick<TableOrder, 'path' | 'file' | 'format'> {
  /** Null for a workbook. */
  readonly encoding: string | null
  readonly separator: string
  /** Null for a text. */
  readonly sheet: string | null
  /** What its owner should know, once all rows are read. */
  readonly notes: ReadonlySet<string>
  readonly rows: () => AsyncGenerator<readonly TableRow[]>
}

/**
 * Opens a list.
 * @throws TableError for a file that can't be read; bad_request for another format
 */
export async function openList({ file, ...stated }: ListOrder): Promise<ListFile> {
  const format = /\.gz$/i.test(file) ? undefined : tableFileOf(resolve(file))?.format
  if (format !== 'CSV' && format !== 'Excel') {
    throw badRequest(`${quoted(file)} is no list: name a .csv, .tsv or .xlsx file.`)
  }
  const rest = { hasHeader: true, skipLines: 0, types: [], draft: '', memoryLimitBytes: null }
  const order: TableOrder = { path: resolve(file), file, format, ...stated, ...rest }
  const { path } = order
  if (format === 'Excel') {
    let opened: TableSource | null = await openExcel(order)
    const { sheet } = opened
    const notes = new Set<string>()
    const rows = async function* () {
      const source = opened ?? (await openExcel(order))
      opened = null
      yield* source.rows
      for (const note of [...source.notes, ...source.doubts]) notes.add(note)
    }
    return { path, file, format, encoding: null, separator: ',', sheet, notes, rows }
  }
  const { encoding, separator, doubts } = await openCsv(order)
  if (doubts.length > 0) throw new TableError(`error: ${file} can't be read:`, ...doubts)
  const { parts, checked } = await openText({ ...order, encoding })
  const rows = async function* () {
    const split = csvSplitter(separator ?? ',')
    for await (const part of parts()) yield checked(split(part, false))
    yield checked(split('', true))
  }
  const own = { encoding, separator: separator ?? ',', sheet: null, notes: new Set<string>(), rows }
  return { path, file, format, ...own }
}

/** The keys of a list, and where they are. */
export interface ListKeys {
  /** Its row with the names of the columns. */
  readonly header: TableRow
  /** The place of the keys in each row. */
  readonly place: number
  /** The cells of its longest row. */
  readonly width: number
  readonly lines: number
  /** Each once, in the order of the list. */
  readonly keys: ReadonlySet<string>
  readonly malformed: readonly MalformedLine[]
  /** Keys whose zeros are put back. */
  readonly restored: number
}

export interface MalformedLine {
  readonly line: number
  readonly text: string
  readonly withZero: string | null
}

/** A title may be above the names. */
const headerRowsMax = 50

/** False for a row without a value, which stays as it is. */
export function hasValues({ cells }: TableRow): boolean {
  return cells.length > 1 || (cells[0] ?? null) !== null
}

/**
 * Reads the keys of the column `name`, whose header is the first row that has this name.
 * @throws TableError for bad lines, or a list without this column
 */
export async function readKeys(
  list: ListFile,
  name: string,
  judge: (cell: string | null | undefined) => JudgedKey,
): Promise<ListKeys> {
  const above: TableRow[] = []
  const bad: TableRow[] = []
  const [keys, malformed] = [new Set<string>(), [] as MalformedLine[]]
  let header: TableRow | undefined
  let [place, width, lines, badCount, restored] = [-1, 0, 0, 0, 0]
  for await (const rows of list.rows()) {
    for (const row of rows) {
      if (row.problem !== undefined && (badCount += 1) <= badLinesMax) bad.push(row)
      width = Math.max(width, row.cells.length)
      if (!hasValues(row)) continue
      if (!header) {
        place = row.cells.findIndex((cell) => cell?.trim() === name)
        if (place !== -1) header = row
        else if (above.push(row) > headerRowsMax) throw withoutColumn(list.file, name, above)
        continue
      }
      lines += 1
      const key = judge(row.cells[place])
      if (key.kind === 'key') keys.add(key.key)
      else malformed.push({ line: row.line, text: row.cells[place] ?? '', ...key })
      if (key.kind === 'key' && key.restored !== null) restored += 1
    }
  }
  if (badCount > 0) throw badLines({ file: list.file, format: list.format }, bad, badCount)
  if (!header) throw withoutColumn(list.file, name, above)
  if (header.cells.filter((cell) => cell?.trim() === name).length > 1) {
    throw new TableError(`error: ${list.file} has two columns ${quoted(name)}; rename one.`)
  }
  return { header, place, width, lines, keys, malformed, restored }
}

function withoutColumn(file: string, name: string, [first]: readonly TableRow[]): TableError {
  if (!first) return new TableError(`error: ${file} is empty.`)
  const names = first.cells.flatMap((cell) => (cell === null ? [] : [cell.trim()]))
  return new TableError(
    `error: ${file} has no column ${quoted(name)}.${didYouMean(name, names)}`,
    `Say with --column which one has the keys: ${listed(names.map(quoted))}.`,
  )
}
