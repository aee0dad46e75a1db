import type { Column } from '../columns/column.js'
import type { Predicate } from '../columns/predicate.js'
import type { Position, Question } from '../query/question.js'
import type { Version } from '../versions/version.js'
import type { TimeLimit } from './deadline.js'

export interface Row {
  /**
   * As UTF-8: a JSON object or a line of CSV without its end, in the question's columns. Empty
   * where the page is one file.
   */
  readonly encoded: Buffer
  readonly position: Position
}

export interface Rows {
  /** At most `question.limit`, in stored order. */
  readonly rows: readonly Row[]
  /** At least one more row follows the last. */
  readonly hasMore: boolean
  /** All of the rows, where the question's format is a file. */
  readonly file?: Buffer
}

export interface ReadOptions {
  /** Ends the wait and stops the query; its `reason` is what the call rejects with. */
  readonly signal: AbortSignal
  /** Whose turn it is: queries of different clients take turns. */
  readonly client: string
  /** Shared by the queries of one request; without it, only the signal ends them. */
  readonly timeLimit?: TimeLimit
}

/** Which rows to look at, and how closely. */
export interface ProfileQuestion {
  readonly version: Version
  readonly predicates: readonly Predicate[]
  readonly columns: readonly Column[]
  /** Columns with more distinct values than this don't have them listed. */
  readonly valuesMax: number
  /** Look at no more rows than this, spread over the version before the predicates; null = all. */
  readonly rowsMax: number | null
}

/** What a column holds in the rows looked at. Values are JSON texts, as rows hold them. */
export interface ColumnProfile {
  /** Rows in which it is served as null. */
  readonly emptyRows: number
  /** Null where there is no value, or the column has no order worth telling, as text. */
  readonly min: string | null
  readonly max: string | null
  /** Every distinct value, ascending; null where they are too many, or of no kind to be listed. */
  readonly values: readonly string[] | null
}

export interface Profile {
  /** Rows looked at that meet the predicates. */
  readonly rows: number
  /** In the order of the question's columns. */
  readonly columns: readonly ColumnProfile[]
}

/**
 * The port to a query engine. Each call costs one of a bounded number of places and waits its turn
 * for it.
 *
 * @throws service_unavailable when the queue is full, memory is short or a file can't be read;
 *   timeout at the end of the time limit
 */
export interface Engine {
  /** The rows that meet the question, in stored order, none repeated or missed between pages. */
  read(question: Question, options: ReadOptions): Promise<Rows>
  /** How many rows of the version meet every predicate. */
  count(version: Version, predicates: readonly Predicate[], options: ReadOptions): Promise<number>
  /** What columns hold: in every row that meets the predicates, or in a bounded sample of them. */
  profile(question: ProfileQuestion, options: ReadOptions): Promise<Profile>
  /** Stops every query and frees the engine. */
  close(): Promise<void>
}
