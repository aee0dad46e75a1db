import { badRequest } from '../errors.js'
import { keepingDigits, writtenJson } from '../query/exact-json.js'
import type { WrittenJson } from '../query/exact-json.js'
import { textsOf } from '../row-texts.js'
import type { ColumnHead, GroupsAnswer, Page, Room } from '../service/page.js'

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

/** How many rows an answer of `query` or `top` can hold. */
export const answerRoom = roomFor('row', 'Select fewer columns.', () => 0)

/** How many groups an answer of `aggregate` can hold, its units included. */
export const groupsRoom = roomFor('group', 'Ask for fewer measures.', ({ name, unit }) =>
  unit === null ? 0 : JSON.stringify({ [name]: unit }).length,
)

/** `headLetters` is what the answer says of a column beside its name. */
function roomFor(what: string, advice: string, headLetters: (column: ColumnHead) => number): Room {
  return {
    rowsMax: (columns) => Math.floor(lettersMax / (2 * columns)) + 1,
    rowsThatFit: (rows, columns) => {
      let letters = restLetters
      for (const column of columns) {
        letters += (JSON.stringify(column.name).length + 1) * 2 + 4 + headLetters(column)
      }
      const fitting = rows.findIndex((text) => {
        for (const cell of cellTexts(text)) letters += lettersOf(cell) + 1
        return letters > lettersMax
      })
      if (fitting !== 0) return fitting === -1 ? rows.length : fitting
      throw badRequest(
        `One ${what} of these ${columns.length} columns does not fit in an answer of ` +
          `${lettersMax} characters. ${advice}`,
      )
    },
  }
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
  const hint = hintOf(page)
  return {
    ...cellsOf(
      page.columns.map(({ name }) => name),
      page.rows,
    ),
    row_count: page.rows.length,
    next_cursor: page.nextCursor,
    truncated: page.cut === 'size',
    ...chargeOf(page),
    ...(hint !== null && { hint }),
    ...(page.explanation?.isPaid && { explained: true }),
  }
}

/** The first rows by one column, which have no cursor. */
export function topAnswer(page: Page): Omit<QueryAnswer, 'next_cursor'> {
  const { next_cursor: _, ...answer } = queryAnswer(page)
  return answer
}

/** Groups of rows for an agent, for `exactJsonText`. */
export function groupsAnswer(answer: GroupsAnswer): object {
  const { columns, rows, groups, truncated, rowsMet } = answer
  const hint = groupsHint(answer)
  const names = columns.map(({ name }) => name)
  return {
    ...cellsOf(names, rows),
    units: Object.fromEntries(
      columns.flatMap(({ name, unit }) => (unit === null ? [] : [[name, unit]])),
    ),
    groups,
    rows: rowsMet,
    truncated,
    ...chargeOf(answer),
    ...(hint !== null && { hint }),
  }
}

function cellsOf(columns: readonly string[], rows: readonly Buffer[]) {
  return { columns, data: columnValues(columns, rows.map(cellTexts)) }
}

function chargeOf({ version, quota }: Page | GroupsAnswer) {
  return {
    version: version.id,
    quota: quota ? { rows_remaining: quota.remaining, scope: quota.scope } : null,
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

function groupsHint({ sent, groups, rowsMet, scope, truncated }: GroupsAnswer): string | null {
  if (groups === 0 || rowsMet === 0) {
    const empty = groups === 0 ? 'No row meets the filters, or no group meets having.' : ''
    return withScope(empty, scope)
  }
  if (!truncated) return null
  return (
    `These are the first ${sent} of ${groups} groups. For others use filters, having, another ` +
    `order or a higher limit; an answer has at most ${lettersMax} characters.`
  )
}

function hintOf(page: Page): string | null {
  const { cut, rows, nextCursor } = page
  switch (cut) {
    case 'size':
      return (
        `Only ${rows.length} rows fit in ${lettersMax} characters: ` +
        `${nextCursor === null ? '' : 'continue with next_cursor, or '}select fewer columns.`
      )
    case 'quota':
      return "The page was cut to the rows left of this month's quota."
    case null:
      return emptyHint(page)
  }
}

/** Also what the caller can't see: an empty answer does not show that no such row exists. */
function emptyHint({ rows, explanation, scope }: Page): string | null {
  return withScope(explanation?.text ?? '', rows.length === 0 ? scope : null)
}

/** The text and what the token sees; null when there is nothing to say. */
function withScope(text: string, scope: string | null): string | null {
  const seen = scope === null ? '' : `This token sees only a part of the dataset: ${scope}.`
  return [text, seen].filter((each) => each !== '').join(' ') || null
}
