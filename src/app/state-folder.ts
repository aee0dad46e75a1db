import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { versionsFolderOf } from '../catalog/catalog.js'
import type { Catalog } from '../catalog/catalog.js'
import { saveDatasetStates } from '../control/dataset-state.js'
import type { ControlStore } from '../control/store.js'

/** Makes the folders of a server's state, for its owner alone, and empties the one for spills. */
export async function prepareState(folder: string) {
  const state = { folder: resolve(folder), versions: versionsFolderOf(folder), temp: '' }
  state.temp = join(state.folder, 'tmp')
  await mkdir(state.folder, { recursive: true, mode: 0o700 })
  await rm(state.temp, { recursive: true, force: true })
  await mkdir(state.temp, { mode: 0o700 })
  await mkdir(state.versions, { recursive: true, mode: 0o700 })
  return state
}

/** What became of each dataset goes to the log, and to the store where `das dataset list` reads. */
export function reportDatasets(
  catalog: Catalog,
  control: ControlStore,
  logger: FastifyBaseLogger,
  updatedAt: number,
): void {
  const datasets = [...catalog.datasets.values()]
  for (const { name, version, reason } of datasets) {
    if (version) logger.info({ dataset: name, version: version.id, rows: version.rows }, 'serving')
    else logger.error({ dataset: name, reason }, 'dataset unavailable')
  }
  saveDatasetStates(
    control,
    datasets.map(({ name, version, reason }) => ({
      dataset: name,
      version: version?.id ?? null,
      status: version ? 'serving' : 'unavailable',
      reason,
      rows: version?.rows ?? null,
      updatedAt,
    })),
  )
}
