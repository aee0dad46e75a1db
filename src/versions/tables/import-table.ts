import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { ColumnProfile } from './column-profile.js'
import type { TypedColumn } from './column-profile.js'
import { readStatedTypes, requireKnown } from './column-types.js'
import type { StatedType } from './column-types.js'
import { firstBytes } from './byte-text.js'
import { openCsv } from './csv-table.js'
import { openExcel } from './excel-table.js'
import { kindOfFile } from './file-kind.js'
import { fileBytes } from './file-text.js'
import { findHeader, isFilled, namedCells, requireNames } from './find-header.js'
import { openNdjson } from './ndjson-table.js'
import { mergedDoubts, watchRows } from './odd-rows.js'
import { oneColumnDoubts } from './one-column.js'
import { TableError, badLines, badLinesMax, lineWord } from './table.js'
import type { TableOrder, TableRow } from './table.js'

/** How a file was understood, once it was written as Parquet. */
export type ImportedTable = Awaited<ReturnType<typeof importTable>>

/** A table whose rows were all read: their texts are in one file. */
export interface TableTexts {
  readonly columns: readonly TypedColumn[]
  readonly rows: number
  /**
   * A CSV in UTF-8 without a header, every text in quotes, lines ended by LF. Before the cells of a
   * row is one that is always `1`; those that are missing at its end are empty.
   */
  readonly path: string
  /** Bytes of the longest record in the file. */
  readonly recordBytesMax: number
}

/** Writes texts as one new Parquet file in their folder; the engine implements it. */
export type WriteTable = (
  texts: TableTexts,
  target: string,
  memoryLimitBytes: number | null,
) => Promise<void>

/** Reads a table and writes it as Parquet; `report` gets the rows that are read. */
export type ImportTable = (
  order: TableOrder,
  options: { readonly signal: AbortSignal; readonly report: (rowsDone: number) => void },
) => Promise<ImportedTable>

/** The name of the Parquet file in the folder of the order. */
export const draftName = 'table.parquet'

/** More than Excel has. The memory that DuckDB needs grows with them. */
const columnsMax = 20_000
/** Batches that show what the header is. */
const headBatches = 4
const openers = { CSV: openCsv, Excel: openExcel, NDJSON: openNdjson } as const

/**
 * Reads every row of a file, and writes it as Parquet into the folder of the order.
 * @throws TableError for a file that can't be read exactly; bad_request for options that do not fit
 */
export async function importTable(
  order: TableOrder,
  write: WriteTable,
  report: (rowsDone: number) => void,
) {
  const stated = readStatedTypes(order.types)
  const bytes = () => fileBytes(order.path)
  requireTable(order, await firstBytes(bytes))
  const source = await openers[order.format](order, bytes)
  let head: readonly TableRow[] = []
  // A small file as a whole: its last line is a batch of its own.
  for (let batches = 0; batches < headBatches || head.length === 0; batches++) {
    const { done, value } = await source.rows.next()
    if (done) break
    head = [...head, ...value]
  }
  const header = findHeader(head, source.names, order)
  const { names, dataLine } = header
  async function* batches() {
    const isCsv = order.format === 'CSV'
    const named = (rows: readonly TableRow[]) => rows.map((row) => namedCells(row, header, isCsv))
    yield named(head.filter(({ line }) => line >= dataLine))
    for await (const rows of source.rows) yield named(rows)
  }
  const staged = await stageRows(
    order,
    names,
    stated,
    withoutLast(batches(), order.skipLastRows ?? 0),
    report,
  )
  if (source.names) requireNames(names, order)
  requireKnown(stated, names)
  const { profiles, rows, emptyLines } = staged
  const columns = profiles.map((profile) => profile.typed(rows))
  await write({ ...staged, columns }, join(order.draft, draftName), order.memoryLimitBytes)
  return {
    encoding: source.encoding,
    separator: source.separator,
    sheet: source.sheet,
    /** The line of the names of the columns; null without one. */
    headerLine: header.line,
    rows,
    columns,
    /** What the owner should know, and what has to be confirmed. */
    notes: [
      ...[...source.notes, ...header.notes],
      ...(emptyLines > 0 ? [`empty lines, left out: ${emptyLines}`] : []),
    ],
    doubts: [
      ...[...header.doubts, ...source.doubts, ...staged.watch.doubts(profiles)],
      ...mergedDoubts(source.merged ?? [], dataLine, staged.lastLine),
      ...(order.format === 'CSV'
        ? profiles.flatMap((each) => each.dumpDoubt() ?? []).slice(0, 1)
        : []),
      ...doubtsOfOne(order, header, head),
    ],
  }
}

/** @throws TableError for a file that is of another kind by its first bytes */
function requireTable({ file, format }: TableOrder, head: Uint8Array): void {
  const kind = kindOfFile(head)
  // A workbook is a zip.
  const isZip = head[0] === 0x50 && head[1] === 0x4b
  if (kind === null || (format === 'Excel' && isZip)) return
  throw new TableError(`error: ${file} ${kind}`)
}

/** The doubts about a CSV of one column with a name. */
function doubtsOfOne(
  { format, separator }: TableOrder,
  { names, line, dataLine }: ReturnType<typeof findHeader>,
  head: readonly TableRow[],
): readonly string[] {
  const [name = ''] = names
  if (format !== 'CSV' || names.length !== 1 || line === null) return []
  return oneColumnDoubts(
    name,
    head.filter((row) => row.line >= dataLine),
    separator,
  )
}

/** A row as a record of the CSV that the engine reads. */
function textOfRow(row: TableRow): string {
  const cells = row.cells.map((cell) => (cell === null ? '' : `"${cell.replaceAll('"', '""')}"`))
  return `1,${cells.join(',')}\n`
}

/** A row without the texts that mean no value. */
function withoutEmpties(row: TableRow, empties: readonly string[]): TableRow {
  if (empties.length === 0) return row
  const isEmpty = (cell: string | null) => cell !== null && empties.includes(cell.trim())
  return { ...row, cells: row.cells.map((cell) => (isEmpty(cell) ? null : cell)) }
}

/** The rows but so many of the last ones; empty lines do not count. */
async function* withoutLast(batches: AsyncIterable<readonly TableRow[]>, count: number) {
  let held: readonly TableRow[] = []
  for await (const batch of batches) {
    const all = [...held, ...batch]
    let [at, filled] = [all.length, 0]
    while (at > 0 && filled < count) filled += Number(isFilled(all[--at] ?? { line: 0, cells: [] }))
    yield all.slice(0, at)
    held = all.slice(at)
  }
}

/**
 * Writes the texts of all rows into a file, and lets a profile of each column see them.
 * @throws TableError for bad lines, or if there is no row
 */
async function stageRows(
  order: TableOrder,
  names: readonly string[],
  stated: ReadonlyMap<string, StatedType>,
  batches: AsyncIterable<readonly TableRow[]>,
  report: (rowsDone: number) => void,
) {
  const path = join(order.draft, 'rows.csv')
  const bad: TableRow[] = []
  const profiles: ColumnProfile[] = []
  let [rows, badCount, emptyLines, recordBytesMax, lastLine] = [0, 0, 0, 0, 0]
  let isBelowGap = false
  const watch = watchRows(order)
  const isCsv = order.format === 'CSV'
  const problemOf = ({ cells, line, problem, isText }: TableRow): string | undefined => {
    if (problem !== undefined) return problem
    if (cells.length > names.length || (isCsv && cells.length < names.length)) {
      return `${cells.length} field${cells.length === 1 ? '' : 's'} instead of ${names.length}`
    }
    const misfits = cells.map((cell, at) =>
      cell === null ? null : profiles[at]?.add(cell, line, isText?.[at]),
    )
    return misfits.filter(Boolean).join('; ') || undefined
  }
  const recordOf = (read: TableRow): string => {
    const isEmpty = isCsv && names.length > 1 && read.problem === undefined && !isFilled(read)
    const row = withoutEmpties(read, order.empties)
    const problem = isEmpty ? undefined : problemOf(row)
    emptyLines += Number(isEmpty)
    isBelowGap ||= isEmpty || (order.format === 'Excel' && row.line > lastLine + 1)
    lastLine = row.line
    badCount += Number(problem !== undefined)
    if (problem !== undefined && bad.length < badLinesMax) bad.push({ ...row, problem })
    if (isEmpty || problem !== undefined) return ''
    rows += 1
    watch.see(row, isBelowGap)
    isBelowGap = false
    const record = textOfRow(row)
    const isLong = record.length * 3 > recordBytesMax
    if (isLong) recordBytesMax = Math.max(recordBytesMax, Buffer.byteLength(record))
    return record
  }
  await using file = await open(path, 'w')
  for await (const batch of batches) {
    if (names.length > columnsMax) {
      throw new TableError(`error: ${order.file} has more than ${columnsMax} columns`)
    }
    for (const name of names.slice(profiles.length)) {
      const isFirst = profiles.length === 0
      profiles.push(new ColumnProfile(name, stated.get(name) ?? null, isFirst, lineWord(order)))
    }
    await file.appendFile(batch.map(recordOf).join(''))
    report(rows)
  }
  if (badCount > 0) throw badLines(order, bad, badCount)
  if (rows > 0 && names.length > 0) {
    return { path, rows, emptyLines, recordBytesMax, lastLine, watch, profiles }
  }
  throw new TableError(`error: ${order.file} has no row${isCsv ? ' below its header' : ''}`)
}
