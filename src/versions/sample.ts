import type { Column } from '../columns/column.js'
import type { Version } from './version.js'

/** What some rows of a dataset show of one column. */
export interface SampledColumn {
  readonly column: Column
  /** Rows that are not empty here. */
  readonly filled: number
  readonly distinct: number
  /** Smallest and largest value as filters write them; null where there is none. */
  readonly least: string | null
  readonly most: string | null
}

/** What columns show when they are taken together, row after row of the same file. */
export interface RowOrder {
  readonly distinct: number
  /** Rows that are less than the one before: none in files that are sorted. */
  readonly falls: number
  /** Rows that are equal to the one before. */
  readonly ties: number
  /** Rows that are greater than the one before. */
  readonly rises: number
}

/** Some rows of each of some files, held to be asked about. */
export interface Sample {
  readonly rows: number
  readonly columns: readonly SampledColumn[]
  readonly rowOrder: (columns: readonly Column[]) => Promise<RowOrder>
  /** A row from the middle whose first column is not empty, as filters write it. */
  readonly example: (columns: readonly Column[]) => Promise<readonly (string | null)[]>
}

/**
 * Takes a sample of these columns, in an engine of its own that is thrown away after `use`. The
 * engine implements it; `app.ts` passes it in.
 * @throws FileError naming the file that can't be read
 */
export type WithSample = <T>(
  version: Version,
  columns: readonly Column[],
  use: (sample: Sample) => Promise<T>,
) => Promise<T>
