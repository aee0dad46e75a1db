/** The formats of tables that can be written as Parquet. */
export type TableFormat = 'CSV' | 'Excel' | 'NDJSON'

/** What the owner says of a file; null = recognised. */
export interface TableOptions {
  /** A label of the Encoding Standard: `utf-8`, `windows-1251`. */
  readonly encoding: string | null
  /** One character. */
  readonly separator: string | null
  /** The name of a sheet; null = the first. */
  readonly sheet: string | null
  /** False: the first row of a CSV or a sheet is data; the columns are `column1`, `column2`, … */
  readonly hasHeader: boolean
}

/** A row of texts, one for each column; null = empty. */
export interface TableRow {
  /** The line of the file, or the row of the sheet, counted from 1. */
  readonly line: number
  readonly cells: readonly (string | null)[]
}

/** A file in another format than Parquet, ready to be read once as rows of texts. */
export interface Table {
  readonly format: TableFormat
  /** Null for a format that has only one. */
  readonly encoding: string | null
  readonly separator: string | null
  readonly names: readonly string[]
  /**
   * Indexes of columns in which the format itself marks a value as text, as JSON and Excel do: such
   * a column is not a number, whatever its digits. Complete when all rows are read.
   */
  readonly texts: ReadonlySet<number>
  /** All rows in order, some at a time. A bad line is reported to `bad` and left out. */
  readonly rows: (bad: BadLines) => AsyncIterable<readonly TableRow[]>
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
/** Kept to show those of the first lines: one part of the text is checked in two passes. */
const keptMax = 1000

/** Counts bad lines and keeps the first of them. */
export class BadLines {
  readonly #first: { readonly line: number; readonly problem: string }[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Null without one. */
  get firstLine(): number | null {
    return this.#first[0]?.line ?? null
  }

  add(line: number, problem: string): void {
    this.#count += 1
    if (this.#first.length < keptMax) this.#first.push({ line, problem })
  }

  /** @throws TableError with the first bad lines and the number of all */
  requireNone(file: string, word: 'line' | 'row'): void {
    if (this.#count === 0) return
    const first = [...this.#first].sort((a, b) => a.line - b.line).slice(0, shownMax)
    const lines = first.map(({ line, problem }) => `  ${word} ${line}: ${problem}`)
    const more = this.#count - first.length
    throw new TableError([
      `error: ${file} has ${this.#count} bad ${word}${this.#count === 1 ? '' : 's'}, ` +
        'so nothing was written:',
      ...lines,
      ...(more > 0 ? [`  and ${more} more`] : []),
    ])
  }
}

/**
 * The names of the columns, from the first row.
 * @throws TableError for a name that is missing or used twice; case does not count
 */
export function requireNames(cells: readonly (string | null)[], file: string): readonly string[] {
  const seen = new Map<string, number>()
  const problems: string[] = []
  const names = cells.map((cell) => (cell ?? '').trim())
  for (const [index, name] of names.entries()) {
    const place = index + 1
    const first = seen.get(name.toLowerCase())
    if (name === '') problems.push(`  column ${place} has no name`)
    else if (first === undefined) seen.set(name.toLowerCase(), place)
    else problems.push(`  column ${place} has the name of column ${first}: ${name}`)
  }
  if (problems.length === 0) return names
  throw new TableError([
    `error: the first row of ${file} can't be its header, so nothing was written:`,
    ...problems.slice(0, shownMax),
    'Correct the header, or use --no-header if the file has none.',
  ])
}

/** `column1`, `column2`, …, for a file without a header. */
export function numberedNames(cells: readonly unknown[]): readonly string[] {
  return cells.map((_, index) => `column${index + 1}`)
}
