import { CsvRecords } from './csv-records.js'
import { beginningOf, fileText, isWholly, requireEncoding } from './file-text.js'
import { recognizeEncoding } from './recognize-encoding.js'
import { BadLines } from './table.js'
import type { TableOrder, TableRow, TableSource } from './table.js'

/** Enough lines to recognise the separator. */
const beginningLetters = 256 * 1024
const separators = [',', ';', '\t', '|'] as const

/**
 * Opens a CSV or TSV file, and recognises its encoding and separator. A first line `sep=;`, as
 * Excel writes it, names the separator.
 * @throws TableError; bad_request for an unknown encoding
 */
export async function openCsv(order: TableOrder, bad: BadLines): Promise<TableSource> {
  const text = await openText(order)
  const beginning = await beginningOf(order.path, text.encoding, beginningLetters)
  const [sepLine, named = null] = /^"?sep=([^"\r\n])"?[\r\n]/i.exec(beginning) ?? []
  const skipped = Math.max(order.skipLines ?? 0, sepLine === undefined ? 0 : 1)
  const after = (rows: readonly TableRow[]) => rows.filter(({ line }) => line > skipped)
  const separator =
    order.separator ??
    named ??
    recognizeSeparator((each) => {
      const isEnd = beginning.length < beginningLetters
      return after(new CsvRecords(each, new BadLines(order)).read(beginning, isEnd))
    })
  const records = new CsvRecords(separator, bad)
  async function* rows() {
    for await (const part of fileText(order.path, text.encoding))
      yield after(records.read(part, false))
    yield after(records.read('', true))
  }
  return {
    ...text,
    separator,
    sheet: null,
    names: null,
    texts: new Map(),
    notes: [],
    doubts: [],
    rows: rows(),
  }
}

/**
 * What the reader of a text has to know: its encoding, and the characters that can't be of the file.
 * @throws TableError; bad_request for an unknown encoding
 */
export async function openText({ path, file, encoding: stated }: TableOrder) {
  const encoding = stated === null ? await recognizeEncoding(path, file) : requireEncoding(stated)
  return { encoding, wrong: (await isWholly(path, encoding)) ? /[\0\p{Cs}]/u : /[\0\p{Cs}\ufffd]/u }
}

/**
 * The separator that splits the most lines into as many fields as the first, or, below a title, as
 * most of the others. A comma if none gives two fields: the file has one column.
 */
function recognizeSeparator(rowsWith: (separator: string) => readonly TableRow[]): string {
  let best = { separator: ',', share: 0, fields: 1 }
  for (const separator of separators) {
    const counts = rowsWith(separator)
      .filter(({ cells }) => cells.length > 1 || cells[0] !== null)
      .map(({ cells }) => cells.length)
    const first = counts.findIndex((count) => count > 1)
    if (first === -1) continue
    const below = counts.slice(first)
    const fields =
      first === 0 ? (counts[0] ?? 0) : (below.sort((a, b) => a - b)[below.length >> 1] ?? 0)
    const like = below.filter((count) => count === fields).length
    if (fields < 2 || (first > 0 && (like < 2 || like * 2 <= below.length))) continue
    const share = like / counts.length
    if (share > best.share || (share === best.share && fields > best.fields)) {
      best = { separator, share, fields }
    }
  }
  return best.separator
}
