import { constants, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { DuckDBPendingResultState } from '@duckdb/node-api'
import type {
  DuckDBConnection,
  DuckDBMaterializedResult,
  DuckDBPreparedStatement,
} from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import type { PendingResult } from '@duckdb/node-bindings'
import { threadIds } from '../../machine.js'

/** The pause before a query is asked again, as a share of the time that it has run. */
const pauseShare = 1 / 8
const pauseMinMs = 1
const pauseMaxMs = 20

/**
 * Gives an instance `count` threads of low priority: where cores are scarce, large work delays
 * look-ups, charges and the event loop by little. The instance must have one thread so far. Where
 * threads have no priority of their own, these are like all others.
 */
export async function startLowPriorityThreads(
  connection: DuckDBConnection,
  count: number,
): Promise<void> {
  // DuckDB counts the thread that asks, and starts the others before the statement that follows.
  const set = await connection.prepare(`SET GLOBAL threads = ${count + 1}`)
  const following = await connection.prepare('SELECT 1')
  const setting = set.start()
  const known = new Set(threadIds())
  // Without a pause, so that no other part of the program starts threads meanwhile.
  while (setting.runTask() !== DuckDBPendingResultState.RESULT_READY);
  const followed = following.start()
  for (const id of threadIds()) if (!known.has(id)) lowerPriority(id)
  await followed.getResult()
  set.destroySync()
  following.destroySync()
}

/** Runs a statement on the threads of its instance alone; asks from time to time for its end. */
export async function runAtLowPriority(
  prepared: DuckDBPreparedStatement,
): Promise<DuckDBMaterializedResult> {
  const startedMs = performance.now()
  const pending = prepared.start()
  // Only the function below it asks without running a part of the query in this thread.
  const handle = pending['pending_result'] as PendingResult
  while (isRunning(handle)) {
    const ranMs = performance.now() - startedMs
    await sleep(Math.min(Math.max(ranMs * pauseShare, pauseMinMs), pauseMaxMs))
  }
  // It was not started as a stream.
  return (await pending.getResult()) as DuckDBMaterializedResult
}

function isRunning(handle: PendingResult): boolean {
  const state = duckdb.pending_execute_check_state(handle)
  const { NO_TASKS_AVAILABLE, RESULT_NOT_READY } = duckdb.PendingState
  return state === NO_TASKS_AVAILABLE || state === RESULT_NOT_READY
}

/** A process that may not change priorities works without. */
function lowerPriority(threadId: number): void {
  try {
    setPriority(threadId, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch (cause) {
    const { info } = cause as { readonly info?: { readonly code?: string } }
    if (info?.code !== 'EPERM' && info?.code !== 'EACCES') throw cause
  }
}
