import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBValue } from '@duckdb/node-api'
import { interruptible, runPrepared, runStatement } from './run-statement.js'
import type { Statement } from './run-statement.js'

/** More statements than this are not kept: the one unused for longest is closed. */
const keptMax = 64

/**
 * A connection that keeps its statements prepared: to prepare one takes a quarter of a look-up.
 * Files and values are bound, so one statement serves all questions of one form; between two runs
 * it holds no file open.
 */
export class Session {
  /** The folder for files of its own; null = it writes none. */
  readonly tempFolder: string | null
  readonly #connection: DuckDBConnection
  /** By SQL text, the one unused for longest first. */
  readonly #kept = new Map<string, DuckDBPreparedStatement>()

  constructor(connection: DuckDBConnection, tempFolder: string | null) {
    this.#connection = connection
    this.tempFolder = tempFolder
  }

  /**
   * Runs one statement to its whole result, as columns; one at a time. Close the session after a
   * failure: an interrupt may still arrive.
   */
  run(statement: Statement, signal: AbortSignal): Promise<DuckDBValue[][]> {
    return interruptible(this.#connection, signal, async () =>
      runPrepared(await this.#prepare(statement.sql), statement, signal),
    )
  }

  /** The same without keeping it prepared: DuckDB runs a prepared CREATE TABLE only once. */
  runOnce(statement: Statement, signal: AbortSignal): Promise<DuckDBValue[][]> {
    return runStatement(this.#connection, statement, signal)
  }

  close(): void {
    for (const prepared of this.#kept.values()) prepared.destroySync()
    this.#kept.clear()
    this.#connection.disconnectSync()
  }

  async #prepare(sql: string): Promise<DuckDBPreparedStatement> {
    const known = this.#kept.get(sql)
    this.#kept.delete(sql)
    const prepared = known ?? (await this.#connection.prepare(sql))
    this.#kept.set(sql, prepared)
    const [oldest] = this.#kept
    if (this.#kept.size > keptMax && oldest) {
      this.#kept.delete(oldest[0])
      oldest[1].destroySync()
    }
    return prepared
  }
}
