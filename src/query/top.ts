import type { Column } from '../columns/column.js'
import type { Predicate } from '../columns/predicate.js'
import type { Version } from '../versions/version.js'
import type { RowFormat } from './page-format.js'

/** A request for the first rows by one column, after every check. Ties follow the stored order. */
export interface Top {
  readonly version: Version
  /** The plan's window, the demo subset and the caller's filters, all ANDed. */
  readonly predicates: readonly Predicate[]
  /** Rows in which it is empty are left out. */
  readonly by: Column
  readonly isDescending: boolean
  /** In the requested order; at least one. */
  readonly columns: readonly Column[]
  readonly limit: number
  /** The row format; JSON if omitted. */
  readonly format?: RowFormat
}
