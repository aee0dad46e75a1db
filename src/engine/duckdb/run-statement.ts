import { setImmediate } from 'node:timers/promises'
import { DuckDBListValue } from '@duckdb/node-api'
import type {
  DuckDBConnection,
  DuckDBMaterializedResult,
  DuckDBPreparedStatement,
  DuckDBValue,
} from '@duckdb/node-api'
import { machineClock } from '../../clock.js'
import type { BoundValue } from './bind.js'
import { keepByteOrderMarks } from './decode-text.js'

keepByteOrderMarks()

/** SQL built from our own literals and catalog names; every other value is bound. */
export interface Statement {
  readonly sql: string
  /** Bound to $1, $2, … in this order. */
  readonly values?: readonly BoundValue[]
}

/** Runs one statement and returns its whole result, as columns. */
export type RunStatement = (statement: Statement) => Promise<unknown[][]>

/** Runs a prepared statement whose values are bound; the signal aborts when it is interrupted. */
export type Execute = (
  prepared: DuckDBPreparedStatement,
  signal: AbortSignal,
) => Promise<DuckDBMaterializedResult>

/** A thread of Node's pool runs it, and those of its instance help. */
export const executeInPool: Execute = (prepared) => prepared.run()

/** An interrupt is lost if the query still waits for a thread, so it is sent repeatedly. */
const interruptEveryMs = 25

/** Binding this many values takes milliseconds; the event loop does other work in between. */
const valuesAtOnce = 5000

/**
 * Planning takes a millisecond for each thousand letters of a statement. Work of low priority is
 * planned on the event loop: only as short a statement is.
 */
const lettersOnLoopMax = 20_000

/** Runs the statements of one piece of work, until the signal aborts. */
export function runnerOn(connection: DuckDBConnection, signal: AbortSignal): RunStatement {
  return (statement) => runStatement(connection, statement, signal)
}

/**
 * Runs one statement and returns its whole result, as columns. When the signal aborts, the query is
 * interrupted until it stops; then the call rejects with the signal's reason. It avoids the
 * streaming interface, which reports a query that failed midway as a shorter result.
 */
export function runStatement(
  connection: DuckDBConnection,
  statement: Statement,
  signal: AbortSignal,
  execute?: Execute,
): Promise<DuckDBValue[][]> {
  return interruptible(connection, signal, async () => {
    const prepared = await connection.prepare(statement.sql)
    try {
      return await runPrepared(prepared, statement, signal, execute)
    } finally {
      prepared.destroySync()
    }
  })
}

/** Runs a prepared statement; the caller wraps it in `interruptible`. */
export async function runPrepared(
  prepared: DuckDBPreparedStatement,
  { sql, values = [] }: Statement,
  signal: AbortSignal,
  execute: Execute = executeInPool,
): Promise<DuckDBValue[][]> {
  let bound = 0
  for (const [index, { value, type }] of values.entries()) {
    prepared.bindValue(index + 1, value, type)
    bound += value instanceof DuckDBListValue ? value.items.length : 1
    if (bound < valuesAtOnce) continue
    await setImmediate()
    bound = 0
  }
  signal.throwIfAborted()
  const isShort = sql.length <= lettersOnLoopMax
  const result = await (isShort ? execute : executeInPool)(prepared, signal)
  // The result is complete: asynchronous calls would use the thread pool for each chunk.
  const columns: DuckDBValue[][] = Array.from({ length: result.columnCount }, () => [])
  for (let index = 0; index < result.chunkCount; index++) {
    const chunk = result.getChunk(index)
    for (const [place, column] of columns.entries()) chunk.appendColumnValues(place, column)
  }
  return columns
}

/** Runs work that ends soon after the signal aborts, with the signal's reason. */
export async function interruptible<T>(
  connection: DuckDBConnection,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  let stopTimer: (() => void) | undefined
  const stop = () => {
    connection.interrupt()
    stopTimer = machineClock.every(interruptEveryMs, () => connection.interrupt())
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await work()
  } catch (cause) {
    signal.throwIfAborted()
    throw cause
  } finally {
    signal.removeEventListener('abort', stop)
    stopTimer?.()
  }
}

/** A cell of a result that holds a text or null. */
export function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value)
}
