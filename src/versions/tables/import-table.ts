import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { TypedColumn, TypedColumns } from './column-types.js'
import { openCsv } from './csv-table.js'
import { openExcel } from './excel-table.js'
import { findHeader, isFilled, requireNames } from './find-header.js'
import { openNdjson } from './ndjson-table.js'
import { TableError, badLines, badLinesMax } from './table.js'
import type { TableOrder, TableRow, TableSource, TableTexts } from './table.js'

/** How a file was understood, once it was written as Parquet. */
export interface ImportedTable extends Pick<
  TableSource,
  'encoding' | 'separator' | 'sheet' | 'notes' | 'doubts'
> {
  readonly rows: number
  /** The line of the names of the columns; null without one. */
  readonly headerLine: number | null
  /** With the first different values. */
  readonly columns: readonly (TypedColumn & { readonly samples: readonly string[] })[]
}

/** Decides the types of the columns and writes the texts as Parquet; the engine implements it. */
export type WriteTable = (
  texts: TableTexts,
  target: string,
  order: TableOrder,
) => Promise<TypedColumns>

/** Reads a table and writes it as Parquet; `report` gets the rows that are read. */
export type ImportTable = (
  order: TableOrder,
  options: { readonly signal: AbortSignal; readonly report: (rowsDone: number) => void },
) => Promise<ImportedTable>

/** The name of the Parquet file in the folder of the order. */
export const draftName = 'table.parquet'

const headRows = 200
const [samplesMax, sampleLettersMax] = [3, 30] as const
/** More than Excel has. The memory that DuckDB needs grows with them. */
const columnsMax = 20_000
const openers = { CSV: openCsv, Excel: openExcel, NDJSON: openNdjson } as const

/**
 * Reads every row of a file, and writes it as Parquet into the folder of the order.
 * @throws TableError for a file that can't be read exactly; bad_request for options that do not fit
 */
export async function importTable(
  order: TableOrder,
  write: WriteTable,
  report: (rowsDone: number) => void,
): Promise<ImportedTable> {
  const source = await openers[order.format](order)
  const head = await headOf(source.rows)
  const header = source.names === null ? findHeader(head, order) : null
  const names = source.names ?? header?.names ?? []
  const dataLine = header?.dataLine ?? 0
  async function* batches() {
    yield head.filter(({ line }) => line >= dataLine)
    yield* source.rows
  }
  const staged = await stageRows(order, names, batches(), report)
  const { rows, badCount, emptyLines, samples } = staged
  if (badCount > 0) throw badLines(order, staged.bad, badCount)
  if (header === null) requireNames(names, order.file)
  if (rows === 0 || names.length === 0) {
    throw new TableError(`error: ${order.file} has ${header?.line ? 'a header and ' : ''}no row`)
  }
  const marked = [...source.texts].filter(([, line]) => line >= dataLine)
  const texts = new Set(marked.map(([place]) => place))
  const table = { ...staged, names, texts }
  const { columns, doubts } = await write(table, join(order.draft, draftName), order)
  const { encoding, separator, sheet } = source
  const notes = emptyLines === 0 ? [] : [`empty lines, left out: ${emptyLines}`]
  return {
    ...{ encoding, separator, sheet, rows, headerLine: header?.line ?? null },
    columns: columns.map((column, place) => ({ ...column, samples: [...(samples[place] ?? [])] })),
    notes: [...source.notes, ...notes],
    doubts: [...(header?.doubts ?? []), ...source.doubts, ...doubts],
  }
}

async function headOf(rows: TableSource['rows']): Promise<readonly TableRow[]> {
  const head: TableRow[] = []
  for (let isEnd = false; !isEnd && head.length < headRows;) {
    const { done, value } = await rows.next()
    if (done) isEnd = true
    else for (const row of value) head.push(row)
  }
  return head
}

/** Writes the texts of all rows into a file, and learns what the owner is shown. */
async function stageRows(
  order: TableOrder,
  names: readonly string[],
  batches: AsyncIterable<readonly TableRow[]>,
  report: (rowsDone: number) => void,
) {
  const path = join(order.draft, 'rows.csv')
  const [bad, samples]: [TableRow[], Set<string>[]] = [[], []]
  let [rows, badCount, emptyLines, recordBytesMax] = [0, 0, 0, 0]
  let wordsLine: number | null = null
  const recordOf = (row: TableRow): string => {
    const problem = row.problem ?? widthProblem(row, names.length, order)
    if (problem !== null) {
      badCount += 1
      if (bad.length < badLinesMax) bad.push({ ...row, problem })
      return ''
    }
    if (order.format === 'CSV' && names.length > 1 && !isFilled(row)) {
      emptyLines += 1
      return ''
    }
    rows += 1
    if (rows === 1 && row.cells.every(isWords)) wordsLine = row.line
    const cells = row.cells.map((cell) => (cell === null ? '' : `"${cell.replaceAll('"', '""')}"`))
    const record = `${row.line},${cells.join(',')}\n`
    if (record.length * 3 > recordBytesMax) {
      recordBytesMax = Math.max(recordBytesMax, Buffer.byteLength(record))
    }
    for (const [place, cell] of row.cells.entries()) learn((samples[place] ??= new Set()), cell)
    return record
  }
  await using file = await open(path, 'w')
  for await (const batch of batches) {
    if (names.length > columnsMax) {
      throw new TableError(`error: ${order.file} has more than ${columnsMax} columns`)
    }
    await file.write(batch.map(recordOf).join(''))
    report(rows)
  }
  return { path, rows, bad, badCount, emptyLines, recordBytesMax, samples, wordsLine }
}

function widthProblem({ cells }: TableRow, count: number, { format }: TableOrder): string | null {
  const isShort = format === 'CSV' && cells.length < count && isFilled({ cells })
  if (cells.length <= count && !isShort) return null
  return `${cells.length} field${cells.length === 1 ? '' : 's'} instead of ${count}`
}

/** A text, but no number, or empty. */
function isWords(cell: string | null): boolean {
  return cell === null || /^[^\d]*\p{L}[^\d]*$/u.test(cell)
}

function learn(samples: Set<string>, cell: string | null): void {
  if (cell === null || samples.size >= samplesMax) return
  const text = cell.slice(0, sampleLettersMax).replace(/\s+/g, ' ')
  samples.add(cell.length > sampleLettersMax ? `${text}…` : text)
}
