import { open } from 'node:fs/promises'
import { badRequest } from '../../errors.js'
import { didYouMean, quoted } from '../../text.js'
import type { StatedType } from './cell-type.js'
import { ColumnProfile } from './column-profile.js'
import type { TypedColumn } from './column-profile.js'
import { BadLines, TableError } from './table.js'
import type { Table, TableRow } from './table.js'

/** A table whose rows were all read: their texts are in one file, and the types are known. */
export interface StagedTable extends Pick<Table, 'format' | 'encoding' | 'separator'> {
  /**
   * A CSV in UTF-8 without a header, every text in quotes, lines ended by LF. Before the cells of a
   * row is one that is always `1`.
   */
  readonly path: string
  readonly rows: number
  /** Bytes of the longest record in the file. */
  readonly recordBytesMax: number
  readonly columns: readonly TypedColumn[]
}

interface StageOptions {
  /** The name of the file in messages. */
  readonly file: string
  /** Where to write the texts. */
  readonly path: string
  readonly stated: ReadonlyMap<string, StatedType>
  readonly signal: AbortSignal
  readonly report: (rowsDone: number) => void
}

/**
 * Reads every row of a table, writes its texts to one file, and decides the type of each column.
 * @throws TableError with the bad lines; bad_request for a type of an unknown column; the signal's
 *   reason
 */
export async function stageTable(table: Table, options: StageOptions): Promise<StagedTable> {
  const { file, path, stated, signal, report } = options
  requireKnown(stated, table.names)
  const profiles = table.names.map((name) => new ColumnProfile(name, stated.get(name) ?? null))
  const bad = new BadLines()
  let [rows, recordBytesMax] = [0, 0]
  const target = await open(path, 'w')
  try {
    for await (const batch of table.rows(bad)) {
      signal.throwIfAborted()
      for (const row of batch) addRow(profiles, row, bad)
      // The bad lines are all listed, but nothing is written any more.
      if (bad.count > 0 || batch.length === 0) continue
      const records = batch.map(recordText)
      for (const record of records) {
        if (record.length * 3 > recordBytesMax) {
          recordBytesMax = Math.max(recordBytesMax, Buffer.byteLength(record))
        }
      }
      await target.write(`${records.join('\n')}\n`)
      rows += batch.length
      report(rows)
    }
  } finally {
    await target.close()
  }
  bad.requireNone(file, table.format === 'Excel' ? 'row' : 'line')
  if (rows === 0) throw new TableError([`error: ${file} has a header and no row`])
  const columns = profiles.map((profile, index) => profile.column(rows, table.texts.has(index)))
  const { format, encoding, separator } = table
  return { format, encoding, separator, path, rows, recordBytesMax, columns }
}

function requireKnown(stated: ReadonlyMap<string, StatedType>, names: readonly string[]): void {
  const unknown = [...stated.keys()].find((name) => !names.includes(name))
  if (unknown === undefined) return
  throw badRequest(
    `--type names no column of the file: ${quoted(unknown)}.${didYouMean(unknown, names)}`,
  )
}

function addRow(
  profiles: readonly ColumnProfile[],
  { line, cells }: TableRow,
  bad: BadLines,
): void {
  for (const [index, profile] of profiles.entries()) {
    const cell = cells[index] ?? null
    if (cell !== null) profile.add(cell, line, bad)
  }
}

function recordText({ cells }: TableRow): string {
  let text = '1'
  for (const cell of cells) {
    if (cell === null) text += ','
    else text += cell.includes('"') ? `,"${cell.replaceAll('"', '""')}"` : `,"${cell}"`
  }
  return text
}
