import type { Column } from '../columns/column.js'
import type { Predicate } from '../columns/predicate.js'
import type { Version } from '../versions/version.js'
import type { RowFormat } from './page-format.js'

/** A row's place in the order of a version, which every answer has. */
export type Position = FilePosition | KeyPosition

/** File by file, row by row. */
export interface FilePosition {
  /** Counts through the version's files, then through its dropped files. */
  readonly file: number
  /** Row number in the file, from 0. */
  readonly row: number
}

/** In a table of another engine: by the declared unique key, ascending, empty values last. */
export interface KeyPosition {
  /** The values of the key's columns as filters write them; null = empty. */
  readonly key: readonly (string | null)[]
}

/** A request after every check: no later stage can refuse it. */
export interface Question {
  readonly version: Version
  /** The plan's window, the demo subset and the caller's filters, all ANDed. */
  readonly predicates: readonly Predicate[]
  /** In the requested order; at least one. */
  readonly columns: readonly Column[]
  /** The last row that the caller received; null at the start of a walk. */
  readonly after: Position | null
  readonly limit: number
  /** The row format; JSON if omitted. */
  readonly format?: RowFormat
}
