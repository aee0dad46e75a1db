import { quoted } from '../../text.js'

/** The formats of tables that can be written as Parquet. */
export type TableFormat = 'CSV' | 'Excel' | 'NDJSON'

/** A file to read, as the owner describes it. All of it can be sent to another process. */
export interface TableOrder {
  readonly path: string
  /** Its name in messages. */
  readonly file: string
  readonly format: TableFormat
  /** A label of the Encoding Standard; null = recognised, as all that follows. */
  readonly encoding: string | null
  /** One character. */
  readonly separator: string | null
  readonly sheet: string | null
  /** Whether the first row has the names of the columns. */
  readonly hasHeader: boolean | null
  /** Lines of a text, or rows of a sheet, before the table. */
  readonly skipLines: number | null
  /** `column=TYPE` texts. */
  readonly types: readonly string[]
  /** An empty folder for texts and Parquet. */
  readonly draft: string
  /** For the engine; null = the default. */
  readonly memoryLimitBytes: number | null
}

/** A row of texts, one for each column; null = empty. */
export interface TableRow {
  /** The line of the file, or the row of the sheet, counted from 1. */
  readonly line: number
  readonly cells: readonly (string | null)[]
}

/** A file that is read once, as rows of texts. */
export interface TableSource {
  /** Null for a format that has only one. */
  readonly encoding: string | null
  readonly separator: string | null
  readonly sheet: string | null
  /** Characters that no value can have. */
  readonly wrong: RegExp
  /** The names of the columns where values have them. They, and what follows, grow while read. */
  readonly names: readonly string[] | null
  /** Columns in which the format marks a value as text, with the last line of such a value. */
  readonly texts: ReadonlyMap<number, number>
  /** What the owner should know, and what has to be confirmed. */
  readonly notes: string[]
  readonly doubts: string[]
  /** All rows in order, some at a time; a bad line is reported to `BadLines` and left out. */
  readonly rows: AsyncGenerator<readonly TableRow[]>
}

/** A table whose rows were all read: their texts are in one file. */
export interface TableTexts {
  /**
   * A CSV in UTF-8 without a header, every text in quotes, lines ended by LF: the line of the row,
   * then its cells; those that are missing at the end are empty.
   */
  readonly path: string
  readonly rows: number
  /** Bytes of the longest record in the file. */
  readonly recordBytesMax: number
  readonly names: readonly string[]
  /** Columns in which the format marks a value as text. */
  readonly texts: ReadonlySet<number>
  /** The line of the first row if it has words only, as names or units; else null. */
  readonly wordsLine: number | null
}

/** Why a file can't be written as Parquet, for its owner; nothing was written. */
export class TableError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'TableError'
    this.problems = problems
  }
}

/** The most characters of a row: a quote or a line that never ends must not take all memory. */
export const recordLettersMax = 16_000_000

const shownMax = 20

/** Counts bad lines and keeps the first of them. */
export class BadLines {
  readonly #order: Pick<TableOrder, 'file' | 'format' | 'skipLines'>
  #first: { readonly line: number; readonly problem: string }[] = []
  #count = 0

  constructor(order: Pick<TableOrder, 'file' | 'format' | 'skipLines'>) {
    this.#order = order
  }

  get count(): number {
    return this.#count
  }

  add(line: number, problem: string, count = 1): void {
    if (line <= (this.#order.skipLines ?? 0)) return
    this.#count += count
    this.#first.push({ line, problem })
    if (this.#first.length > 100 * shownMax) this.#first = this.#earliest()
  }

  /** @throws TableError with the first bad lines and the number of all */
  requireNone(): void {
    if (this.#count === 0) return
    const word = this.#order.format === 'Excel' ? 'row' : 'line'
    const first = this.#earliest()
    const more = this.#count - first.length
    throw new TableError([
      `error: ${this.#order.file} has ${this.#count} bad ${word}${this.#count === 1 ? '' : 's'}, ` +
        'so nothing was written:',
      ...first.map(({ line, problem }) => `  ${word} ${line}: ${problem}`),
      ...(more > 0 ? [`  and ${more} more`] : []),
    ])
  }

  #earliest() {
    return [...this.#first].sort((a, b) => a.line - b.line).slice(0, shownMax)
  }
}

/** The beginning of a text on one line, for messages. */
export function shownText(text: string): string {
  return quoted(text.replace(/\s+/g, ' ').trim().slice(0, 60))
}
