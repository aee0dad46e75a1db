import type { Predicate } from '../columns/predicate.js'
import type { Version } from './version.js'

/** What to inspect in the files of a version. */
export interface InspectOrder {
  readonly version: Version
  /** Reads every value of every file, not only the footers. */
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

/** What the engine found in the files of a version, as plain data. */
export interface Inspection {
  /** Of all files. */
  readonly rowGroups: number
  /** In the order of the version's columns. */
  readonly columns: readonly InspectedColumn[]
  /** Null if keys were not counted. */
  readonly keys: InspectedKey | null
  /** Rows of the subset; null if not counted. */
  readonly subsetRows: number | null
}

export interface InspectedColumn {
  /** True if no row has a value; null if not known. */
  readonly isEmpty: boolean | null
  /** Rows with NaN or ±infinity; null if not counted. */
  readonly notFiniteRows: number | null
  /** Values that a double can't hold; null if none is known. */
  readonly rounded: RoundedValues | null
}

interface RoundedValues {
  /** Null if the footers give an example but no count. */
  readonly rows: number | null
  readonly example: string
}

export interface InspectedKey {
  /** Rows that share their key with another row. */
  readonly sharingRows: number
  /** Those of a key that each file has once at most, by what is known of their files. */
  readonly betweenFilesRows: number
  /** The key that most rows share, one text per key column; null if none is shared. */
  readonly example: { readonly values: readonly (string | null)[]; readonly rows: number } | null
  /** For each key column, the number of rows without a value. */
  readonly emptyRows: readonly number[]
}

/**
 * Inspects the files of a version in a disposable engine. Opening them has shown that every value
 * can be read. The engine implements this; `app/` passes it in.
 * @throws the signal's reason when it aborts
 */
export type InspectFiles = (
  order: InspectOrder,
  options: {
    readonly signal: AbortSignal
    readonly report: (progress: InspectProgress) => void
  },
) => Promise<Inspection>
