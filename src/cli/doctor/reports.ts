import { listDatasetStates, readRegistryState } from '../../control/dataset-state.js'
import type { DatasetState, RegistryState } from '../../control/dataset-state.js'
import type { ControlStore } from '../../control/store/store.js'

/** What the server of a state folder reported last. */
export interface Reports {
  readonly datasets: readonly DatasetState[]
  readonly registry: RegistryState | undefined
}

/** The reports in control.db, or in server.db beside a PostgreSQL. */
export async function readReports(store: ControlStore): Promise<Reports> {
  return { datasets: await listDatasetStates(store), registry: await readRegistryState(store) }
}
