import type { DataType } from '../../columns/data-type.js'

/** A column in a file, or in the whole dataset: the files' own name, and how it is stored. */
export interface StoredColumn {
  readonly name: string
  readonly type: DataType
}

/** A file to pack. */
export interface SourceToPack {
  readonly path: string
  readonly rows: number
  readonly columns: readonly StoredColumn[]
  /** Columns that stand in the file's path instead of in the file (hive), as text. */
  readonly partition: Readonly<Record<string, string | null>>
}

/** Plain data, so that an order can be handed to another process. */
export interface PackOrder {
  /** Its name in the registry: a folder packed for one dataset is never another one's. */
  readonly dataset: string
  /** In stored order. */
  readonly files: readonly SourceToPack[]
  /** The dataset's columns; files may lack some, or hold them in a narrower type. */
  readonly columns: readonly StoredColumn[]
  /** The columns to sort by; rows with equal keys keep their stored order. */
  readonly key: readonly string[]
  /**
   * The folder to make: whole or not there; an earlier pack of the dataset is replaced. What an
   * earlier try left beside it is gone on with.
   */
  readonly target: string
  /** Null = as much as packing does well with, and no more than a part of the machine's. */
  readonly memoryLimitBytes: number | null
}

export interface PackProgress {
  readonly stage: 'sorting' | 'writing' | 'verifying'
  readonly rowsDone: number
  readonly rows: number
}

/** What was written, in stored order, each file found equal to what it was made from. */
export interface PackedFile {
  readonly path: string
  readonly rows: number
}

/**
 * Writes a dataset anew in the layout that is quickest to look rows up in. The engine implements
 * it; `app.ts` passes it in. `report` is called at least once a second.
 * @throws FileError for a file that can't be read; PackError when the data can't be packed without
 *   loss, or the target can't be written; the signal's reason, and then the next call goes on
 */
export type PackFiles = (
  order: PackOrder,
  options: {
    readonly signal: AbortSignal
    readonly report: (progress: PackProgress) => void
  },
) => Promise<readonly PackedFile[]>

/** Why a dataset is not packed, in words for its owner that hold no absolute path. */
export class PackError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'PackError'
  }
}

/** Where a target's files are made before they are there. */
export function draftOf(target: string): string {
  return `${target}.draft`
}
