import { relative, resolve } from 'node:path'
import type { ReadFile } from './build-version.js'
import { buildDataset, registryDataset } from './dataset.js'
import type { Dataset } from './dataset.js'
import { parseDictionary } from './dictionary.js'
import type { Dictionary } from './dictionary.js'
import { readKnownHashes } from './known-hashes.js'
import { FileError } from './opener.js'
import type { OpenFiles } from './opener.js'
import { publishFiles, removeOtherVersions } from './publish.js'
import { readText } from './read-text.js'
import { RegistryError, listOf } from './registry.js'
import type { Registry } from './registry.js'
import type { DatasetEntry } from './registry-schema.js'
import { findSourceFiles } from './source-files.js'
import type { SourceFile } from './source-files.js'

export interface OpenOptions {
  readonly openFiles: OpenFiles
  /** Where versions are linked; null opens the sources in place, to check and not to serve. */
  readonly versionsFolder: string | null
}

const noHashes: ReadonlyMap<string, string> = new Map()

/**
 * Opens one dataset: finds its files, publishes them, has the engine read them and joins what it
 * finds with the registry's words. A dataset that can't be opened has no version and a reason.
 */
export async function openDataset(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
  options: OpenOptions,
): Promise<Dataset> {
  const { versionsFolder, openFiles } = options
  try {
    const dictionary = await readDictionary(name, entry, registry)
    const known = versionsFolder === null ? noHashes : await readKnownHashes(versionsFolder, name)
    const sources = await findSourceFiles(registry.folder, listOf(entry.files), known)
    const published = versionsFolder && (await publishFiles(versionsFolder, name, sources))
    const paths = published ? published.paths : sources.map(({ realPath }) => realPath)
    const files = await readFiles(sources, paths, boundedColumns(entry), openFiles)
    const { dataset, problems } = buildDataset(name, registry, entry, files, dictionary)
    if (problems.length > 0) throw new RegistryError(problems)
    if (published) await removeOtherVersions(versionsFolder, name, published.folder)
    return dataset
  } catch (cause) {
    const reason = reasonOf(cause, registry.folder)
    return Object.freeze({ ...registryDataset(name, entry), reason })
  }
}

async function readDictionary(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
): Promise<Dictionary> {
  if (entry.dictionary === undefined) return new Map()
  try {
    return parseDictionary(await readText(resolve(registry.folder, entry.dictionary)))
  } catch (cause) {
    const why = cause instanceof FileError ? cause.reason : (cause as Error).message
    const place = registry.locate(['datasets', name, 'dictionary'])
    throw new RegistryError([`${place}: dictionary ${entry.dictionary}: ${why}`])
  }
}

async function readFiles(
  sources: readonly SourceFile[],
  paths: readonly string[],
  boundsOf: readonly string[],
  openFiles: OpenFiles,
): Promise<readonly ReadFile[]> {
  try {
    const opened = await openFiles(paths, boundsOf)
    return sources.map((source, index) => {
      const [path, file] = [paths[index], opened[index]]
      if (path === undefined || !file) throw new Error('the engine left out a file')
      return { source, path, opened: file }
    })
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause
    const source = sources[paths.indexOf(cause.path)]
    throw new FileError(source?.path ?? cause.path, cause.reason, cause)
  }
}

/** Key and history columns by the files' own names: the registry speaks of shown ones. */
function boundedColumns(entry: DatasetEntry): readonly string[] {
  const renamed = new Map(
    Object.entries(entry.columns ?? {}).map(([source, { name }]) => [name ?? source, source]),
  )
  const shown = new Set([...listOf(entry.key), ...listOf(entry.history)])
  return [...shown].map((name) => renamed.get(name) ?? name)
}

/** In words that hold no absolute path: a reason may stand in a log or an owner's terminal. */
function reasonOf(cause: unknown, folder: string): string {
  if (cause instanceof FileError) return `${relative(folder, cause.path)} ${cause.reason}`
  if (!(cause instanceof Error)) return String(cause)
  const { code, syscall } = cause as NodeJS.ErrnoException
  return code && syscall ? `the versions folder can't be used (${syscall}: ${code})` : cause.message
}
