import type { Clock } from '../../clock.js'
import type { Random } from '../../random.js'
import type { Sql } from './sql.js'
import type { SqliteFile } from './sqlite-file.js'

/** What a database says differently from the other; statements have everything else in common. */
export interface Dialect {
  /** True for an address that differs from this one at most in the case of ASCII letters. */
  readonly isEmail: (column: Sql, email: string) => Sql
}

/** What every store is given. */
export interface StoreParts {
  readonly clock: Clock
  readonly random: Random
}

/**
 * The control database: subscribers, subscriptions, grants, tokens and usage. A transaction that
 * has resolved survives a power cut. Several processes may use the same database.
 *
 * Reads and writes reject with service_unavailable when the database can't be used.
 */
export interface ControlStore {
  /** Who writes, for the audit trail: the OS user of a command, or `server`. */
  readonly actor: string

  /** Draws the ids and the secrets of new records. */
  readonly random: Random

  readonly dialect: Dialect

  /** The file, where the database is one: then it can be damaged, or another can take its place. */
  readonly file: SqliteFile | null

  /** All rows of a statement; the caller states their type. */
  all: <Row>(statement: Sql) => Promise<Row[]>

  /** Runs a statement without result rows; resolves to the number of rows that it changed. */
  run: (statement: Sql) => Promise<number>

  /**
   * Runs `work` in one transaction: all of it is durable once this resolves, none of it if it
   * rejects, and no other process writes in between, except charges. Only `tx` takes part in the
   * transaction. Its own `write` joins it; if that one rejects, only its own writes are undone.
   */
  write: <T>(work: (tx: ControlStore) => Promise<T>) => Promise<T>

  /** Ends all connections, after the transactions that were begun. A second call does nothing. */
  close: () => Promise<void>
}
