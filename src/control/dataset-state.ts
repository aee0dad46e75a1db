import type { ControlStore } from './store.js'

/** How a dataset fares in the running server, for `das dataset list`. */
export interface DatasetState {
  readonly dataset: string
  /** The version being served; null = none. */
  readonly version: string | null
  readonly status: string
  /** Why it is so, for the operator; null = nothing to say. */
  readonly reason: string | null
  readonly rows: number | null
  /** Ms since the epoch. */
  readonly updatedAt: number
}

/**
 * Replaces the states of all datasets by these, all or nothing: a dataset that left the registry
 * leaves the list too.
 */
export function saveDatasetStates(store: ControlStore, states: readonly DatasetState[]): void {
  store.write(() => {
    store.run('DELETE FROM dataset_state')
    for (const state of states) {
      store.run(
        `INSERT INTO dataset_state (dataset, version, status, reason, rows, updated_at)
         VALUES (@dataset, @version, @status, @reason, @rows, @updatedAt)`,
        { ...state },
      )
    }
  })
}

/** The states that the server saved last, by dataset name; empty before its first start. */
export function listDatasetStates(store: ControlStore): DatasetState[] {
  return store.all<DatasetState>(
    `SELECT dataset, version, status, reason, rows, updated_at AS updatedAt
     FROM dataset_state ORDER BY dataset`,
  )
}
