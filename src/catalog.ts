import { mkdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { registryDataset } from './catalog/dataset.js'
import type { Dataset } from './catalog/dataset.js'
import { openDataset } from './catalog/open-dataset.js'
import type { OpenOptions } from './catalog/open-dataset.js'
import { RegistryError, parseRegistry } from './registry/registry.js'
import type { Registry } from './registry/registry.js'
import { FileError } from './versions/opener.js'
import { readText } from './versions/read-text.js'

/** A frozen picture of all datasets; a request takes one and keeps it to its end. */
export interface Catalog {
  readonly datasets: ReadonlyMap<string, Dataset>
  readonly demo: Registry['demo']
  readonly prompts: Registry['prompts']
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
 * can't be opened has no version and a reason.
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
      ? (await openDataset(name, entry, registry, options)).dataset
      : registryDataset(name, entry)
    datasets.set(name, dataset)
  }
  return Object.freeze({ datasets, demo: registry.demo, prompts: registry.prompts })
}

/** Where published versions live in the state folder. */
export function versionsFolderOf(stateFolder: string): string {
  return join(resolve(stateFolder), 'versions')
}
