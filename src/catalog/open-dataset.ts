import { join, relative, resolve } from 'node:path'
import { parseDictionary } from '../registry/dictionary.js'
import type { Dictionary } from '../registry/dictionary.js'
import type { DatasetEntry } from '../registry/registry-schema.js'
import { RegistryError, listOf } from '../registry/registry.js'
import type { Registry } from '../registry/registry.js'
import type { ContentFile } from '../versions/files/build-version.js'
import { DamageError, findSourceFiles } from '../versions/files/source-files.js'
import type { SourceFile } from '../versions/files/source-files.js'
import { FileError } from '../versions/opener.js'
import type { OpenFiles, OpenedFile } from '../versions/opener.js'
import { packedFolder } from '../versions/packing/packed-content.js'
import type { Content } from '../versions/store/content.js'
import type { FileChecks } from '../versions/store/file-checks.js'
import { KnownFiles } from '../versions/store/known-files.js'
import { isIntact, readManifest } from '../versions/store/manifest.js'
import { publishFiles } from '../versions/store/publish.js'
import type { PublishedFile } from '../versions/store/publish.js'
import { buildDataset, registryDataset, sourceNames } from './dataset.js'
import type { Dataset } from './dataset.js'
import { readText } from './read-text.js'

export interface OpenOptions {
  readonly openFiles: OpenFiles
  /** Where versions are linked; null opens the sources in place, to check and not to serve. */
  readonly versionsFolder: string | null
  /** What is known of the dataset's files; what is found is added to it. */
  readonly known?: KnownFiles
  /** What is known of stored files. */
  readonly checks?: FileChecks
  /** Folders whose files were found damaged. */
  readonly damaged?: ReadonlySet<string>
}

export type OpenedDataset =
  | { readonly dataset: Dataset; readonly content: Content }
  | {
      /** Without a version, with a reason. */
      readonly dataset: Dataset
      readonly content: null
      /** The next attempt may end otherwise though nothing was changed. */
      readonly mayPass: boolean
      /** A file at its source holds something else than its size and time of writing stand for. */
      readonly isDamaged: boolean
    }

/**
 * Opens one dataset: finds its files, publishes them, has the engine read them and joins what it
 * finds with the registry's words. A dataset that can't be opened has no version and a reason.
 */
export async function openDataset(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
  options: OpenOptions,
): Promise<OpenedDataset> {
  try {
    const content = await openContent(name, entry, registry, options)
    return { dataset: await joinDataset(name, entry, registry, content.files), content }
  } catch (cause) {
    const reason = reasonOf(cause, registry.folder)
    const dataset = Object.freeze({ ...registryDataset(name, entry), reason })
    const isDamaged = cause instanceof DamageError
    const mayPass = !isDamaged && !(cause instanceof RegistryError)
    return { dataset, content: null, mayPass, isDamaged }
  }
}

/**
 * Joins files that were read with the registry's words and those of the dictionary.
 * @throws RegistryError with every mistake
 */
export async function joinDataset(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
  files: readonly ContentFile[],
): Promise<Dataset> {
  const dictionary = await readDictionary(name, entry, registry)
  const { dataset, problems } = buildDataset(name, registry, entry, files, dictionary)
  if (problems.length > 0) throw new RegistryError(problems)
  return dataset
}

async function openContent(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
  options: OpenOptions,
): Promise<Content> {
  const { versionsFolder, known = new KnownFiles(), openFiles, checks } = options
  const boundsOf = boundedColumns(entry)
  const sources = await findSourceFiles(registry.folder, listOf(entry.files), known.hashes, {
    doubted: known.doubted,
    ...(checks && { hash: checks.hashFile }),
  })
  known.addHashes(sources)
  const open = async (facts: readonly SourceFile[], places: readonly PublishedFile[]) => {
    const files = await openAll(facts, places, boundsOf, known, openFiles)
    known.addFiles(files, boundsOf)
    return files
  }
  if (versionsFolder === null) {
    const places = sources.map(({ realPath: path, identity: guard }) => ({
      path,
      guard,
      hash: null,
    }))
    return { folder: null, files: await open(sources, places), boundsOf, origins: null }
  }
  if (entry.pack === 'auto') {
    const folder = packedFolder(join(versionsFolder, name), sources, keySourceNames(entry))
    const packed = await readManifest(folder)
    const isUsable = packed && !options.damaged?.has(folder)
    if (isUsable && (await isIntact(packed))) {
      known.addManifest(packed)
      const facts = packed.files.map(({ source }) => source)
      // As they are known by now: a touched file has another identity than when it was packed.
      return { folder, files: await open(facts, packed.files), boundsOf, origins: sources }
    }
  }
  const { folder, files } = await publishFiles(versionsFolder, name, sources, options)
  return { folder, files: await open(sources, files), boundsOf, origins: null }
}

/** Files whose content was opened before are not opened again. */
async function openAll(
  sources: readonly SourceFile[],
  places: readonly PublishedFile[],
  boundsOf: readonly string[],
  known: KnownFiles,
  openFiles: OpenFiles,
): Promise<readonly ContentFile[]> {
  const isNew = (source: SourceFile) => !known.opened(source.contentHash, boundsOf)
  const paths = places.flatMap(({ path }, index) => {
    const source = sources[index]
    return source && isNew(source) ? [path] : []
  })
  const opened = await openNew(sources, places, paths, boundsOf, openFiles)
  return sources.map((source, index) => {
    const place = places[index]
    const found = place && (opened.get(place.path) ?? known.opened(source.contentHash, boundsOf))
    if (!place || !found) throw new Error('the engine left out a file')
    return { source, ...place, opened: found }
  })
}

async function openNew(
  sources: readonly SourceFile[],
  places: readonly PublishedFile[],
  paths: readonly string[],
  boundsOf: readonly string[],
  openFiles: OpenFiles,
): Promise<ReadonlyMap<string, OpenedFile>> {
  if (paths.length === 0) return new Map()
  try {
    const opened = await openFiles(paths, boundsOf)
    return new Map(opened.map((file, index) => [paths[index] ?? '', file]))
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause
    const source = sources[places.findIndex(({ path }) => path === cause.path)]
    throw new FileError(source?.path ?? cause.path, cause.reason, cause)
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

/** Key and history columns by the files' own names: the registry speaks of shown ones. */
function boundedColumns(entry: DatasetEntry): readonly string[] {
  return [...new Set([...keySourceNames(entry), ...sourceNames(entry, listOf(entry.history))])]
}

/** The key's columns by the files' own names. */
export function keySourceNames(entry: DatasetEntry): readonly string[] {
  return sourceNames(entry, listOf(entry.key))
}

/** In words that hold no absolute path: a reason may stand in a log or an owner's terminal. */
export function reasonOf(cause: unknown, folder: string): string {
  if (cause instanceof FileError) return `${relative(folder, cause.path)} ${cause.reason}`
  if (!(cause instanceof Error)) return String(cause)
  const { code, syscall } = cause as NodeJS.ErrnoException
  return code && syscall ? `the versions folder can't be used (${syscall}: ${code})` : cause.message
}
