import { mkdir, readdir, rm } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { registryDataset } from './dataset.js'
import type { Dataset } from './dataset.js'
import { openDataset } from './open-dataset.js'
import type { OpenOptions } from './open-dataset.js'
import { FileError } from './opener.js'
import { readText } from './read-text.js'
import { RegistryError, parseRegistry } from './registry.js'
import type { Registry } from './registry.js'

/** A frozen picture of all datasets; a request takes one and keeps it to its end. */
export interface Catalog {
  readonly datasets: ReadonlyMap<string, Dataset>
  readonly demo: Registry['demo']
}

/**
 * Reads registry.yaml.
 * @throws RegistryError naming line, column and the nearest right spelling of every mistake
 */
export async function readRegistry(path: string): Promise<Registry> {
  try {
    return parseRegistry(await readText(path), path)
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause
    const hint = ' Start in its folder, or name it: DAS_REGISTRY, --registry.'
    const isMissing = cause.reason === 'is not there'
    throw new RegistryError([`${basename(path)} ${cause.reason}.${isMissing ? hint : ''}`])
  }
}

/**
 * Opens every dataset of the registry, one after another, or the one named `only`. A dataset that
 * can't be opened has no version and a reason; the others are served all the same. What was
 * published of datasets that the registry does not name is removed.
 */
export async function openCatalog(
  registry: Registry,
  options: OpenOptions,
  only?: string,
): Promise<Catalog> {
  const { versionsFolder } = options
  if (versionsFolder !== null) await mkdir(versionsFolder, { recursive: true, mode: 0o700 })
  const datasets = new Map<string, Dataset>()
  for (const [name, entry] of registry.datasets) {
    const isWanted = only === undefined || only === name
    const dataset = isWanted
      ? await openDataset(name, entry, registry, options)
      : registryDataset(name, entry)
    datasets.set(name, dataset)
  }
  if (versionsFolder !== null) await removeOtherDatasets(versionsFolder, registry.datasets)
  return Object.freeze({ datasets, demo: registry.demo })
}

async function removeOtherDatasets(
  versionsFolder: string,
  datasets: ReadonlyMap<string, unknown>,
): Promise<void> {
  for (const name of await readdir(versionsFolder)) {
    if (!datasets.has(name)) await rm(join(versionsFolder, name), { recursive: true, force: true })
  }
}

/** Where published versions live in the state folder. */
export function versionsFolderOf(stateFolder: string): string {
  return join(resolve(stateFolder), 'versions')
}
