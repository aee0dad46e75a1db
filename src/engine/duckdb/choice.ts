import type { Predicate } from '../../columns/predicate.js'
import { filesThatMayHold } from '../../versions/choose-files.js'
import type { DataFile, SearchFile, StoredFile, Version } from '../../versions/version.js'

export interface ChosenFile {
  /** Counts through the version's files, then through its dropped files. */
  readonly index: number
  readonly file: DataFile
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

/** The files that can hold a row which meets every predicate, of the form that has the order. */
export function chooseFiles(version: Version, predicates: readonly Predicate[]): Choice {
  return choiceOf(version, predicates, version.files, 0)
}

/** The same of the dropped files beside them. */
export function chooseDropped(version: Version, predicates: readonly Predicate[]): Choice {
  return choiceOf(version, predicates, version.dropped, version.files.length)
}

/**
 * Whether chosen dropped files give their rows in the version's order: the rows are in at most one
 * file, which keeps it.
 */
export function areInOrder({ version: { files, dropped }, files: chosen }: Choice): boolean {
  return (
    chosen.length <= 1 && chosen.every(({ index }) => dropped[index - files.length]?.keepsOrder)
  )
}

function choiceOf(
  version: Version,
  predicates: readonly Predicate[],
  all: readonly DataFile[],
  first: number,
): Choice {
  const files = filesThatMayHold(all, predicates).flatMap((index) => {
    const file = all[index]
    return file ? [{ index: first + index, file }] : []
  })
  const hasKey = predicates.some((predicate) => isByKey(version, predicate))
  return { version, predicates, files, isByKey: hasKey }
}

/** Words that a column's text must have, and the column's search file. */
export interface Search {
  readonly file: SearchFile
  readonly words: readonly string[]
}

/** The searches of a question in columns with a search file. */
export function searchesOf(
  { search }: Version,
  predicates: readonly Predicate[],
): readonly Search[] {
  return search.flatMap((file) => {
    const words = predicates.flatMap((each) =>
      each.kind === 'contains' && each.column.source === file.column ? [each.value] : [],
    )
    return words.length === 0 ? [] : [{ file, words }]
  })
}

/** Every file that a query may read. */
export function filesToRead({ version, predicates, files }: Choice): readonly StoredFile[] {
  const search = searchesOf(version, predicates).map(({ file }) => file)
  return [...search, ...files.map(({ file }) => file)]
}

/** True for a predicate on the key whose values usually match few rows each. */
export function isByKey({ key }: Version, predicate: Predicate): boolean {
  const isOfValues = predicate.kind === 'eq' || predicate.kind === 'in'
  return isOfValues && predicate.column.name === key[0]?.name
}
