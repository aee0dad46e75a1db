import type { Predicate } from '../catalog/predicate.js'
import type { Version } from '../catalog/version.js'
import type { Position, Question } from '../query/question.js'

/** One row, encoded: the text of its JSON object, keys in the order of the question's columns. */
export interface Row {
  readonly json: string
  readonly position: Position
}

export interface Rows {
  /** At most `question.limit`, in stored order. */
  readonly rows: readonly Row[]
  /** At least one more row follows the last. */
  readonly hasMore: boolean
}

export interface ReadOptions {
  /** Ends the wait and stops the query; its `reason` is what the call rejects with. */
  readonly signal: AbortSignal
  /** Whose turn it is: queries of different clients take turns. */
  readonly client: string
}

/**
 * The port to a query engine. Each call costs one of a bounded number of places and waits its turn
 * for it.
 *
 * @throws service_unavailable when the queue is full, memory is short or a file can't be read
 */
export interface Engine {
  /** The rows that meet the question, in stored order, none repeated or missed between pages. */
  read(question: Question, options: ReadOptions): Promise<Rows>
  /** How many rows of the version meet every predicate. */
  count(version: Version, predicates: readonly Predicate[], options: ReadOptions): Promise<number>
  /** Stops every query and frees the engine. */
  close(): Promise<void>
}
