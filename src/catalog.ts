import { mkdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { registryDataset } from './catalog/dataset.js'
import type { Dataset } from './catalog/dataset.js'
import { openDataset } from './catalog/open-dataset.js'
import type { OpenOptions } from './catalog/open-dataset.js'
import { readText } from './catalog/read-text.js'
import { titleIn } from './registry/portal-schema.js'
import { RegistryError, parseRegistry } from './registry/registry.js'
import type { Registry } from './registry/registry.js'
import { DiskSpace } from './versions/disk-space.js'
import type { DiskSpaceOptions } from './versions/disk-space.js'
import { FileError } from './versions/opener.js'

/** A frozen snapshot of all datasets; a request uses one from beginning to end. */
export interface Catalog {
  readonly datasets: ReadonlyMap<string, Dataset>
  readonly demo: Registry['demo']
  readonly prompts: Registry['prompts']
  /** What the service is called, in English. */
  readonly title: string
}

/**
 * Reads registry.yaml and the files of its portal.
 * @throws RegistryError with file, line, column and correction of every mistake
 */
export async function readRegistry(path: string): Promise<Registry> {
  const registry = parseRegistry(await registryText(path), path)
  if (registry.portalFiles.length === 0) return registry
  return registry.withPortalFiles(await portalContents(registry))
}

async function portalContents(registry: Registry): Promise<ReadonlyMap<string, string>> {
  const { folder, portalFiles, locate } = registry
  const contents = new Map<string, string>()
  for (const { path, file } of portalFiles) {
    try {
      const text = await readText(resolve(folder, file))
      const isImage = path.at(-1) !== 'logo' || /<svg[\s>]/.test(text)
      if (!isImage) throw new FileError(file, 'has no <svg>: name an image in SVG')
      contents.set(file, text)
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      const problem = `${locate(path)}: ${path.join('.')}: ${file} ${cause.reason}.`
      throw new RegistryError([problem], { cause })
    }
  }
  return contents
}

async function registryText(path: string): Promise<string> {
  try {
    return await readText(path)
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause
    const hint =
      ' Start in its folder, give its path (DAS_REGISTRY, --registry), or write one: das init.'
    const isMissing = cause.reason === 'is not there'
    const problem = `${basename(path)} ${cause.reason}.${isMissing ? hint : ''}`
    throw new RegistryError([problem], { cause })
  }
}

/**
 * Opens all datasets of the registry, or only one. A dataset that can't be opened has a reason
 * instead of a version.
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
  const { demo, prompts, portal } = registry
  return Object.freeze({ datasets, demo, prompts, title: titleIn('en', portal) })
}

/** The folder of published versions in the state folder. */
export function versionsFolderOf(stateFolder: string): string {
  return join(resolve(stateFolder), 'versions')
}

/** The folder of fetched objects in the state folder. */
export function objectsFolderOf(stateFolder: string): string {
  return join(resolve(stateFolder), 'objects')
}

/** Where what differs between versions is stored. */
export function changesFolderOf(stateFolder: string): string {
  return join(resolve(stateFolder), 'changes')
}

/** The space that versions and fetched objects share; null = no limit. */
export function diskSpaceOf(
  stateFolder: string,
  limitBytes: number | null,
  onRemoved: DiskSpaceOptions['onRemoved'] = () => undefined,
): DiskSpace {
  const changes = changesFolderOf(stateFolder)
  const folders = [versionsFolderOf(stateFolder), objectsFolderOf(stateFolder), changes]
  return new DiskSpace({ folders, neededFolders: [changes], limitBytes, onRemoved })
}
