import { join, relative, resolve } from 'node:path'
import type { CodeNames } from '../columns/codes.js'
import { parseCodeNames } from '../registry/code-names.js'
import { parseDictionary } from '../registry/dictionary.js'
import type { YamlPath } from '../registry/located-yaml.js'
import type { DatasetEntry } from '../registry/registry-schema.js'
import { RegistryError, listOf } from '../registry/registry.js'
import type { Registry } from '../registry/registry.js'
import type { ContentFile } from '../versions/files/build-version.js'
import type { ColumnTexts } from '../versions/files/unite.js'
import { DamageError, findSourceFiles } from '../versions/files/source-files.js'
import { FileError } from '../versions/opener.js'
import type { OpenFiles, OpenedFile } from '../versions/opener.js'
import { packedFolder } from '../versions/packing/packed-content.js'
import type { FileChecks } from '../versions/store/file-checks.js'
import { KnownFiles } from '../versions/store/known-files.js'
import { isIntact, readManifest } from '../versions/store/manifest.js'
import type { Content } from '../versions/store/manifest.js'
import { publishFiles } from '../versions/store/publish.js'
import type { PublishedFile } from '../versions/store/publish.js'
import { buildDataset, registryDataset, sourceNames } from './dataset.js'
import type { Dataset } from './dataset.js'
import { readText } from './read-text.js'

export interface OpenOptions {
  readonly openFiles: OpenFiles
  /** Where versions are published; null opens the sources in place, to check and not to serve. */
  readonly versionsFolder: string | null
  /** What is known about the dataset's files; new findings are added. */
  readonly known?: KnownFiles
  /** Which stored files were verified. */
  readonly checks?: FileChecks
  /** Folders with damaged files. */
  readonly damaged?: ReadonlySet<string>
}

export type OpenedDataset =
  | { readonly dataset: Dataset; readonly content: Content }
  | {
      /** Has a reason instead of a version. */
      readonly dataset: Dataset
      readonly content: null
      /** The next attempt may succeed without a change of registry or files. */
      readonly mayPass: boolean
      /** A source file changed its content, but not its size and modification time. */
      readonly isDamaged: boolean
    }

/**
 * Opens one dataset: finds and publishes its files, has the engine read them, and joins the result
 * with the registry. A dataset that can't be opened has a reason instead of a version.
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
 * Joins opened files with the registry, the dictionary and the names of codes.
 * @throws RegistryError with every mistake
 */
export async function joinDataset(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
  files: readonly ContentFile[],
): Promise<Dataset> {
  const texts = await readColumnTexts(name, entry, registry)
  const { dataset, problems } = buildDataset(name, registry, entry, files, texts)
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
  const history = sourceNames(entry, listOf(entry.history))
  const boundsOf = [...new Set([...keySourceNames(entry), ...history])]
  const sources = await findSourceFiles(registry.folder, listOf(entry.files), known.hashes, {
    doubted: known.doubted,
    ...(checks && { hash: checks.hashFile }),
  })
  known.addHashes(sources)
  const open = async (published: readonly PublishedFile[]) => {
    const files = await openAll(published, boundsOf, known, openFiles)
    known.addFiles(files, boundsOf)
    return files
  }
  if (versionsFolder === null) {
    const inPlace = sources.map((source) => {
      return { source, path: source.realPath, guard: source.identity, hash: null }
    })
    return { folder: null, files: await open(inPlace), boundsOf, origins: null }
  }
  if (entry.pack === 'auto') {
    const folder = packedFolder(join(versionsFolder, name), sources, keySourceNames(entry))
    const packed = await readManifest(folder)
    if (packed && !options.damaged?.has(folder) && (await isIntact(packed))) {
      known.addManifest(packed)
      // The current sources: a touched file has another identity than when it was packed.
      return { folder, files: await open(packed.files), boundsOf, origins: sources }
    }
  }
  const { folder, files } = await publishFiles(versionsFolder, name, sources, options)
  return { folder, files: await open(files), boundsOf, origins: null }
}

/** Has the engine open the files whose content it has not opened before. */
async function openAll(
  files: readonly PublishedFile[],
  boundsOf: readonly string[],
  known: KnownFiles,
  openFiles: OpenFiles,
): Promise<readonly ContentFile[]> {
  const knownFile = ({ source }: PublishedFile) => known.opened(source.contentHash, boundsOf)
  const unknown = files.filter((file) => !knownFile(file))
  const opened = await openUnknown(unknown, boundsOf, openFiles)
  return files.map((file) => {
    const found = opened.get(file.path) ?? knownFile(file)
    if (!found) throw new Error('the engine left out a file')
    return { ...file, opened: found }
  })
}

async function openUnknown(
  files: readonly PublishedFile[],
  boundsOf: readonly string[],
  openFiles: OpenFiles,
): Promise<ReadonlyMap<string, OpenedFile>> {
  if (files.length === 0) return new Map()
  const paths = files.map(({ path }) => path)
  try {
    const opened = await openFiles(paths, boundsOf)
    return new Map(opened.map((file, index) => [paths[index] ?? '', file]))
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause
    const file = files.find(({ path }) => path === cause.path)
    throw new FileError(file?.source.path ?? cause.path, cause.reason, cause)
  }
}

async function readColumnTexts(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
): Promise<ColumnTexts> {
  const read = async <T>(key: YamlPath, file: string, parse: (text: string) => T): Promise<T> => {
    try {
      return parse(await readText(resolve(registry.folder, file)))
    } catch (cause) {
      const why = cause instanceof FileError ? cause.reason : (cause as Error).message
      const place = registry.locate(['datasets', name, ...key])
      throw new RegistryError([`${place}: ${key.at(-1)} ${file}: ${why}`])
    }
  }
  const { dictionary: file } = entry
  const dictionary =
    file === undefined
      ? new Map<string, never>()
      : await read(['dictionary'], file, parseDictionary)
  const labels = new Map<string, CodeNames>()
  for (const [column, { labels: names }] of Object.entries(entry.columns ?? {})) {
    if (names === undefined) continue
    labels.set(column, await read(['columns', column, 'labels'], names, parseCodeNames))
  }
  return { dictionary, labels }
}

/** The key's columns by their names in the files. */
export function keySourceNames(entry: DatasetEntry): readonly string[] {
  return sourceNames(entry, listOf(entry.key))
}

/** The reason for the owner. It holds no absolute path, because it may reach a log. */
export function reasonOf(cause: unknown, folder: string): string {
  if (cause instanceof FileError) return `${relative(folder, cause.path)} ${cause.reason}`
  if (!(cause instanceof Error)) return String(cause)
  const { code, syscall } = cause as NodeJS.ErrnoException
  return code && syscall ? `the versions folder can't be used (${syscall}: ${code})` : cause.message
}
