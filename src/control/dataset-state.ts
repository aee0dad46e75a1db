import type { ControlStore } from './store/store.js'

/**
 * `stale`: the last good version is served, since the newest files or the registry are refused.
 * `unavailable`: there is nothing to serve.
 */
type DatasetStatus = 'serving' | 'stale' | 'unavailable'

/** How a dataset fares in the running server, for `das dataset list`. */
export interface DatasetState {
  readonly dataset: string
  /** The version being served; null = none. */
  readonly version: string | null
  readonly status: DatasetStatus
  /** Why it is so, for the operator; null = nothing to say. */
  readonly reason: string | null
  readonly rows: number | null
  readonly files: number | null
  /** How the files lie in the versions folder: linked, copied or packed; null = no version. */
  readonly stored: string | null
  /** What packing is at, in words; null = nothing to do. */
  readonly packing: string | null
  /** Bytes on the disk that the sources do not already take, of all kept versions. */
  readonly diskBytes: number
  /** Superseded versions that are kept for walks. */
  readonly earlier: number
  /** Ms since the epoch. */
  readonly updatedAt: number
}

/** What the server last made of its registry. */
export interface RegistryState {
  /** Why registry.yaml as it stands is not followed; null = it is. */
  readonly reason: string | null
  /** Ms since the epoch. */
  readonly updatedAt: number
}

/**
 * Replaces the states of all datasets by these, all or nothing: a dataset that left the registry
 * leaves the list too.
 */
export function saveDatasetStates(
  store: ControlStore,
  states: readonly DatasetState[],
  registry: RegistryState,
): void {
  store.write(() => {
    store.run('DELETE FROM dataset_state')
    for (const state of states) {
      store.run(
        `INSERT INTO dataset_state (dataset, version, status, reason, rows, files, stored, packing,
           disk_bytes, earlier, updated_at)
         VALUES (@dataset, @version, @status, @reason, @rows, @files, @stored, @packing,
           @diskBytes, @earlier, @updatedAt)`,
        { ...state },
      )
    }
    store.run(
      `INSERT OR REPLACE INTO registry_state (id, reason, updated_at)
       VALUES (1, @reason, @updatedAt)`,
      { ...registry },
    )
  })
}

/** The states that the server saved last, by dataset name; empty before its first start. */
export function listDatasetStates(store: ControlStore): DatasetState[] {
  return store.all<DatasetState>(
    `SELECT dataset, version, status, reason, rows, files, stored, packing,
       disk_bytes AS diskBytes, earlier, updated_at AS updatedAt
     FROM dataset_state ORDER BY dataset`,
  )
}

/** What the server saved last of its registry; undefined before its first start. */
export function readRegistryState(store: ControlStore): RegistryState | undefined {
  return store.all<RegistryState>('SELECT reason, updated_at AS updatedAt FROM registry_state')[0]
}
