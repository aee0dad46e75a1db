import { badRequest } from '../errors.js'
import { keepingDigits, writtenJson } from '../query/exact-json.js'
import type { WrittenJson } from '../query/exact-json.js'
import { textsOf } from '../query/row-texts.js'
import type { Page, Room } from '../service/page.js'

/** The serialised answer (contract 2). */
const lettersMax = 30_000
/** For counts, cursor, version, quota, the longest hint and the keys. */
const restLetters = 600

/** The answer of `query`: columns by name, each a list of one value a row. */
export interface QueryAnswer {
  /** In the requested order, which objects lose for names made of digits. */
  readonly columns: readonly string[]
  readonly data: Readonly<Record<string, readonly unknown[]>>
  readonly row_count: number
  readonly next_cursor: string | null
  /** Rows were left out to keep the answer short. */
  readonly truncated: boolean
  readonly version: string
  /** Null when no quota applies. */
  readonly quota: { readonly rows_remaining: number; readonly scope: string } | null
  readonly hint?: string
  /** The hint explains an empty answer, and cost one row of the quota. */
  readonly explained?: true
}

/** How many rows an answer can hold. */
export const answerRoom: Room = { rowsMax, rowsThatFit }

/** A value takes at least a letter and a comma; one more row shows that the page was cut. */
function rowsMax(columns: number): number {
  return Math.floor(lettersMax / (2 * columns)) + 1
}

/**
 * How many of the rows, from the first on, an answer can hold.
 * @throws bad_request when the first row does not fit
 */
function rowsThatFit(rows: readonly Buffer[], columns: readonly string[]): number {
  let letters = JSON.stringify(columns).length * 2 + columns.length * 4 + restLetters
  const fitting = rows.findIndex((text) => {
    for (const cell of cellTexts(text)) letters += lettersOf(cell) + 1
    return letters > lettersMax
  })
  if (fitting === 0) {
    throw badRequest(
      `One row of these ${columns.length} columns does not fit in an answer of ${lettersMax} ` +
        'characters. Select fewer columns.',
    )
  }
  return fitting === -1 ? rows.length : fitting
}

/** A value's length in the text of an answer, or in its structured content if that is longer. */
function lettersOf(cell: string): number {
  const isSame = cell.startsWith('"') || !/[.eE[{]/.test(cell)
  return isSame ? cell.length : Math.max(cell.length, JSON.stringify(JSON.parse(cell)).length)
}

/**
 * A page for an agent, for `exactJsonText`. A number that JSON parsers round is a string of its
 * digits.
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

function hintOf(page: Page): string | null {
  const { cut, rows } = page
  switch (cut) {
    case 'size':
      return (
        `Only ${rows.length} rows fit in ${lettersMax} characters: continue with next_cursor, or ` +
        'select fewer columns.'
      )
    case 'quota':
      return "The page was cut to the rows left of this month's quota."
    case null:
      return emptyHint(page)
  }
}

/** Also what the caller can't see: an empty answer does not show that no such row exists. */
function emptyHint({ rows, explanation, scope }: Page): string | null {
  const texts = explanation ? [explanation.text] : []
  if (rows.length === 0 && scope !== null) {
    texts.push(`This token sees only a part of the dataset: ${scope}.`)
  }
  return texts.length === 0 ? null : texts.join(' ')
}
