import { readFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { buildDataset, describeDataset } from './dataset.js'
import type { Dataset, ReadFile } from './dataset.js'
import { parseDictionary } from './dictionary.js'
import type { DictionaryEntry } from './dictionary.js'
import { FileError } from './opener.js'
import type { OpenFiles } from './opener.js'
import { publishFiles, removeOtherVersions } from './publish.js'
import { RegistryError, listOf, parseRegistry } from './registry.js'
import type { Registry } from './registry.js'
import type { DatasetEntry } from './registry-schema.js'
import { findSourceFiles } from './source-files.js'
import type { SourceFile } from './source-files.js'

/** A frozen picture of all datasets; a request takes one and keeps it to its end. */
export interface Catalog {
  readonly datasets: ReadonlyMap<string, Dataset>
  readonly demo: Registry['demo']
}

export interface CatalogOptions {
  readonly openFiles: OpenFiles
  /** Where versions are linked; null opens the sources in place, to check and not to serve. */
  readonly versionsFolder: string | null
}

/**
 * Reads registry.yaml.
 * @throws RegistryError naming line, column and the nearest right spelling of every mistake
 */
export async function readRegistry(path: string): Promise<Registry> {
  try {
    return parseRegistry(await readFile(path, 'utf8'), path)
  } catch (cause) {
    if (cause instanceof RegistryError) throw cause
    const code = (cause as NodeJS.ErrnoException).code ?? 'error'
    throw new RegistryError([
      code === 'ENOENT'
        ? `${basename(path)} is not there. Start in its folder, or name it: DAS_REGISTRY, --registry.`
        : `${basename(path)} can't be read (${code}).`,
    ])
  }
}

/**
 * Opens every dataset of the registry, one after another. A dataset that can't be opened has no
 * version and a reason; the others are served all the same.
 */
export async function openCatalog(registry: Registry, options: CatalogOptions): Promise<Catalog> {
  const datasets = new Map<string, Dataset>()
  for (const [name, entry] of registry.datasets) {
    datasets.set(name, await openDataset(name, entry, registry, options))
  }
  return Object.freeze({ datasets, demo: registry.demo })
}

async function openDataset(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
  options: CatalogOptions,
): Promise<Dataset> {
  try {
    const sources = await findSourceFiles(registry.folder, listOf(entry.files))
    const dictionary = await readDictionary(name, entry, registry)
    const files = await readFiles(name, entry, sources, options)
    const { dataset, problems } = buildDataset(name, registry, entry, files, dictionary)
    if (problems.length > 0) throw new RegistryError(problems)
    const [first] = files
    if (options.versionsFolder !== null && first) {
      await removeOtherVersions(options.versionsFolder, name, dirname(first.path))
    }
    return dataset
  } catch (cause) {
    const reason = reasonOf(cause, registry.folder)
    return Object.freeze({ ...describeDataset(name, entry), reason })
  }
}

/** Files relative to the registry: a reason may stand in a log or an owner's terminal. */
function reasonOf(cause: unknown, folder: string): string {
  if (cause instanceof FileError) return `${relative(folder, cause.path)} ${cause.reason}`
  if (cause instanceof Error) return cause.message
  return String(cause)
}

async function readDictionary(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
): Promise<ReadonlyMap<string, DictionaryEntry>> {
  if (entry.dictionary === undefined) return new Map()
  try {
    return parseDictionary(await readFile(resolve(registry.folder, entry.dictionary), 'utf8'))
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    const why = code === 'ENOENT' ? 'is not there' : (cause as Error).message
    const place = registry.locate(['datasets', name, 'dictionary'])
    throw new RegistryError([`${place}: dictionary ${entry.dictionary}: ${why}`])
  }
}

async function readFiles(
  name: string,
  entry: DatasetEntry,
  sources: readonly SourceFile[],
  { openFiles, versionsFolder }: CatalogOptions,
): Promise<readonly ReadFile[]> {
  const paths =
    versionsFolder === null
      ? sources.map((source) => source.path)
      : (await publishFiles(versionsFolder, name, sources)).paths
  const bounded = boundedSources(entry)
  try {
    const opened = await openFiles(paths, bounded)
    return sources.flatMap((source, index) => {
      const [path, file] = [paths[index], opened[index]]
      return path !== undefined && file ? [{ source, path, opened: file }] : []
    })
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause
    const source = sources[paths.indexOf(cause.path)]
    throw new FileError(source?.path ?? cause.path, cause.reason, cause)
  }
}

/** Key and history columns by the files' own names: the registry speaks of shown ones. */
function boundedSources(entry: DatasetEntry): readonly string[] {
  const shown = new Set([...listOf(entry.key), ...listOf(entry.history)])
  const renamed = new Map(
    Object.entries(entry.columns ?? {}).flatMap(([source, { name }]) =>
      name === undefined ? [] : [[name, source] as const],
    ),
  )
  return [...shown].map((name) => renamed.get(name) ?? name)
}

/** Where published versions live in the state folder. */
export function versionsFolderOf(stateFolder: string): string {
  return join(resolve(stateFolder), 'versions')
}
