import type { Predicate } from '../../columns/predicate.js'
import { filesThatMayHold } from '../../versions/choose-files.js'
import type { DataFile, Version } from '../../versions/version.js'

export interface ChosenFile {
  /** Into the version's files. */
  readonly index: number
  readonly file: DataFile
}

/** The files that a query may read. Its size and its plan need the same ones: choose them once. */
export interface Choice {
  readonly version: Version
  readonly predicates: readonly Predicate[]
  /** In stored order. */
  readonly files: readonly ChosenFile[]
  /** Whether values of the key choose the rows, which are then mostly few. */
  readonly isByKey: boolean
}

/** The files of a version that can hold a row which meets every predicate. */
export function chooseFiles(version: Version, predicates: readonly Predicate[]): Choice {
  const files = filesThatMayHold(version, predicates).flatMap((index) => {
    const file = version.files[index]
    return file ? [{ index, file }] : []
  })
  const hasKey = predicates.some((predicate) => isByKey(version, predicate))
  return { version, predicates, files, isByKey: hasKey }
}

/** Each value of such a predicate mostly finds few rows. */
export function isByKey({ key }: Version, predicate: Predicate): boolean {
  const isOfValues = predicate.kind === 'eq' || predicate.kind === 'in'
  return isOfValues && predicate.column.name === key[0]?.name
}
