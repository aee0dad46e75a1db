import { open, rename, rm, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { badRequest } from '../../errors.js'
import { textsOf } from '../../row-texts.js'
import type { RowTexts } from '../../row-texts.js'
import { csvCell } from '../../text.js'
import { datasetCsv } from '../csv.js'
import type { CliParts } from '../parts.js'
import type { ServedDataset } from './query-client.js'

/** The columns of a dataset; null for the columns of groups, which the rows alone show. */
export type ServedColumns = ServedDataset['columns'] | null

/** Where rows are written, in any format. */
export interface Sink {
  /** Resolves when the sink accepts more. */
  readonly write: (text: string) => Promise<void>
  /** Completes the output after the last row. */
  readonly finish: () => Promise<void>
  /** Ends the output before the last row; resolves to the file that remains, or to null. */
  readonly abandon: () => Promise<string | null>
}

/** Writes the rows of an answer one after another. */
export interface RowFormat {
  readonly rows: (rows: readonly string[]) => string
  readonly end: () => string
}

/**
 * Rows in a format. Their columns are those that the rows name, because a cursor of an earlier
 * version returns the columns of that version. `names` is the header of an answer without rows.
 */
export function rowFormat(
  format: 'csv' | 'ndjson' | 'json',
  names: readonly string[],
  columns: ServedColumns,
): RowFormat {
  switch (format) {
    case 'csv':
      return csvFormat(names, new Map(columns?.map(({ name, type }) => [name, type === 'json'])))
    case 'ndjson':
      return { rows: (rows) => rows.map((row) => `${row}\n`).join(''), end: () => '' }
    case 'json': {
      let between = '[\n'
      const rows = (texts: readonly string[]) => {
        if (texts.length === 0) return ''
        const text = between + texts.join(',\n')
        between = ',\n'
        return text
      }
      return { rows, end: () => (between === '[\n' ? '[\n]\n' : '\n]\n') }
    }
  }
}

function csvFormat(names: readonly string[], isJson: ReadonlyMap<string, boolean>): RowFormat {
  let columns: readonly string[] | null = null
  let jsonColumns: readonly boolean[] = []
  const head = (titles: readonly string[]) => `${titles.map(csvCell).join()}\r\n`
  const line = (row: string) => {
    const texts = textsOf(row)
    const titles = columns === null ? titlesOf(texts) : null
    columns ??= texts.names
    requireSameColumns(columns, texts.names)
    if (titles) jsonColumns = titles.map((name) => isJson.get(name) ?? false)
    const cells = texts.cells.map((cell, at) =>
      jsonColumns[at] && cell !== 'null' ? cell : cellText(cell),
    )
    return `${titles ? head(titles) : ''}${datasetCsv(cells, jsonColumns)}\r\n`
  }
  return {
    rows: (rows) => rows.map(line).join(''),
    end: () => (columns === null ? head(names) : ''),
  }
}

/** The column names of a row. */
export function titlesOf({ names }: RowTexts): readonly string[] {
  return names.map((name) => String(JSON.parse(name)))
}

/** The text of a JSON value, a string without its quotes; null for null. */
export function cellText(json: string): string | null {
  if (json === 'null') return null
  return json.startsWith('"') ? String(JSON.parse(json)) : json
}

/** @throws Error for a row whose columns differ from those of the rows before it */
export function requireSameColumns(columns: readonly string[], names: readonly string[]): void {
  if (names.length === columns.length && names.every((name, at) => name === columns[at])) return
  throw new Error('The columns changed during the query. Name them with --select.')
}

/** Standard output, as fast as its reader reads. */
export function outputSink({ stdout }: CliParts): Sink {
  return {
    write: (text) =>
      new Promise((resolve) => {
        stdout.write(text, () => resolve())
      }),
    finish: async () => {},
    abandon: async () => null,
  }
}

/**
 * A file that is called `FILE.part` until all rows are written.
 * @throws bad_request when the file can't be created, or holds rows of an earlier query
 */
export async function fileSink(path: string): Promise<Sink> {
  const part = `${path}.part`
  const file = await openPart(path, part)
  let [size, isOpen] = [0, true]
  const close = async () => {
    isOpen = false
    await file.close()
  }
  return {
    write: async (text) => {
      await file.appendFile(text)
      size += Buffer.byteLength(text)
    },
    finish: async () => {
      await file.sync()
      await close()
      await rename(part, path)
    },
    abandon: async () => {
      if (isOpen) {
        // A full disk may have taken a part of a page; the cursor is from before that page.
        await file.truncate(size)
        await close()
      }
      if (size > 0) return part
      await rm(part)
      return null
    },
  }
}

async function openPart(path: string, part: string): Promise<FileHandle> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (isFolder) throw badRequest(`--output: ${path} is a folder.`)
  try {
    return await open(part, 'wx')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw badRequest(`--output: ${message}`)
    throw badRequest(`--output: ${part} holds rows of an earlier query. Move or delete it.`)
  }
}
