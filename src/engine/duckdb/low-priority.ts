import { constants } from 'node:os'
import { DuckDBPendingResultState } from '@duckdb/node-api'
import type {
  DuckDBConnection,
  DuckDBMaterializedResult,
  DuckDBPreparedStatement,
} from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import type { PendingResult } from '@duckdb/node-bindings'
import { machineClock } from '../../clock.js'
import { givePriority, threadIds } from '../../machine.js'

/** The pause before a query is asked again, as a share of the time that it has run. */
const pauseShare = 1 / 8
const pauseMinMs = 1
const pauseMaxMs = 20

/**
 * Gives an instance `count` threads of low priority: where cores are scarce, large work delays
 * look-ups, charges and the event loop by little. The instance must have one thread so far.
 * Returns false where that is not possible: then it has `count` ordinary threads.
 */
export async function startLowPriorityThreads(
  connection: DuckDBConnection,
  count: number,
): Promise<boolean> {
  const ids = await startThreads(connection, count)
  if (givePriority(ids, constants.priority.PRIORITY_BELOW_NORMAL) > 0) return true
  await connection.run(`SET GLOBAL threads = ${count}`)
  return false
}

/** Starts `count` threads, and returns them. */
async function startThreads(connection: DuckDBConnection, count: number) {
  // DuckDB counts the thread that asks, and starts the others before the statement that follows.
  const set = await connection.prepare(`SET GLOBAL threads = ${count + 1}`)
  const following = await connection.prepare('SELECT 1')
  const setting = set.start()
  const known = new Set(threadIds())
  // Without a pause, so that no other part of the program starts threads meanwhile.
  while (setting.runTask() !== DuckDBPendingResultState.RESULT_READY);
  const followed = following.start()
  const ids = threadIds().filter((id) => !known.has(id))
  await followed.getResult()
  set.destroySync()
  following.destroySync()
  return ids
}

/**
 * Runs a statement on the threads of its instance alone, and asks from time to time for its end.
 * From when `isAllowed` is false, a thread of Node's pool works for it too.
 */
export async function runAtLowPriority(
  prepared: DuckDBPreparedStatement,
  isAllowed: () => boolean,
): Promise<DuckDBMaterializedResult> {
  const startedMs = machineClock.monotonicMs()
  const pending = prepared.start()
  // Only the function below it asks without running a part of the query in this thread.
  const handle = pending['pending_result'] as PendingResult
  while (isAllowed() && isRunning(handle)) {
    const ranMs = machineClock.monotonicMs() - startedMs
    await machineClock.sleep(Math.min(Math.max(ranMs * pauseShare, pauseMinMs), pauseMaxMs))
  }
  // It was not started as a stream.
  return (await pending.getResult()) as DuckDBMaterializedResult
}

/** DuckDB says ERROR of a query that failed or is complete, RESULT_READY of one that pauses. */
function isRunning(handle: PendingResult): boolean {
  return duckdb.pending_execute_check_state(handle) !== duckdb.PendingState.ERROR
}
