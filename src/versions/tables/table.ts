import { quoted } from '../../text.js'

/** The formats of tables that can be written as Parquet. */
export type TableFormat = 'CSV' | 'Excel' | 'NDJSON'

/** A file to import, and what its owner says of it; null = recognised. */
export interface TableOrder {
  readonly path: string
  /** Its name in messages. */
  readonly file: string
  readonly format: TableFormat
  readonly encoding: string | null
  readonly separator: string | null
  readonly sheet: string | null
  /** Whether the first row has the names of the columns. */
  readonly hasHeader: boolean | null
  /** Lines of a text, or rows of a sheet, above the table. */
  readonly skipLines: number
  /** Rows with values below the table; null = not said. */
  readonly skipLastRows: number | null
  /** `column=TYPE` texts. */
  readonly types: readonly string[]
  /** Texts that mean no value, such as `NA`. */
  readonly empties: readonly string[]
  /** An empty folder on the disk of the target. */
  readonly draft: string
  /** For the engine; null = the default. */
  readonly memoryLimitBytes: number | null
}

/** Reads a file from its start, some bytes at a time; again at each call. */
export type ReadBytes = () => AsyncIterable<Uint8Array>

/** A row of texts; null = empty. */
export interface TableRow {
  /** The line of the file, or the row of the sheet, counted from 1. */
  readonly line: number
  readonly cells: readonly (string | null)[]
  /** Of CSV: the record as it is written, with its line break. */
  readonly text?: string
  /** Of a sheet and of JSON: which cells are marked as texts. */
  readonly isText?: readonly boolean[]
  /** Of a sheet: the numbers of its days and times. */
  readonly serials?: readonly (string | undefined)[]
  /** Why the row can't be read. */
  readonly problem?: string
}

/** Cells of a sheet that are one: only the first has a value. */
export interface MergedCells {
  /** Such as `A2:A3`. */
  readonly at: string
  readonly firstRow: number
  readonly lastRow: number
}

/** A file that is read once. All but the first three grow while its rows are read. */
export interface TableSource {
  /** Null for a format that has only one. */
  readonly encoding: string | null
  readonly separator: string | null
  readonly sheet: string | null
  /** The names of the columns, where each value has one. */
  readonly names: readonly string[] | null
  /** What the owner should know, and what has to be confirmed. */
  readonly notes: string[]
  readonly doubts: string[]
  /** Of a sheet. */
  readonly merged?: MergedCells[]
  /** All rows in order, some at a time. */
  readonly rows: AsyncGenerator<readonly TableRow[]>
}

/** Why a file can't be written as Parquet, for its owner; nothing was written. */
export class TableError extends Error {
  readonly problems: readonly string[]

  constructor(...problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'TableError'
    this.problems = problems
  }
}

/** The most characters of a row: a quote or a line that never ends must not take all memory. */
export const recordLettersMax = 16_000_000
/** How many bad lines are shown. */
export const badLinesMax = 20

/** What the lines of a file are called. */
export function lineWord({ format }: Pick<TableOrder, 'format'>): string {
  return format === 'Excel' ? 'row' : 'line'
}

/** The error for bad lines, of which the first are given. */
export function badLines(
  order: Pick<TableOrder, 'file' | 'format'>,
  first: readonly Pick<TableRow, 'line' | 'problem'>[],
  count: number,
): TableError {
  const word = lineWord(order)
  const words = `${word}${count === 1 ? '' : 's'}`
  return new TableError(
    `error: ${order.file} has ${count} bad ${words}, so nothing was written:`,
    ...first.slice(0, badLinesMax).map(({ line, problem }) => `  ${word} ${line}: ${problem}`),
    ...(count > badLinesMax ? [`  and ${count - badLinesMax} more`] : []),
  )
}

/** The beginning of a text on one line, for messages on a terminal. */
export function shownText(text: string): string {
  const line = text.slice(0, 100).replace(/[^\S\ufeff]+|[\x80-\x9f]+/g, ' ')
  return quoted(line.replace(/^ | $/g, '')).replace(invisible, codeOf)
}

/** Signs that a terminal does not show, or that turn the direction of what follows. */
const invisible = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

function codeOf(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
}
