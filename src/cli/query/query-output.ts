import { open, rename, rm, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { badRequest } from '../../errors.js'
import { textsOf } from '../../query/row-texts.js'
import { csvCell } from '../../text.js'
import type { CliParts } from '../parts.js'
import type { ServedDataset } from './query-client.js'
import { csvLine, titlesOf } from './row-cells.js'

/** Where rows go, as texts. */
export interface Sink {
  /** Resolves once more can be taken. */
  readonly write: (text: string) => Promise<void>
  /** All of it is there. */
  readonly finish: () => Promise<void>
  /** Ends it unfinished; says what is left behind, null where nothing is. */
  readonly abandon: () => Promise<string | null>
}

/** The rows of an answer in a format that needs none of them twice. */
interface Writing {
  readonly rows: (rows: readonly string[]) => string
  readonly end: () => string
}

/**
 * How rows are written. Their columns are those that the rows name: a cursor of an earlier version
 * brings that version's. `names` are for an answer without rows.
 */
export function writingOf(
  format: 'csv' | 'ndjson' | 'json',
  names: readonly string[],
  { columns }: ServedDataset,
): Writing {
  switch (format) {
    case 'csv':
      return csvWriting(names, new Map(columns.map(({ name, type }) => [name, type === 'json'])))
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

function csvWriting(names: readonly string[], isJson: ReadonlyMap<string, boolean>): Writing {
  let columns: readonly string[] | null = null
  let inJson: readonly boolean[] = []
  const head = (titles: readonly string[]) => `${titles.map(csvCell).join()}\r\n`
  const line = (row: string) => {
    const texts = textsOf(row)
    const isFirst = columns === null
    columns ??= texts.names
    requireSame(columns, texts.names)
    if (!isFirst) return `${csvLine(texts.cells, inJson)}\r\n`
    const titles = titlesOf(texts)
    inJson = titles.map((name) => isJson.get(name) ?? false)
    return `${head(titles)}${csvLine(texts.cells, inJson)}\r\n`
  }
  return {
    rows: (rows) => rows.map(line).join(''),
    end: () => (columns === null ? head(names) : ''),
  }
}

/** @throws Error where a row has other columns than those before it */
export function requireSame(columns: readonly string[], names: readonly string[]): void {
  if (names.length === columns.length && names.every((name, at) => name === columns[at])) return
  throw new Error('The columns changed midway. Name them with --select.')
}

/** The command's own output, as quickly as it is read. */
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
 * A file that gets its name when it is whole; until then it is `FILE.part`.
 * @throws bad_request where it can't be made, or where rows of an earlier run lie in its place
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
        // What a full disk has taken of a page is not among the rows before the cursor.
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
    throw badRequest(`--output: ${part} holds rows that came before. Move it away, or delete it.`)
  }
}
