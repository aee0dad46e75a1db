import type { Predicate } from '../columns/predicate.js'
import type { Version } from './version.js'

/** What is to be looked at in the files of a version. */
export interface InspectOrder {
  readonly version: Version
  /** Reads every value of every column of every file, not only what the footers say. */
  readonly deep: boolean
  /** Counts rows that share a key; reads the key columns. */
  readonly countsKeys: boolean
  /** Counts the rows that meet all of these; null = counts none. */
  readonly subset: readonly Predicate[] | null
}

export interface InspectProgress {
  readonly rowsDone: number
  readonly rows: number
}

/** What an engine found in the files of a version, as plain data. */
export interface Inspection {
  /** In the order of the version's files. */
  readonly footers: readonly FileFooter[]
  /** In the order of the version's columns. */
  readonly columns: readonly InspectedColumn[]
  /** Null where keys were not counted. */
  readonly keys: InspectedKey | null
  /** Rows of the subset; null where they were not counted. */
  readonly subsetRows: number | null
  readonly damages: readonly Damage[]
}

/** What a file's footer says of its layout. */
export interface FileFooter {
  readonly rowGroups: number
  /** Row groups that begin below the end of the one before, in the first key column. */
  readonly unsortedRowGroups: number
  /** Row groups that say nothing of the first key column, though they hold values. */
  readonly silentRowGroups: number
}

export interface InspectedColumn {
  /** True where no row has a value; null where it is not known. */
  readonly isEmpty: boolean | null
  /** The value of all rows that have one; null where there are several, or it is not known. */
  readonly onlyValue: string | null
  /** Rows with NaN or ±infinity; null where they were not counted. */
  readonly notFiniteRows: number | null
  /** Values that a double can't hold; null where none is known. */
  readonly rounded: RoundedValues | null
  /** Files hold finer parts of a second than the engine reads. */
  readonly cutsNanoseconds: boolean
}

interface RoundedValues {
  /** Null where the footers show an example and no count. */
  readonly rows: number | null
  readonly example: string
}

export interface InspectedKey {
  /** Rows whose whole key another row has too. */
  readonly sharingRows: number
  /** The key that most rows share, a text for each key column; null where none is shared. */
  readonly example: { readonly values: readonly (string | null)[]; readonly rows: number } | null
  /** For each key column, the rows that have no value in it. */
  readonly emptyRows: readonly number[]
}

/** A place in a file that can't be read. */
export interface Damage {
  /** Into the version's files. */
  readonly file: number
  /** Reads after the file's name and holds no path. */
  readonly reason: string
  /** The first column that can't be read, by the file's own name; null where it can't be told. */
  readonly column: string | null
  /** The first row group of that column that can't be read, counted from 0. */
  readonly rowGroup: number | null
}

/**
 * Looks into the files of a version in an engine of its own that is thrown away after. A damaged
 * file hides nothing of the others. The engine implements it; `app/` passes it in.
 * @throws the signal's reason when it aborts
 */
export type InspectFiles = (
  order: InspectOrder,
  options: {
    readonly signal: AbortSignal
    readonly report: (progress: InspectProgress) => void
  },
) => Promise<Inspection>
