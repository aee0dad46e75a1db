import { sum } from '../harness/statistics.js'
import type { FormFile } from './form.js'
import type { RowsQuestion } from './questions.js'

/** What a question makes DuckDB do in Parquet files, as far as it is known before. */
export interface Work {
  readonly lookUps: number
  readonly pages: number
  /** Statements after the first. */
  readonly pieces: number
  readonly files: number
  /** Row groups of those files × columns that are read. */
  readonly groupColumns: number
  /** The same of row groups whose rows are read. */
  readonly openedColumns: number
  /** Rows in which one key is compared. */
  readonly keyRows: number
  /** Rows in which a list of keys is compared. */
  readonly listRows: number
  /** Rows × columns in which other conditions are checked. */
  readonly filterCells: number
  /** Rows × columns of opened row groups, most of which are skipped. */
  readonly lookUpCells: number
  /** Rows × columns from the start of a page's first row group to its last row. */
  readonly pageCells: number
  /** Rows × columns of the answer. */
  readonly answerCells: number
}

export type WorkPart = keyof Work

/** Files, or some rows of one. */
export interface Piece {
  readonly files: readonly FormFile[]
  readonly range: readonly [from: number, to: number] | null
}

/** No work: nothing is known of a native form. */
export const noWork: Work = {
  lookUps: 0,
  pages: 0,
  pieces: 0,
  files: 0,
  groupColumns: 0,
  openedColumns: 0,
  keyRows: 0,
  listRows: 0,
  filterCells: 0,
  lookUpCells: 0,
  pageCells: 0,
  answerCells: 0,
}

// The type is that of the object's own keys.
export const workParts = Object.keys(noWork) as readonly WorkPart[]

/** A ninth of all rows match the prefix of okved that is asked for. */
const okvedShare = 1 / 9

/** The work of one statement that found so many of the rows that were missing. */
export function workOf(
  piece: Piece,
  question: RowsQuestion,
  columns: readonly string[],
  missing: number,
  found: number,
): Work {
  const { files } = piece
  const groups = sum(files.map((file) => file.groups))
  const width = (question.select ?? columns).length
  const given = {
    ...noWork,
    files: files.length,
    groupColumns: groups * width,
    answerCells: found * width,
  }
  if (question.inns.length > 0) return { ...given, ...lookUpWork(files, question.inns, width) }
  return { ...given, ...pageWork(piece, question, missing, width) }
}

/** Each company's rows are in one row group of each file that can hold them. */
function lookUpWork(files: readonly FormFile[], inns: readonly string[], width: number) {
  const opened = files.map((file) => {
    const keys = inns.filter((inn) => file.inn.min <= inn && inn <= file.inn.max).length
    return Math.min(keys, file.groups)
  })
  const rows = sum(files.map((file, at) => ((opened[at] ?? 0) / file.groups) * file.rows))
  return {
    lookUps: 1,
    openedColumns: sum(opened) * width,
    [inns.length === 1 ? 'keyRows' : 'listRows']: rows,
    lookUpCells: rows * width,
  }
}

function pageWork(
  { files, range }: Piece,
  { years, okved }: RowsQuestion,
  missing: number,
  width: number,
) {
  const groupRows = Math.max(...files.map((file) => file.rows / file.groups))
  const stored = range ? range[1] - range[0] : sum(files.map(({ rows }) => rows))
  const span = Math.max(...files.map(({ year }) => year.max - year.min + 1))
  const share = (years === null ? 1 : 1 / span) * (okved === null ? 1 : okvedShare)
  const rows = Math.min(stored, missing / share) + (range ? range[0] % groupRows : 0)
  const filters = (years === null ? 0 : 1) + (okved === null ? 0 : 1)
  return {
    pages: 1,
    openedColumns: Math.max(rows / groupRows, 1) * width,
    filterCells: rows * filters,
    pageCells: rows * width,
  }
}

/** The work of a question's statements. */
export function totalWork([first = noWork, ...others]: readonly Work[]): Work {
  const later = others.map((work) => ({ ...work, pages: 0, pieces: 1 }))
  return workWith((part) => sum([first, ...later].map((work) => work[part])))
}

/** The mean of several works. */
export function meanWork(works: readonly Work[]): Work {
  return workWith((part) => sum(works.map((work) => work[part])) / works.length)
}

/** A value for each part. */
export function workWith(valueOf: (part: WorkPart) => number): Work {
  // It has every part of `noWork`.
  return Object.fromEntries(workParts.map((part) => [part, valueOf(part)])) as unknown as Work
}
