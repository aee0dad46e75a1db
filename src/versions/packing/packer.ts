import type { DataType } from '../../columns/data-type.js'
import type { Version } from '../version.js'

/** A column by its name in the files, with the type that a file or the dataset has for it. */
export interface StoredColumn {
  readonly name: string
  readonly type: DataType
}

/** A file to pack. */
export interface SourceToPack {
  readonly path: string
  /** The identity that the file must have; null for a copy, which only the server writes to. */
  readonly identity: string | null
  readonly rows: number
  readonly columns: readonly StoredColumn[]
  /** The columns that the file's path holds (hive), as text. */
  readonly partition: Readonly<Record<string, string | null>>
}

/** What to pack, as plain data for another process. */
export interface PackOrder {
  /** Its name in the registry. */
  readonly dataset: string
  /** In stored order. */
  readonly files: readonly SourceToPack[]
  /** The dataset's columns; a file may lack one or have a narrower type. */
  readonly columns: readonly StoredColumn[]
  /** The columns to sort by; rows with equal keys keep their stored order. */
  readonly key: readonly string[]
  /** The columns to write search files for. */
  readonly search: readonly string[]
  /** The folder to create atomically, in place of an earlier one; continues an unfinished run. */
  readonly target: string
  /** True if the target's name depends on the content of the files: it has no other copy. */
  readonly isNamedByContent: boolean
  /** Null = as much as packing profits from, within a share of the machine's memory. */
  readonly memoryLimitBytes: number | null
}

export interface PackProgress {
  readonly stage: 'sorting' | 'writing' | 'verifying' | 'indexing'
  readonly rowsDone: number
  readonly rows: number
}

/** A written file, verified against its sources. */
export interface PackedFile {
  readonly path: string
  readonly rows: number
}

/**
 * Writes a dataset in the layout that is fastest for queries by key; returns its files in stored
 * order. The engine implements this, and `app.ts` passes it in. Calls `report` at least once a
 * second. After an abort, the next call continues.
 * @throws FileError for a file that can't be read; PackError if the data can't be packed without
 *   loss or the target can't be written; the signal's reason
 */
export type PackFiles = (
  order: PackOrder,
  options: {
    readonly signal: AbortSignal
    readonly report: (progress: PackProgress) => void
  },
) => Promise<readonly PackedFile[]>

/** Why a dataset is not packed, for its owner; holds no absolute path. */
export class PackError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'PackError'
  }
}

/** Where a target's files are written before the target appears. */
export function draftOf(target: string): string {
  return `${target}.draft`
}

/** The median durations of a query by key, on the present files and on packed ones. */
export interface PackGain {
  readonly nowMs: number
  readonly packedMs: number
}

/**
 * Measures what packing would gain, on a sample that it packs and removes; null for a version
 * without a key or rows. The engine implements this.
 * @throws FileError; the signal's reason
 */
export type MeasurePackGain = (version: Version, signal: AbortSignal) => Promise<PackGain | null>
