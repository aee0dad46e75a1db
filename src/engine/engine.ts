import type { Column } from '../columns/column.js'
import type { Predicate } from '../columns/predicate.js'
import type { Changes } from '../query/changes.js'
import type { Position, Question } from '../query/question.js'
import type { Summary } from '../query/summary.js'
import type { Top } from '../query/top.js'
import type { Version } from '../versions/version.js'
import type { TimeLimit } from './deadline.js'

export interface Row<Place extends Position = Position> {
  /**
   * UTF-8: a JSON object or a line of CSV without its line end, in the question's columns. Empty if
   * the page is one file.
   */
  readonly encoded: Buffer
  readonly position: Place
}

export interface Rows<Place extends Position = Position> {
  /** At most `question.limit`, in stored order. */
  readonly rows: readonly Row<Place>[]
  /** True if at least one more row follows the last. */
  readonly hasMore: boolean
  /** All of the rows, if the question's format is a file. */
  readonly file?: Buffer
}

export interface ReadOptions {
  /** Ends the wait and stops the query; the call rejects with its `reason`. */
  readonly signal: AbortSignal
  /** The client that asks: queries of different clients take turns. */
  readonly client: string
  /** Shared by the queries of one request; without it, only the signal ends them. */
  readonly timeLimit?: TimeLimit
  /** Called when a query ends or is refused. */
  readonly onTurn?: (times: TurnTimes) => void
}

/** Where the time of one query went. */
export interface TurnTimes {
  /** In the queue. */
  readonly waitedMs: number
  /** With a slot. */
  readonly ranMs: number
}

/** Which rows to profile, and in how much detail. */
export interface ProfileQuestion {
  readonly version: Version
  readonly predicates: readonly Predicate[]
  readonly columns: readonly Column[]
  /** A column with more distinct values than this has no list of values. */
  readonly valuesMax: number
  /** The same for columns of codes; `valuesMax` if omitted. */
  readonly codesMax?: number
  /** Whether columns get a histogram; false if omitted. */
  readonly withHistograms?: boolean
  /** Read at most this many rows, spread over the version before the predicates; null = all. */
  readonly rowsMax: number | null
}

/** What a column holds in the rows that were read. Values are JSON texts, as in rows. */
export interface ColumnProfile {
  /** Rows in which the column is served as null. */
  readonly emptyRows: number
  /** Null if there is no value, or the column has no useful order as text. */
  readonly min: string | null
  readonly max: string | null
  /** All distinct values, ascending; null if there are too many or their type is not listed. */
  readonly values: readonly string[] | null
  /** Rows with each of the values; null without values. */
  readonly valueRows: readonly number[] | null
  /** Of numbers, dates and timestamps with a range, if it was asked for. */
  readonly histogram: Histogram | null
}

/** Rows by ranges of values. */
export interface Histogram {
  /** JSON texts, ascending: a bin lies between two of them and includes the upper one. */
  readonly edges: readonly string[]
  /** Rows in each bin; the first bin also includes its lower edge. */
  readonly rows: readonly number[]
}

export interface Profile {
  /** Rows read that meet the predicates. */
  readonly rows: number
  /** In the order of the question's columns. */
  readonly columns: readonly ColumnProfile[]
}

/** The groups of a summary. */
export interface Summarized {
  /**
   * The first groups in order, at most `summary.limit`. UTF-8: a JSON object or a line of CSV
   * without its line end, of the groups and then the measures; empty if the groups are one file.
   */
  readonly rows: readonly Buffer[]
  /** All groups that meet `having`. */
  readonly groups: number
  /** The rows that meet the predicates. */
  readonly rowsMet: number
  /** All of the groups, if the summary's format is a file. */
  readonly file?: Buffer
}

/**
 * The port to a query engine. Each call waits for one of a limited number of slots.
 *
 * @throws service_unavailable when the queue is full, memory is short or a file can't be read;
 *   timeout at the end of the time limit
 */
export interface Engine {
  /** The rows that meet the question, in stored order; pages never repeat or miss a row. */
  read(question: Question, options: ReadOptions): Promise<Rows>
  /** The number of rows of the version that meet every predicate. */
  count(version: Version, predicates: readonly Predicate[], options: ReadOptions): Promise<number>
  /**
   * Profiles columns over every row that meets the predicates, or over a bounded sample of them.
   */
  profile(question: ProfileQuestion, options: ReadOptions): Promise<Profile>
  /**
   * The groups of the rows that meet the predicates. The same question over the same version has
   * the same answer to the last digit. Runs beside other queries, one at a time for a client.
   * @throws bad_request for a number that no type holds; timeout when the groups need more memory
   *   than there is
   */
  summarize(summary: Summary, options: ReadOptions): Promise<Summarized>
  /** The first rows by one column, in that order; like `summarize` in all else. */
  top(top: Top, options: ReadOptions): Promise<Rows>
  /** Stops every query and frees the engine. */
  close(): Promise<void>
}

/**
 * What differs between two versions, in the order of the key. It waits and fails like an engine.
 */
export type ReadChanges = (changes: Changes, options: ReadOptions) => Promise<Rows>
