import { CsvRecords } from './csv-records.js'
import { beginningOf, decodedText, requireEncoding } from './decoded-text.js'
import { recognizeEncoding } from './recognize-encoding.js'
import { recognizeSeparator } from './recognize-separator.js'
import { BadLines, TableError, numberedNames, requireNames } from './table.js'
import type { Table, TableOptions, TableRow } from './table.js'

/** Enough lines to recognise the separator. */
const beginningLetters = 256 * 1024

/**
 * Opens a CSV or TSV file, and recognises its encoding and separator.
 * @throws TableError; bad_request for an unknown encoding
 */
export async function openCsv(path: string, file: string, options: TableOptions): Promise<Table> {
  const encoding =
    options.encoding === null
      ? await recognizeEncoding(path, file)
      : requireEncoding(options.encoding)
  const beginning = await beginningOf(path, encoding, beginningLetters)
  const separator = options.separator ?? recognizeSeparator(beginning)
  const source = { path, encoding, separator }
  const bad = new BadLines()
  const first = await firstRow(source, bad)
  // The lines after the first row are read again.
  if (!first || (bad.firstLine ?? Infinity) < first.line) bad.requireNone(file, 'line')
  if (!first) throw new TableError([`error: ${file} is empty`])
  const { hasHeader } = options
  const names = hasHeader ? requireNames(first.cells, file) : numberedNames(first.cells)
  return {
    format: 'CSV',
    encoding,
    separator,
    names,
    texts: new Set(),
    rows: (badLines) => dataRows(source, names, hasHeader, badLines),
  }
}

interface Source {
  readonly path: string
  readonly encoding: string
  readonly separator: string
}

async function firstRow(source: Source, bad: BadLines): Promise<TableRow | undefined> {
  for await (const rows of allRows(source, bad)) {
    const filled = rows.find((row) => !isBlank(row))
    if (filled) return filled
    if (bad.count > 0) return undefined
  }
  return undefined
}

async function* allRows(source: Source, bad: BadLines): AsyncGenerator<TableRow[]> {
  const records = new CsvRecords(source.separator, bad)
  for await (const { text, isEnd } of decodedText(source.path, source.encoding, bad)) {
    yield records.read(text, isEnd)
  }
}

async function* dataRows(
  source: Source,
  names: readonly string[],
  hasHeader: boolean,
  bad: BadLines,
): AsyncGenerator<TableRow[]> {
  let skipsHeader = hasHeader
  for await (const rows of allRows(source, bad)) {
    const kept: TableRow[] = []
    for (const row of rows) {
      if (skipsHeader) skipsHeader = isBlank(row)
      else if (row.cells.length === names.length) kept.push(row)
      else if (!isBlank(row)) bad.add(row.line, fieldsText(row.cells.length, names.length))
    }
    yield kept
  }
}

/** A line without any character. */
function isBlank({ cells }: TableRow): boolean {
  return cells.length === 1 && cells[0] === null
}

function fieldsText(found: number, expected: number): string {
  return `${found} field${found === 1 ? '' : 's'} instead of ${expected}`
}
