import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { TypedColumn, TypedColumns } from './column-types.js'
import { openCsv } from './csv-table.js'
import { openExcel } from './excel-table.js'
import { findHeader, requireNames } from './find-header.js'
import { openNdjson } from './ndjson-table.js'
import { BadLines, TableError, shownText } from './table.js'
import type { TableOrder, TableRow, TableSource, TableTexts } from './table.js'

/** How a file was understood, once it was written as Parquet. */
export interface ImportedTable extends Pick<TableSource, 'encoding' | 'separator' | 'sheet'> {
  readonly rows: number
  /** The line of the names of the columns; null without one. */
  readonly headerLine: number | null
  /** With the first different values. */
  readonly columns: readonly (TypedColumn & { readonly samples: readonly string[] })[]
  /** What the owner should know. */
  readonly notes: readonly string[]
  /** What is not certain, with the way on. */
  readonly doubts: readonly string[]
}

/**
 * Decides the types of the columns and writes the texts as one new Parquet file in their folder.
 * The engine implements this.
 * @throws TableError for values that a stated type does not have; bad_request
 */
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
  const bad = new BadLines(order)
  const source = await openers[order.format](order, bad)
  const batches = goodRows(source, bad)
  const head = await headOf(batches)
  if (head.length === 0) bad.requireNone()
  const header = source.names === null ? findHeader(head.filter(isFilled), order) : null
  const names = source.names ?? header?.names ?? []
  const path = join(order.draft, 'rows.csv')
  const staged = new StagedRows(order, names, bad)
  const file = await open(path, 'w')
  try {
    const isData = ({ line }: TableRow) => line >= (header?.dataLine ?? 0)
    await file.write(staged.textOf(head.filter(isData)))
    for await (const batch of batches) {
      await file.write(staged.textOf(batch))
      report(staged.rows)
    }
  } finally {
    await file.close()
  }
  bad.requireNone()
  if (header === null) requireNames(names, order.file)
  const { rows, recordBytesMax, emptyLines, samples, wordsLine } = staged
  if (rows === 0) throw new TableError([`error: ${order.file} has a header and no row`])
  const texts = new Set(
    [...source.texts].filter(([, line]) => line >= (header?.dataLine ?? 0)).map(([place]) => place),
  )
  const table = { path, rows, recordBytesMax, names, texts, wordsLine }
  const { columns, doubts } = await write(table, join(order.draft, draftName), order)
  const { encoding, separator, sheet, notes } = source
  const left = emptyLines === 0 ? [] : [`empty lines, left out: ${emptyLines}`]
  return {
    ...{ encoding, separator, sheet, rows, headerLine: header?.line ?? null },
    columns: columns.map((column, index) => ({ ...column, samples: [...(samples[index] ?? [])] })),
    notes: [...notes, ...left],
    doubts: [...(header?.doubts ?? []), ...source.doubts, ...doubts],
  }
}

/** The rows without characters that they can't have. */
async function* goodRows({ rows, wrong, encoding }: TableSource, bad: BadLines) {
  for await (const batch of rows) {
    yield batch.filter(({ line, cells }) => {
      const [found] = wrong.exec(cells.join('')) ?? []
      if (found === undefined) return true
      const what = found === '\0' ? 'a NUL character' : `bytes that are not ${encoding}`
      bad.add(line, `${what}: ${shownText(cells.join(' '))}`)
      return false
    })
  }
}

async function headOf(batches: AsyncGenerator<readonly TableRow[]>): Promise<readonly TableRow[]> {
  const head: TableRow[] = []
  while (head.filter(isFilled).length < headRows) {
    const { done, value } = await batches.next()
    if (done) break
    for (const row of value) head.push(row)
  }
  return head
}

/** False for a line without any character. */
function isFilled({ cells }: TableRow): boolean {
  return cells.length > 1 || cells[0] !== null
}

/** Turns rows into records, and learns what the owner is shown. */
class StagedRows {
  readonly #order: TableOrder
  readonly #names: readonly string[]
  readonly #bad: BadLines
  readonly samples: Set<string>[] = []
  rows = 0
  emptyLines = 0
  recordBytesMax = 0
  wordsLine: number | null = null

  constructor(order: TableOrder, names: readonly string[], bad: BadLines) {
    this.#order = order
    this.#names = names
    this.#bad = bad
  }

  /** The text of good rows; a bad one is reported. */
  textOf(batch: readonly TableRow[]): string {
    if (this.#names.length > columnsMax) {
      throw new TableError([`error: ${this.#order.file} has more than ${columnsMax} columns`])
    }
    return batch.map((row) => this.#record(row)).join('')
  }

  #record(row: TableRow): string {
    const { line, cells } = row
    const count = this.#names.length
    if (this.#order.format === 'CSV' && count > 1 && !isFilled(row)) {
      this.emptyLines += 1
      return ''
    }
    if (cells.length > count || (this.#order.format === 'CSV' && cells.length < count)) {
      const fields = `${cells.length} field${cells.length === 1 ? '' : 's'}`
      this.#bad.add(line, `${fields} instead of ${count}`)
      return ''
    }
    this.rows += 1
    const isWords = cells.every((cell) => cell === null || /^[^\d]*\p{L}[^\d]*$/u.test(cell))
    if (this.rows === 1 && isWords) this.wordsLine = line
    let record = String(line)
    for (const [index, cell] of cells.entries()) {
      record += cell === null ? ',' : `,"${cell.replaceAll('"', '""')}"`
      if (cell !== null) this.#learn(index, cell)
    }
    const bytesMost = record.length * 3
    if (bytesMost > this.recordBytesMax) {
      this.recordBytesMax = Math.max(this.recordBytesMax, Buffer.byteLength(record))
    }
    return `${record}\n`
  }

  #learn(index: number, cell: string): void {
    const samples = (this.samples[index] ??= new Set())
    if (samples.size >= samplesMax) return
    const text = cell.slice(0, sampleLettersMax + 1).replace(/\s+/g, ' ')
    samples.add(cell.length > sampleLettersMax ? `${text.slice(0, sampleLettersMax)}…` : text)
  }
}
