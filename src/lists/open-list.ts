import { badRequest } from '../errors.js'
import { quoted } from '../text.js'
import { openCsv, openText } from '../versions/tables/csv-table.js'
import { csvSplitter } from '../versions/tables/csv-records.js'
import { openExcel } from '../versions/tables/excel-table.js'
import { tableFileOf } from '../versions/tables/table-file.js'
import { TableError } from '../versions/tables/table.js'
import type { ReadBytes, TableFormat, TableRow, TableSource } from '../versions/tables/table.js'

/** What its owner says of a list; null = recognised. */
export interface ListOrder {
  /** The name of the file, which tells its format. */
  readonly file: string
  readonly encoding: string | null
  readonly separator: string | null
  readonly sheet: string | null
}

/** A list of keys in a file, which is read several times. */
export interface ListFile {
  readonly file: string
  readonly format: TableFormat
  readonly bytes: ReadBytes
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
export async function openList(stated: ListOrder, bytes: ReadBytes): Promise<ListFile> {
  const { file } = stated
  const format = /\.gz$/i.test(file) ? undefined : tableFileOf(file)?.format
  if (format !== 'CSV' && format !== 'Excel') {
    throw badRequest(`${quoted(file)} is no list: name a .csv, .tsv or .xlsx file.`)
  }
  const order = { ...stated, skipLines: 0 }
  if (format === 'Excel') {
    let opened: TableSource | null = await openExcel(order, bytes)
    const { sheet } = opened
    const notes = new Set<string>()
    const rows = async function* () {
      const source = opened ?? (await openExcel(order, bytes))
      opened = null
      yield* source.rows
      for (const note of [...source.notes, ...source.doubts]) notes.add(note)
    }
    return { file, format, bytes, encoding: null, separator: ',', sheet, notes, rows }
  }
  const { encoding, separator, doubts } = await openCsv(order, bytes)
  if (doubts.length > 0) throw new TableError(`error: ${file} can't be read:`, ...doubts)
  const { parts, checked } = await openText({ ...order, encoding }, bytes)
  const rows = async function* () {
    const split = csvSplitter(separator ?? ',')
    for await (const part of parts()) yield checked(split(part, false))
    yield checked(split('', true))
  }
  const own = { encoding, separator: separator ?? ',', sheet: null, notes: new Set<string>(), rows }
  return { file, format, bytes, ...own }
}
