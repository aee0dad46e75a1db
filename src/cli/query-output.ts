import { open, rename } from 'node:fs/promises'
import { csvCell } from '../catalog/csv-cell.js'
import type { CliParts } from './parts.js'
import { cellsOf, csvLine } from './row-cells.js'

/** Where rows go, as texts. */
export interface Sink {
  readonly write: (text: string) => Promise<void>
  /** All of it is there. */
  readonly finish: () => Promise<void>
  /** Ends it unfinished; says what is left behind, null where nothing is. */
  readonly abandon: () => Promise<string | null>
}

/** The rows of an answer in a format that needs none of them twice. */
interface Writing {
  readonly start: string
  readonly rows: (rows: readonly string[]) => string
  readonly end: string
}

/** How rows are written, given their columns. */
export function writingOf(format: 'csv' | 'ndjson' | 'json', columns: readonly string[]): Writing {
  const lines = (rows: readonly string[], end: string) => rows.map((row) => row + end).join('')
  switch (format) {
    case 'csv':
      return {
        start: `${columns.map(csvCell).join()}\r\n`,
        rows: (rows) =>
          lines(
            rows.map((row) => csvLine(cellsOf(row))),
            '\r\n',
          ),
        end: '',
      }
    case 'ndjson':
      return { start: '', rows: (rows) => lines(rows, '\n'), end: '' }
    case 'json': {
      let between = '\n'
      const rows = (texts: readonly string[]) => {
        if (texts.length === 0) return ''
        const text = between + texts.join(',\n')
        between = ',\n'
        return text
      }
      return { start: '[', rows, end: '\n]\n' }
    }
  }
}

/** The command's own output. */
export function outputSink({ stdout }: CliParts): Sink {
  return {
    write: async (text) => {
      stdout.write(text)
    },
    finish: async () => {},
    abandon: async () => null,
  }
}

/** A file that gets its name when it is whole; until then it is `FILE.part`. */
export async function fileSink(path: string): Promise<Sink> {
  const part = `${path}.part`
  const file = await open(part, 'w')
  return {
    write: (text) => file.appendFile(text),
    finish: async () => {
      await file.sync()
      await file.close()
      await rename(part, path)
    },
    abandon: async () => {
      await file.close()
      return part
    },
  }
}
