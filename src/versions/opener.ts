import type { DataType } from '../columns/data-type.js'

/** One file as the engine found it. */
export interface OpenedFile {
  readonly rows: number
  readonly columns: readonly FileColumn[]
  /** Of each column asked for, where they can be told; null where every value is empty. */
  readonly bounds: ReadonlyMap<string, TextBounds | null>
}

export interface FileColumn {
  readonly name: string
  readonly type: DataType
  /** The file can't hold an empty value here. */
  readonly required: boolean
}

/** Smallest and largest value that is not empty, in the form that a filter takes. */
export interface TextBounds {
  readonly min: string
  readonly max: string
}

/**
 * Opens Parquet files and reads rows of every column, in an engine of its own that is thrown away
 * after, so that a poisoned file harms nobody. The engine implements it; `app.ts` passes it in.
 * `boundsOf` names the columns, as the files call them, whose bounds are wanted. There is one
 * answer for each path, in the order of the paths.
 * @throws FileError naming the file that can't be served and why
 */
export type OpenFiles = (
  paths: readonly string[],
  boundsOf: readonly string[],
) => Promise<readonly OpenedFile[]>

/** A file that can't be used. `reason` reads after the file's name and holds no path. */
export class FileError extends Error {
  readonly path: string
  readonly reason: string

  constructor(path: string, reason: string, cause?: unknown) {
    super(reason, { cause })
    this.name = 'FileError'
    this.path = path
    this.reason = reason
  }
}
