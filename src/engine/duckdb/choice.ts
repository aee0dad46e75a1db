import type { Predicate } from '../../columns/predicate.js'
import { filesThatMayHold } from '../../versions/choose-files.js'
import type { DataFile, SearchFile, StoredFile, Version } from '../../versions/version.js'
import type { FoundRows } from '../rows/row-copies.js'

/** Rows of one file, from `from` up to but not including `to`. */
export interface RowRange {
  readonly from: number
  readonly to: number
}

export interface ChosenFile {
  /** In the version. */
  readonly index: number
  /** The file, or its pages: they have the same rows. */
  readonly file: DataFile
  /** The ranges that may hold a row, ascending and apart; left out = all rows may. */
  readonly ranges?: readonly RowRange[]
  /** The rows that look-ups found, ascending; left out = nothing was looked up. */
  readonly found?: readonly number[]
}

/**
 * The files that a query may read. Choose them once: the query's size and plan need the same files.
 */
export interface Choice {
  readonly version: Version
  readonly predicates: readonly Predicate[]
  /** In stored order. */
  readonly files: readonly ChosenFile[]
  /** True if values of the key choose the rows, which are usually few. */
  readonly isByKey: boolean
}

/**
 * Which form DuckDB reads. Rows, and all that look-ups have found: the pages. Everything else,
 * which reads files to their end: the files as they are.
 */
export type DuckDbForm = 'pages' | 'files'

/** The files that can hold a row which meets every predicate. */
export function chooseFiles(
  version: Version,
  predicates: readonly Predicate[],
  form: DuckDbForm = 'files',
  foundRows: FoundRows | null = null,
): Choice {
  const files = filesThatMayHold(version.files, predicates).flatMap((index): ChosenFile[] => {
    const file = version.files[index]
    if (!file) return []
    if (!foundRows) return [{ index, file: form === 'pages' ? pagesOf(file) : file }]
    const found = foundRows.get(index)
    return found ? [{ index, file: pagesOf(file), found }] : []
  })
  const isByKey = foundRows !== null || predicates.some((each) => isOfKey(version, each))
  return { version, predicates, files, isByKey }
}

function pagesOf(file: DataFile): DataFile {
  return file.pages ? { ...file, ...file.pages } : file
}

/** Words that a column's text must have, and the column's search file. */
export interface Search {
  readonly file: SearchFile
  readonly words: readonly string[]
}

/** The searches of a question in columns with a search file; none where look-ups leave few rows. */
export function searchesOf({ version, predicates, isByKey }: Choice): readonly Search[] {
  if (isByKey) return []
  return version.search.flatMap((file) => {
    const words = predicates.flatMap((each) =>
      each.kind === 'contains' && each.column.source === file.column ? [each.value] : [],
    )
    return words.length === 0 ? [] : [{ file, words }]
  })
}

/** Every file that a query may read. */
export function filesToRead(choice: Choice): readonly StoredFile[] {
  const search = searchesOf(choice).map(({ file }) => file)
  return [...search, ...choice.files.map(({ file }) => file)]
}

/** True for a predicate on the key whose values usually match few rows each. */
export function isOfKey({ key }: Version, predicate: Predicate): boolean {
  const isOfValues = predicate.kind === 'eq' || predicate.kind === 'in'
  return isOfValues && predicate.column.name === key[0]?.name
}
