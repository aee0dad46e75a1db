import { badRequest } from '../errors.js'
import { keepingDigits, writtenJson } from '../query/exact-json.js'
import type { WrittenJson } from '../query/exact-json.js'
import { textsOf } from '../query/row-texts.js'
import type { Page, Room } from '../service/page.js'

/** Letters of an answer at most, as serialised (contract 2). */
const lettersMax = 30_000
/** What stands beside the values: counts, cursor, version, quota, the longest hint, all keys. */
const restLetters = 600

/** The answer of `query`: columns by name, each a list with one value for every row. */
export interface QueryAnswer {
  /** In the order asked for, which objects lose for digit-only names. */
  readonly columns: readonly string[]
  readonly data: Readonly<Record<string, readonly unknown[]>>
  readonly row_count: number
  readonly next_cursor: string | null
  /** Rows were held back to keep the answer short. */
  readonly truncated: boolean
  readonly version: string
  /** Null where nothing is counted. */
  readonly quota: { readonly rows_remaining: number; readonly scope: string } | null
  readonly hint?: string
  /** The hint tells which rows the filters leave, and cost one row of the quota. */
  readonly explained?: true
}

/** The room that an answer has for rows. */
export const answerRoom: Room = { rowsMax, rowsThatFit }

/** A value takes a letter and a comma at least; the row too many tells that the page was cut. */
function rowsMax(columns: number): number {
  return Math.floor(lettersMax / (2 * columns)) + 1
}

/**
 * How many of the rows, from the first on, an answer can hold. A page of none fits always.
 * @throws bad_request when not even the first row fits
 */
function rowsThatFit(rows: readonly Buffer[], columns: readonly string[]): number {
  let letters = JSON.stringify(columns).length * 2 + columns.length * 4 + restLetters
  const fitting = rows.findIndex((text) => {
    for (const cell of cellTexts(text)) letters += lettersOf(cell) + 1
    return letters > lettersMax
  })
  if (fitting === 0) {
    throw badRequest(
      `Not even one row of these ${columns.length} columns fits in an answer of ${lettersMax} ` +
        'characters: select fewer columns.',
    )
  }
  return fitting === -1 ? rows.length : fitting
}

/** A value in the text of an answer, or in its structured content where that is longer. */
function lettersOf(cell: string): number {
  const isSame = cell.startsWith('"') || !/[.eE[{]/.test(cell)
  return isSame ? cell.length : Math.max(cell.length, JSON.stringify(JSON.parse(cell)).length)
}

/**
 * A page as an agent reads it, for `exactJsonText`; a number that JSON readers round is a string of
 * its digits.
 */
export function queryAnswer(page: Page): QueryAnswer {
  const { quota } = page
  const hint = hintOf(page)
  return {
    columns: page.columns,
    data: columnValues(page.columns, page.rows.map(cellTexts)),
    row_count: page.rows.length,
    next_cursor: page.nextCursor,
    truncated: page.cut === 'size',
    version: page.version.id,
    quota: quota ? { rows_remaining: quota.remaining, scope: quota.scope } : null,
    ...(hint !== null && { hint }),
    ...(page.explanation?.isPaid && { explained: true }),
  }
}

/** Rows, each the JSON texts of its cells, turned into columns. */
export function columnValues(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): Readonly<Record<string, readonly WrittenJson[]>> {
  return Object.fromEntries(
    columns.map((name, index) => [name, rows.map((cells) => writtenJson(cells[index] ?? 'null'))]),
  )
}

/** The cells of a row in the order of its columns. */
function cellTexts(row: Buffer): readonly string[] {
  return textsOf(keepingDigits(String(row))).cells
}

function hintOf({ cut, rows, explanation }: Page): string | null {
  switch (cut) {
    case 'size':
      return (
        `Only ${rows.length} rows fit in ${lettersMax} characters: go on with next_cursor, or ` +
        'select fewer columns.'
      )
    case 'quota':
      return "The page was cut to the rows that are left of this month's quota."
    case null:
      return explanation?.text ?? null
  }
}
