import { recordAction } from './audit.js'
import type { AuditedAction } from './audit.js'
import type { ControlStore } from './store/store.js'

/**
 * `stale`: the last good version is served, because the newest files or the registry are refused.
 * `unavailable`: no version can be served.
 */
type DatasetStatus = 'serving' | 'stale' | 'unavailable'

/** A dataset's state in the running server, for `das dataset list`. */
export interface DatasetState {
  readonly dataset: string
  /** The version that is served, or null. */
  readonly version: string | null
  readonly status: DatasetStatus
  /** The reason for another status than `serving`, for the operator. */
  readonly reason: string | null
  readonly rows: number | null
  readonly files: number | null
  /** How the versions folder holds the files: linked, copied or packed; null = no version. */
  readonly stored: string | null
  /** The state of packing, for the operator; null = nothing to report. */
  readonly packing: string | null
  /** Bytes of all kept versions on the disk, without files that are links to the sources. */
  readonly diskBytes: number
  /** The number of superseded versions that are kept for cursors. */
  readonly earlier: number
  /** Ms since the epoch. */
  readonly updatedAt: number
}

/** The server's last verdict on its registry. */
export interface RegistryState {
  /** Why the current registry.yaml is refused; null = it is in use. */
  readonly reason: string | null
  /** Ms since the epoch. */
  readonly updatedAt: number
}

/**
 * Saves the states that changed, all or nothing, and removes those of datasets that are not in
 * `names`, because they left the registry. The audit trail gets what differs from the last saved
 * states, also if an earlier server saved them.
 */
export function saveDatasetStates(
  store: ControlStore,
  names: readonly string[],
  changed: readonly DatasetState[],
  registry: RegistryState,
): void {
  store.write(() => {
    const before = new Map(listDatasetStates(store).map((state) => [state.dataset, state]))
    const wasRefused = readRegistryState(store)?.reason ?? null
    store.run(
      'DELETE FROM dataset_state WHERE dataset NOT IN (SELECT value FROM json_each(@names))',
      {
        names: JSON.stringify(names),
      },
    )
    for (const state of changed) {
      store.run(
        `INSERT OR REPLACE INTO dataset_state (dataset, version, status, reason, rows, files,
           stored, packing, disk_bytes, earlier, updated_at)
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
    const kept = new Set(names)
    const now = registry.updatedAt
    for (const dataset of before.keys()) {
      if (!kept.has(dataset)) {
        recordAction(store, { action: 'dataset.removed', subject: dataset, now })
      }
    }
    for (const state of changed) {
      for (const action of transitions(before.get(state.dataset), state)) {
        recordAction(store, action)
      }
    }
    const { reason } = registry
    if (reason === null || reason === wasRefused) return
    recordAction(store, {
      action: 'registry.refused',
      subject: 'registry.yaml',
      details: { reason },
      now,
    })
  })
}

/** What happened to a dataset since its last saved state. */
function transitions(before: DatasetState | undefined, state: DatasetState): AuditedAction[] {
  const { dataset: subject, version, status, rows, files, reason, updatedAt: now } = state
  const happened: AuditedAction[] = []
  if (version !== null && version !== before?.version) {
    const details = { version, rows, files, replaced: before?.version ?? null }
    happened.push({ action: 'version.published', subject, details, now })
  }
  if (reason !== null && reason !== before?.reason) {
    happened.push({ action: troubles[status], subject, details: { version, reason }, now })
  }
  return happened
}

/** What a reason means, by the status of its dataset. */
const troubles = {
  serving: 'version.damaged',
  stale: 'version.refused',
  unavailable: 'dataset.unavailable',
} as const

/** The states that the server saved last, by dataset name; empty before its first start. */
export function listDatasetStates(store: ControlStore): DatasetState[] {
  return store.all<DatasetState>(
    `SELECT dataset, version, status, reason, rows, files, stored, packing,
       disk_bytes AS diskBytes, earlier, updated_at AS updatedAt
     FROM dataset_state ORDER BY dataset`,
  )
}

/** The registry state that the server saved last; undefined before its first start. */
export function readRegistryState(store: ControlStore): RegistryState | undefined {
  return store.all<RegistryState>('SELECT reason, updated_at AS updatedAt FROM registry_state')[0]
}
