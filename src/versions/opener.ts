import type { DataType } from '../columns/data-type.js'

/** One file as the engine found it. */
export interface OpenedFile {
  readonly rows: number
  readonly columns: readonly FileColumn[]
  /** By requested column, if known; null if every value is empty. */
  readonly bounds: ReadonlyMap<string, TextBounds | null>
  /** By column of those that were asked whether their values fit another type. */
  readonly fits?: ReadonlyMap<string, ColumnFit>
}

/** Whether the values of a column in a file have a place in a type. */
export interface ColumnFit {
  /** False if all are empty: then every type fits. */
  readonly hasValues: boolean
  /** The type asked for, in DuckDB's notation; null = none. */
  readonly target: string | null
  /** The first value that the type can't hold, and its row, counted from 0; null = it holds all. */
  readonly misfit: { readonly row: number; readonly value: string } | null
  /** Of the values as this type, where bounds of the column were asked for. */
  readonly bounds: TextBounds | null
}

/** A column to try in another type; null = only whether it has values. */
export interface FitQuestion {
  readonly column: string
  readonly target: DataType | null
}

export interface FileColumn {
  readonly name: string
  readonly type: DataType
  /** The file can't hold an empty value here. */
  readonly required: boolean
  /** What is to be known of its values; left out = nothing. */
  readonly marks?: readonly ColumnMark[]
}

/**
 * `old statistics`: the engine must not use the file's own bounds, which may be in another order of
 * values. `cut nanoseconds`: it reads times to the microsecond only. `old calendar`: early days or
 * times are in the calendar of Spark and Hive before 2020, and read as others.
 */
export type ColumnMark = 'old statistics' | 'cut nanoseconds' | 'old calendar'

/** The smallest and largest value that is not empty, as a filter writes them. */
export interface TextBounds {
  readonly min: string
  readonly max: string
  /** No value is empty; left out = some may be. */
  readonly isFull?: true
}

/**
 * Opens Parquet files and reads rows of every column, in a disposable engine: a file that crashes
 * it harms no request. Returns one result per path, in order, with the bounds of the columns
 * `boundsOf`, by their names in the files, and answers to `fits`. The engine implements this;
 * `app.ts` passes it in.
 * @throws FileError with the file that can't be served and the reason
 */
export type OpenFiles = (
  paths: readonly string[],
  boundsOf: readonly string[],
  fits?: readonly FitQuestion[],
) => Promise<readonly OpenedFile[]>

/** A file that can't be used. `reason` follows the file's name in messages and holds no path. */
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
