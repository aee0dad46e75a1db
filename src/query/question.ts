import type { Column } from '../columns/column.js'
import type { Predicate } from '../columns/predicate.js'
import type { Version } from '../versions/version.js'
import type { RowFormat } from './page-format.js'

/** A row's place in a version: file by file, row by row. It is the order of every answer. */
export interface Position {
  /** Index into `version.files`. */
  readonly file: number
  /** Row number in the file, from 0. */
  readonly row: number
}

/** What a request asks for, after every check: from here on nothing can fail for its sake. */
export interface Question {
  readonly version: Version
  /** The plan's window, the demo subset and the caller's filters, all ANDed. */
  readonly predicates: readonly Predicate[]
  /** In the order wanted, at least one. */
  readonly columns: readonly Column[]
  /** The last row that the caller has seen; null at the start of a walk. */
  readonly after: Position | null
  readonly limit: number
  /** What its rows are written as; left out = JSON. */
  readonly format?: RowFormat
}
