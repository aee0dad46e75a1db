import type { Static } from 'typebox'
import { keepingDigits, writtenJson } from '../query/exact-json.js'
import type { WrittenJson } from '../query/exact-json.js'
import { cellsByName, textOfJson, textsOf } from '../row-texts.js'
import { textOf } from '../service/entity-rows.js'
import { many } from '../text.js'
import type { FoundAnswer } from '../service/find.js'
import type { ColumnHead, Cost, GroupsAnswer, Page, Room } from '../service/page.js'
import type { QueryAnswer as QueryAnswerSchema } from './tool-answers.js'

/** The serialised answer (contract 2). */
export const lettersMax = 30_000
/** For counts, cursor, version, quota, the longest hint and the keys. */
export const restLetters = 600

/** The answer of `query`: columns by name, each a list of one value a row. */
export type QueryAnswer = Static<typeof QueryAnswerSchema>

/** How many rows an answer of `query` or `top` can hold. */
export const answerRoom: Room<ColumnHead> = roomFor(nameLetters)

/** How many groups an answer of `aggregate` can hold, its units included. */
export const groupsRoom = roomFor((column) => nameLetters(column) + unitLetters(column))

/**
 * One row or group fits at least, and is cut if it is too long: an error would tell for nothing
 * that it is there. `headLetters` is what the answer says of a column.
 */
function roomFor(headLetters: (column: ColumnHead) => number): Room<ColumnHead> {
  return {
    rowsMax: (columns) => Math.floor(lettersMax / (2 * columns)) + 1,
    rowsThatFit: (rows, columns) => {
      let letters = columns.reduce((sum, column) => sum + headLetters(column), restLetters)
      const fitting = rows.findIndex((text) => {
        for (const cell of cellTexts(text)) letters += lettersOf(cell) + 1
        return letters > lettersMax
      })
      return fitting === -1 ? rows.length : Math.max(1, fitting)
    },
  }
}

function nameLetters({ name }: ColumnHead): number {
  return (JSON.stringify(name).length + 1) * 2 + 4
}

function unitLetters({ name, unit }: ColumnHead): number {
  return unit === null ? 0 : JSON.stringify({ [name]: unit }).length
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
  const { cells, cut } = cellsOf(page)
  const hint = cut ?? hintOf(page)
  return {
    ...cells,
    row_count: page.rows.length,
    next_cursor: page.nextCursor,
    truncated: page.cut === 'size' || cut !== null,
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
  const { columns, groups, truncated, rowsMet } = answer
  const { cells, cut } = cellsOf(answer)
  const hint = cut ?? groupsHint(answer)
  return {
    ...cells,
    units: Object.fromEntries(
      columns.flatMap(({ name, unit }) =>
        unit === null || !cells.columns.includes(name) ? [] : [[name, unit]],
      ),
    ),
    groups,
    rows: rowsMet,
    truncated: truncated || cut !== null,
    ...chargeOf(answer),
    ...(hint !== null && { hint }),
  }
}

/** Entities for an agent, for `exactJsonText`. */
export function findAnswer({ entries, explained, leftOut, quota }: FoundAnswer): object {
  const data = entries.map((entry) => {
    const cells = cellsByName(keepingDigits(entry))
    return Object.fromEntries([...cells].map(([name, cell]) => [name, writtenJson(cell)]))
  })
  return {
    data,
    ...(explained && { explained }),
    ...(leftOut.length > 0 && { left_out: leftOut }),
    quota: shownQuota(quota),
  }
}

/** The same for hosts that read a page of each entity with `fetch`. */
export function searchAnswer({ entries, leftOut }: FoundAnswer, site: string): object {
  const results = entries.map((entry) => {
    const cells = cellsByName(entry)
    const text = (name: string) => textOf(cells.get(name) ?? 'null')
    const id = `${text('dataset')}/${text('key')}`
    const title = [text('name'), text('key')].filter((each) => each !== '').join(', ')
    return { id, title, url: entityUrl(site, id) }
  })
  return { results, ...(leftOut.length > 0 && { left_out: leftOut }) }
}

/** The page of an entity for people; `id` is `<dataset>/<key>`. */
export function entityUrl(site: string, id: string): string {
  const end = id.indexOf('/')
  return `${site}/datasets/${id.slice(0, end)}/${encodeURIComponent(id.slice(end + 1))}`
}

/** The cells by column; of a row that is too long the first columns that fit, and what is said. */
function cellsOf({ columns, rows }: Pick<Page, 'columns' | 'rows'>) {
  const texts = rows.map(cellTexts)
  const [only = []] = texts
  const fitting = rows.length === 1 ? columnsThatFit(columns, only) : columns.length
  const names = columns.slice(0, Math.max(1, fitting)).map(({ name }) => name)
  const left = columns.length - names.length
  if (fitting > 0) {
    const cells = { columns: names, data: columnValues(names, texts) }
    const others = `its last ${many(left, 'column')}; select them by themselves.`
    return { cells, cut: left === 0 ? null : `The row is too long. Left out: ${others}` }
  }
  const [name = ''] = names
  const beginning = beginningOf(textOfJson(only[0] ?? ''), lettersMax - 2 * restLetters)
  const data = { [name]: [beginning] }
  const others = left === 0 ? '' : ` Left out: ${many(left, 'other column')}.`
  return { cells: { columns: names, data }, cut: `The value of ${name} is cut.${others}` }
}

/** How many columns of one row fit, from the first. */
function columnsThatFit(columns: readonly ColumnHead[], cells: readonly string[]): number {
  let letters = restLetters
  const beyond = columns.findIndex((column, index) => {
    letters += nameLetters(column) + unitLetters(column) + lettersOf(cells[index] ?? '') + 1
    return letters > lettersMax
  })
  return beyond === -1 ? columns.length : beyond
}

/** The beginning of a text that has so many letters at most as JSON. */
export function beginningOf(whole: string, lettersMax: number): string {
  let text = whole.slice(0, lettersMax).toWellFormed()
  for (;;) {
    const { length } = JSON.stringify(text)
    if (length <= lettersMax) return text
    text = text.slice(0, Math.floor((text.length * lettersMax) / length) - 1).toWellFormed()
  }
}

function chargeOf({ version, quota }: Page | GroupsAnswer) {
  return {
    version: version.id,
    quota: shownQuota(quota),
  }
}

/** The quota as answers show it; null when no quota applies. */
export function shownQuota(quota: Cost['quota']): QueryAnswer['quota'] {
  return quota ? { rows_remaining: quota.remaining, scope: quota.scope } : null
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
