import { setImmediate } from 'node:timers/promises'
import { DuckDBListValue } from '@duckdb/node-api'
import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBValue } from '@duckdb/node-api'
import type { Statement } from './read/compile.js'

/** Runs one statement to its whole result, as columns. */
export type RunStatement = (statement: Statement) => Promise<unknown[][]>

/** An interrupt sent while the query still waits for a thread is lost, so it is sent again. */
const interruptEveryMs = 25

/** After so many values others have their turn: binding them takes the event loop milliseconds. */
const valuesAtOnce = 5000

/**
 * Runs one statement to its whole result, as columns. When the signal aborts, the query is
 * interrupted until it has really stopped; then the call rejects with the signal's reason.
 * Never the streaming interface: it reports a query that died midway as a shorter result.
 */
export function runStatement(
  connection: DuckDBConnection,
  statement: Statement,
  signal: AbortSignal,
): Promise<DuckDBValue[][]> {
  return interruptible(connection, signal, async () => {
    const prepared = await connection.prepare(statement.sql)
    try {
      return await runPrepared(prepared, statement, signal)
    } finally {
      prepared.destroySync()
    }
  })
}

/** Runs a statement that is prepared already; `interruptible` is around it. */
export async function runPrepared(
  prepared: DuckDBPreparedStatement,
  { values }: Statement,
  signal: AbortSignal,
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
  const result = await prepared.run()
  // All of it is here: the asynchronous calls would go to the thread pool and back for each chunk.
  const columns: DuckDBValue[][] = Array.from({ length: result.columnCount }, () => [])
  for (let index = 0; index < result.chunkCount; index++) {
    const chunk = result.getChunk(index)
    for (const [place, column] of columns.entries()) chunk.appendColumnValues(place, column)
  }
  return columns
}

/** Work on a connection that ends soon after the signal aborts, with the signal's reason. */
export async function interruptible<T>(
  connection: DuckDBConnection,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  let timer: NodeJS.Timeout | undefined
  const stop = () => {
    connection.interrupt()
    timer = setInterval(() => connection.interrupt(), interruptEveryMs)
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await work()
  } catch (cause) {
    signal.throwIfAborted()
    throw cause
  } finally {
    signal.removeEventListener('abort', stop)
    clearInterval(timer)
  }
}
