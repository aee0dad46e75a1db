import { join } from 'node:path'
import { machineClock } from '../../clock.js'
import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBValue } from '@duckdb/node-api'
import { executeInPool, interruptible, runPrepared, runStatement } from './run-statement.js'
import type { Execute, Statement } from './run-statement.js'

/** With more statements than this, the least recently used one is closed. */
const keptMax = 64
/** Longer, the event loop must not plan. */
const planMsMax = 30

/** Whether planning a statement over a file takes long; only of files that were read once. */
export type SlowFiles = Map<string, boolean>

/**
 * A connection that keeps its statements prepared: preparing one takes a quarter of a look-up.
 * Files and values are bound, so one statement serves all questions of one form; between two runs
 * it holds no file open.
 */
export class Session {
  readonly #tempFolder: string | null
  readonly #connection: DuckDBConnection
  #execute = executeInPool
  #slow: SlowFiles | null = null
  /** Statements by SQL text, the least recently used first. */
  readonly #kept = new Map<string, DuckDBPreparedStatement>()

  /** The session writes files below the temp folder, the only place where it may; null = none. */
  constructor(connection: DuckDBConnection, tempFolder: string | null) {
    this.#connection = connection
    this.#tempFolder = tempFolder
  }

  /**
   * How statements run from now on; a thread of Node's pool runs them otherwise. Where `execute`
   * plans on the event loop, `slow` says for which files that would take too long.
   */
  runWith(execute: Execute, slow: SlowFiles | null): void {
    this.#execute = execute
    this.#slow = slow
  }

  /**
   * Runs one statement and returns its whole result, as columns; one at a time. Close the session
   * after a failure: an interrupt may still arrive.
   */
  run(statement: Statement, signal: AbortSignal): Promise<DuckDBValue[][]> {
    return interruptible(this.#connection, signal, async () => {
      const execute = (await this.#isSlow(statement, signal)) ? executeInPool : this.#execute
      return runPrepared(await this.#prepare(statement.sql), statement, signal, execute)
    })
  }

  /** Runs a statement without keeping it: DuckDB runs a prepared CREATE TABLE only once. */
  runOnce(statement: Statement, signal: AbortSignal): Promise<DuckDBValue[][]> {
    return runStatement(this.#connection, statement, signal, this.#execute)
  }

  /** The folder for files while they are written; it may not exist yet. */
  get filesFolder(): string {
    if (this.#tempFolder !== null) return join(this.#tempFolder, 'pages')
    throw new TypeError('an engine without a temp folder writes no files')
  }

  close(): void {
    for (const prepared of this.#kept.values()) prepared.destroySync()
    this.#kept.clear()
    this.#connection.disconnectSync()
  }

  /** Plans the first statement of a file in the pool: it may take a tenth of a second. */
  async #isSlow({ sql, values = [] }: Statement, signal: AbortSignal): Promise<boolean> {
    const slow = this.#slow
    const paths = slow ? values.flatMap((value) => value.paths ?? []) : []
    if (paths.some((path) => slow?.get(path) === undefined)) {
      const started = machineClock.monotonicMs()
      await runStatement(this.#connection, { sql: `EXPLAIN ${sql}`, values }, signal)
      const isSlow = machineClock.monotonicMs() - started > planMsMax
      for (const path of paths) slow?.set(path, slow.get(path) ?? isSlow)
    }
    return paths.some((path) => slow?.get(path))
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
