import type { DataType } from './data-type.js'

/** A column in a file, or in the whole dataset: the files' own name, and how it is stored. */
export interface StoredColumn {
  readonly name: string
  readonly type: DataType
}

/** Plain data, so that an order can be handed to another process. */
export interface PackOrder {
  /** In stored order. */
  readonly files: readonly {
    readonly path: string
    readonly rows: number
    readonly columns: readonly StoredColumn[]
    /** Columns that stand in the file's path instead of in the file (hive), as text. */
    readonly partition: Readonly<Record<string, string | null>>
  }[]
  /** The dataset's columns; files may lack some, or hold them in a narrower type. */
  readonly columns: readonly StoredColumn[]
  /** The columns to sort by; rows with equal keys keep their stored order. */
  readonly key: readonly string[]
  /** The folder to make: whole or not there. What an earlier try left beside it is gone on with. */
  readonly target: string
  readonly memoryLimitBytes: number
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
 * it; `app.ts` passes it in.
 * @throws FileError for a file that can't be read; PackError when the data can't be packed without
 *   loss
 */
export type PackFiles = (
  order: PackOrder,
  options: {
    readonly signal: AbortSignal
    readonly report: (progress: PackProgress) => void
  },
) => Promise<readonly PackedFile[]>
