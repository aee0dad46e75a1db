import type { Predicate } from '../../columns/predicate.js'
import type { FileQuestion } from './file-question.js'
import type { Top } from '../../query/top.js'
import type { Version } from '../../versions/version.js'
import { areInOrder, chooseDropped, chooseFiles, searchesOf } from './choice.js'
import type { Choice } from './choice.js'
import { soloRowsMax } from './read/pieces.js'

/** The files of the form that reads a page fastest among those that keep its order. */
export function chooseForPage({
  version,
  predicates,
  columns,
  after,
  limit,
}: FileQuestion): Choice {
  const stored = chooseFiles(version, predicates)
  if (version.dropped.length === 0) return stored
  // A walk goes on in the form in which it began; a new one by key reads files sorted by it.
  const isOfStored = after === null ? stored.isByKey : after.file < version.files.length
  if (isOfStored || (after === null && hasSearch(stored))) return stored
  const dropped = chooseDropped(version, predicates)
  if (after !== null) return dropped
  if (!areInOrder(dropped)) return stored
  const page = { rows: limit, columns: columns.length }
  return costOfPage(dropped, stored, page) < costOfPage(stored, dropped, page) ? dropped : stored
}

/** The files of the form that is fastest to read whole, by a query whose result has no order. */
export function chooseForTotal(
  version: Version,
  predicates: readonly Predicate[],
  columns: number,
): Choice {
  return chooseWhole(version, predicates, columns, () => true)
}

/** The same for rows that come in stored order where another order leaves it open. */
export function chooseForTop({ version, predicates, columns }: Top): Choice {
  return chooseWhole(version, predicates, columns.length + 1, areInOrder)
}

function chooseWhole(
  version: Version,
  predicates: readonly Predicate[],
  columns: number,
  mayRead: (dropped: Choice) => boolean,
): Choice {
  const stored = chooseFiles(version, predicates)
  if (version.dropped.length === 0 || stored.isByKey || hasSearch(stored)) return stored
  const dropped = chooseDropped(version, predicates)
  if (!mayRead(dropped)) return stored
  return costOfTotal(dropped, columns) < costOfTotal(stored, columns) ? dropped : stored
}

/** Search files name the files of the stored form, which also holds each text fewer times. */
function hasSearch({ version, predicates }: Choice): boolean {
  return searchesOf(version, predicates).length > 0
}

/** What reading the files of one form costs, in nanoseconds of processor time. */
interface FormCosts {
  readonly groupRows: number
  /** The rows of a file; null = all rows. */
  readonly fileRows: number | null
  /** A page without rows. */
  readonly start: number
  /** A row group that is read, for each column. */
  readonly openedColumn: number
  /** A row that a page passes, for each column of the answer. */
  readonly passedCell: number
  /** A cell of the answer, beside that. */
  readonly answerCell: number
  /** A row that a query reads to its end, for each column. */
  readonly readCell: number
}

/**
 * Measured (docs/performance.md). Dropped files are taken to have row groups of the usual size: a
 * page from the middle of one decompresses the rows before it, in every column.
 */
const forms: Readonly<Record<'packed' | 'dropped', FormCosts>> = {
  packed: {
    groupRows: 10_240,
    fileRows: 20_480,
    start: 1_254_000,
    openedColumn: 23_000,
    passedCell: 3.1,
    answerCell: 209,
    readCell: 5,
  },
  dropped: {
    groupRows: 122_880,
    fileRows: null,
    start: 0,
    openedColumn: 0,
    passedCell: 25,
    answerCell: 13,
    readCell: 10,
  },
}
/** A file that a statement names. */
const namedFile = 52_000
/** A row group of such a file, for each column, also if no row of it is read. */
const namedGroup = 3400
/** Another statement, for a page that the rows of the first one do not fill. */
const statement = 2_953_000
/** A condition on one row. */
const condition = 18

/** A condition that chooses no file is taken to keep this share of the rows. */
const keptShare = 0.1
const conditionsMax = 3

interface PageSize {
  readonly rows: number
  readonly columns: number
}

/** Estimates a page of a walk in one form; the other form holds the same rows in other files. */
function costOfPage(form: Choice, other: Choice, { rows, columns }: PageSize): number {
  const { start, groupRows, openedColumn, passedCell, answerCell } = costsOf(form)
  const conditions = conditionsOf(form)
  // Of these rows, so many meet the conditions that chose the files of the other form.
  const share = rowsOf(other) / Math.max(form.version.rows, 1)
  const passed = Math.min(rowsOf(form), rows / (share * keptShare ** conditions))
  const named = Math.min(rowsOf(form), Math.max(passed, soloRowsMax))
  // It begins anywhere in a row group.
  const before = Math.min(groupRows, rowsOf(form)) / 2
  return (
    start +
    moreStatements(form, passed) * statement +
    costOfNaming(form, named, columns) +
    Math.ceil(passed / groupRows) * columns * openedColumn +
    (passed + before) * columns * passedCell +
    passed * (1 + conditions) * condition +
    rows * columns * answerCell
  )
}

/** The first statement of a page reads the rest of the file in which the page begins. */
function moreStatements(form: Choice, passed: number): number {
  const { fileRows } = costsOf(form)
  const restOfFile = fileRows === null ? 0 : Math.min(1, passed / fileRows)
  return restOfFile + (passed > soloRowsMax ? 1 : 0)
}

/** Estimates a query that reads every row of a form. */
function costOfTotal(form: Choice, columns: number): number {
  const { groupRows, openedColumn, readCell } = costsOf(form)
  const rows = rowsOf(form)
  const read = columns + conditionsOf(form) + 1
  const groups = Math.ceil(rows / groupRows)
  return costOfNaming(form, rows, read) + read * (groups * openedColumn + rows * readCell)
}

function costOfNaming(form: Choice, rows: number, columns: number): number {
  const { groupRows, fileRows } = costsOf(form)
  const [files, inFiles] =
    fileRows === null ? [form.files.length, rowsOf(form)] : [Math.ceil(rows / fileRows), rows]
  return files * namedFile + Math.ceil(inFiles / groupRows) * columns * namedGroup
}

function costsOf({ files, version }: Choice): FormCosts {
  return (files[0]?.index ?? 0) < version.files.length ? forms.packed : forms.dropped
}

function rowsOf({ files }: Choice): number {
  return files.reduce((sum, { file }) => sum + file.rows, 0)
}

/** The number of columns with a condition that chooses no file. */
function conditionsOf({ version, predicates }: Choice): number {
  const choosing = new Set([...version.key, version.history].map((column) => column?.name))
  const named = predicates.flatMap((each) => (each.kind === 'nothing' ? [] : each.column.name))
  const others = new Set(named.filter((name) => !choosing.has(name)))
  return Math.min(others.size, conditionsMax)
}
