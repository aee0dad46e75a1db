import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBValue } from '@duckdb/node-api'
import type { Statement } from './read/compile.js'
import { interruptible, runPrepared, runStatement } from './run-statement.js'

/** Shapes of questions that come again and again; beyond them, the one longest unused goes. */
const keptMax = 64

/**
 * A connection that keeps its statements prepared: preparing one anew costs a quarter of a look-up.
 * Files and values are bound, so one statement serves all questions of a shape; between two runs it
 * holds no file open.
 */
export class Session {
  /** Where it may write files of its own; null = nowhere. */
  readonly tempFolder: string | null
  readonly #connection: DuckDBConnection
  /** By SQL text, the one longest unused first. */
  readonly #kept = new Map<string, DuckDBPreparedStatement>()

  constructor(connection: DuckDBConnection, tempFolder: string | null) {
    this.#connection = connection
    this.tempFolder = tempFolder
  }

  /**
   * Runs one statement to its whole result, as columns; one at a time. After a failure the session
   * is to be closed: an interrupt may still be under way.
   */
  run(statement: Statement, signal: AbortSignal): Promise<DuckDBValue[][]> {
    return interruptible(this.#connection, signal, async () =>
      runPrepared(await this.#prepare(statement.sql), statement, signal),
    )
  }

  /** The same without keeping it prepared: DuckDB runs a prepared CREATE TABLE right but once. */
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
