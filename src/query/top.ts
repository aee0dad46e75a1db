import type { Column } from '../columns/column.js'
import type { Predicate } from '../columns/predicate.js'
import type { Version } from '../versions/version.js'
import type { RowFormat } from './page-format.js'

/** A request for the first rows by one column, after every check: no later stage refuses it. */
export interface Top {
  readonly version: Version
  /**
   * The plan's window, the demo subset, the caller's filters, and `not_null` of `by`: a row without
   * a value has no place.
   */
  readonly predicates: readonly Predicate[]
  /** Rows with the same value come in stored order. */
  readonly by: Column
  readonly isDescending: boolean
  /** In the requested order; at least one. */
  readonly columns: readonly Column[]
  readonly limit: number
  /** The format of a row; JSON if omitted. */
  readonly format?: RowFormat
}
