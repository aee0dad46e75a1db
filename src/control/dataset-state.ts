import { recordAction } from './audit.js'
import type { AuditedAction } from './audit.js'
import { sql, upsertInto } from './store/sql.js'
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
  /** Since when it is the same, in ms since the epoch; null without one. */
  readonly reasonSince: number | null
  /** What callers may misread in the served version, for the operator. */
  readonly warnings: readonly string[]
  readonly rows: number | null
  readonly files: number | null
  /** How the versions folder holds the files: linked or copied; null = no version. */
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

/** A state as the server reports it: since when comes from the states before. */
export type ReportedState = Omit<DatasetState, 'reasonSince'>

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
 * states, also if an earlier server saved them; returns that.
 */
export async function saveDatasetStates(
  store: ControlStore,
  names: readonly string[],
  changed: readonly ReportedState[],
  registry: RegistryState,
): Promise<readonly AuditedAction[]> {
  return await store.write(async (tx) => {
    const before = new Map((await listDatasetStates(tx)).map((state) => [state.dataset, state]))
    const wasRefused = (await readRegistryState(tx))?.reason ?? null
    const kept = new Set(names)
    const removed = [...before.keys()].filter((dataset) => !kept.has(dataset))
    for (const dataset of removed) {
      await tx.run(sql`DELETE FROM dataset_state WHERE dataset = ${dataset}`)
    }
    const states = changed.map((state) => withSince(state, before.get(state.dataset)))
    for (const state of states) await saveState(tx, state)
    const { reason, updatedAt: now } = registry
    await tx.run(upsertInto('registry_state', 'id', { id: 1, reason, updatedAt: now }))
    const refused = reason === null || reason === wasRefused ? [] : [reason]
    const actions: readonly AuditedAction[] = [
      ...removed.map((subject) => ({ action: 'dataset.removed', subject, now }) as const),
      ...states.flatMap((state) => transitions(before.get(state.dataset), state)),
      ...refused.map((found) => refusalOf(found, now)),
    ]
    for (const action of actions) await recordAction(tx, action)
    return actions
  })
}

function withSince(state: ReportedState, before: DatasetState | undefined): DatasetState {
  const { reason, updatedAt } = state
  if (reason === null) return { ...state, reasonSince: null }
  const isSame = before?.reason === reason
  return { ...state, reasonSince: (isSame ? before.reasonSince : null) ?? updatedAt }
}

async function saveState(store: ControlStore, state: DatasetState): Promise<void> {
  const warnings = JSON.stringify(state.warnings)
  await store.run(upsertInto('dataset_state', 'dataset', { ...state, warnings }))
}

function refusalOf(reason: string, now: number): AuditedAction {
  return { action: 'registry.refused', subject: 'registry.yaml', details: { reason }, now }
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
export async function listDatasetStates(store: ControlStore): Promise<DatasetState[]> {
  const rows = await store.all<Omit<DatasetState, 'warnings'> & { readonly warnings: string }>(
    sql`SELECT dataset, version, status, reason, reason_since AS "reasonSince", warnings, rows,
       files, stored, packing, disk_bytes AS "diskBytes", earlier, updated_at AS "updatedAt"
     FROM dataset_state ORDER BY dataset`,
  )
  // What `saveState` wrote.
  return rows.map((row) => ({ ...row, warnings: JSON.parse(row.warnings) as readonly string[] }))
}

/** The registry state that the server saved last; undefined before its first start. */
export async function readRegistryState(store: ControlStore): Promise<RegistryState | undefined> {
  return (
    await store.all<RegistryState>(
      sql`SELECT reason, updated_at AS "updatedAt" FROM registry_state`,
    )
  )[0]
}
