import type { Column } from '../columns/column.js'
import type { Version } from './version.js'

/** One column in a sample of rows. */
export interface SampledColumn {
  readonly column: Column
  /** Rows with a value. */
  readonly filled: number
  readonly distinct: number
  /** The smallest and largest value, as filters write them; null without one. */
  readonly least: string | null
  readonly most: string | null
}

/** How the combined values of some columns change from row to row within a file. */
export interface RowOrder {
  readonly distinct: number
  /** Rows less than the one before: 0 in sorted files. */
  readonly falls: number
  /** Rows equal to the one before. */
  readonly ties: number
  /** Rows greater than the one before. */
  readonly rises: number
}

/** Some rows of some files, kept for questions. */
export interface Sample {
  readonly rows: number
  readonly columns: readonly SampledColumn[]
  readonly rowOrder: (columns: readonly Column[]) => Promise<RowOrder>
  /** A row from the middle with a value in the first column, as filters write it. */
  readonly example: (columns: readonly Column[]) => Promise<readonly (string | null)[]>
}

/**
 * Takes a sample of these columns in an engine that is disposed of after `use`. The engine
 * implements this; `app.ts` passes it in.
 * @throws FileError with the file that can't be read
 */
export type WithSample = <T>(
  version: Version,
  columns: readonly Column[],
  use: (sample: Sample) => Promise<T>,
) => Promise<T>
