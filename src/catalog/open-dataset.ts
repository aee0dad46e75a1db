import { relative, resolve } from 'node:path'
import { abortAfter } from '../clock.js'
import type { Clock } from '../clock.js'
import type { CodeLabels } from '../columns/codes.js'
import { parseAliases } from '../registry/aliases.js'
import { parseCodeLabels, upperColumns } from '../registry/code-names.js'
import { parseDictionary } from '../registry/dictionary.js'
import type { Dictionary } from '../registry/dictionary.js'
import type { YamlPath } from '../registry/located-yaml.js'
import type { DatasetEntry } from '../registry/registry-schema.js'
import { RegistryError, listOf } from '../registry/registry.js'
import type { Registry } from '../registry/registry.js'
import type { ContentFile, OpenedContent } from '../versions/files/build-version.js'
import type { ColumnTexts } from '../versions/files/unite.js'
import { isObjectUrl } from '../versions/objects/object-pattern.js'
import type { ObjectSource } from '../versions/objects/object-files.js'
import type { DiskSpace } from '../versions/disk-space.js'
import { folderValues, shownPath } from '../versions/files/find-files.js'
import { DamageError, findSourceFiles } from '../versions/files/source-files.js'
import { FileError } from '../versions/opener.js'
import { remoteTableOf, tableName } from '../versions/remote-table.js'
import type { OpenTable, RemoteTable } from '../versions/remote-table.js'
import type { OpenFiles } from '../versions/opener.js'
import { hashFile } from '../versions/hash-file.js'
import { FileChecks } from '../versions/store/file-checks.js'
import { KnownFiles } from '../versions/store/known-files.js'
import type { Content } from '../versions/store/manifest.js'
import { openPublished } from '../versions/store/open-published.js'
import { publishFiles } from '../versions/store/publish.js'
import type { PublishedFile } from '../versions/store/publish.js'
import { buildDataset, registryDataset, sourceNames } from './dataset.js'
import type { Dataset } from './dataset.js'
import { quoted } from '../text.js'
import { readText } from './read-text.js'

export interface OpenOptions {
  readonly clock: Clock
  readonly openFiles: OpenFiles
  /** Where versions are published; null opens the sources in place, to check and not to serve. */
  readonly versionsFolder: string | null
  /** What is known about the dataset's files; new findings are added. */
  readonly known?: KnownFiles
  /** Which stored files were verified. */
  readonly checks?: FileChecks
  /** Folders with damaged files. */
  readonly damaged?: ReadonlySet<string>
  /** Files in object storage. */
  readonly objects?: ObjectSource | undefined
  /** What copies of files may take; left out = all. */
  readonly space?: DiskSpace
  /** Up to so many bytes of a version are copied rather than linked. */
  readonly copyMaxBytes?: number
  /** Left out = no table can be read. */
  readonly openTable?: OpenTable | undefined
  /** Ends the reading of a table. */
  readonly signal?: AbortSignal
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
    return { dataset: await joinDataset(name, entry, registry, content), content }
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
  content: OpenedContent,
): Promise<Dataset> {
  const texts = await readColumnTexts(name, entry, registry)
  const { dataset, problems } = buildDataset(name, registry, entry, content, texts)
  if (problems.length > 0) throw new RegistryError(problems)
  return dataset
}

async function openContent(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
  options: OpenOptions,
): Promise<Content> {
  const { versionsFolder, known = new KnownFiles(), openFiles, checks, objects } = options
  const table = remoteTableOf(entry)
  const history = sourceNames(entry, listOf(entry.history))
  const key = sourceNames(entry, [...listOf(entry.key), ...listOf(entry.lookups)])
  const ordering = [...new Set([...key, ...history])]
  // The nulls of a table of another engine are not counted.
  if (table) return openTable(table, ordering, options)
  const dictionary = await readDictionary(name, entry, registry)
  const promised = [...dictionary].filter(([, each]) => !each.nullable).map(([column]) => column)
  const boundsOf = [...new Set([...ordering, ...promised.sort()])]
  const sources = await findSourceFiles(registry.folder, listOf(entry.files), known.hashes, {
    doubted: known.doubted,
    ...(checks && { hash: checks.hashFile }),
    objects,
    followLinks: entry.follow_links,
  })
  known.addHashes(sources)
  const open = async (published: readonly PublishedFile[]) => {
    const files = await openPublished(published, boundsOf, known, openFiles, entry)
    requireDifferent(files)
    return files
  }
  if (versionsFolder === null) {
    const inPlace = sources.map((source) => {
      return { source, path: source.realPath, guard: source.identity, hash: null }
    })
    return { folder: null, files: await open(inPlace), boundsOf }
  }
  const { folder, files } = await publishFiles(versionsFolder, name, sources, {
    ...options,
    checks: checks ?? new FileChecks(hashFile, options.clock),
  })
  return { folder, files: await open(files), boundsOf }
}

/**
 * Two files with the same bytes are a file that was delivered twice, unless their folders give its
 * rows other values.
 * @throws FileError for the second one
 */
function requireDifferent(files: readonly ContentFile[]): void {
  const seen = new Map<string, ContentFile>()
  for (const file of files) {
    const { source, opened } = file
    if (opened.rows === 0) continue
    const key = `${source.contentHash} ${folderValues(source.name)}`
    const twin = seen.get(key)
    if (twin) {
      const reason =
        `has the same bytes as ${quoted(twin.source.name)}, so that its rows would be served ` +
        'twice; remove one of them'
      throw new FileError(shownPath(source), reason)
    }
    seen.set(key, file)
  }
}

/** A table as the content of a version: one part, which no path names. */
async function openTable(
  table: RemoteTable,
  boundsOf: readonly string[],
  { clock, openTable: open, signal = abortAfter(clock, tableMsMax) }: OpenOptions,
): Promise<Content> {
  if (!open) throw new Error('tables can only be read by a server')
  const opened = await open(table, boundsOf, signal)
  const { state, modifiedMs } = opened
  const paths = { path: '', realPath: '', name: tableName(table) }
  const source = { ...paths, identity: state, sizeBytes: 0, modifiedMs, contentHash: state }
  const files = [{ source, path: '', guard: null, hash: null, opened }]
  return { files, table, folder: null, boundsOf }
}

/** The time in which a command reads a table. */
const tableMsMax = 300_000

/** Reads a file beside the registry that this key of the dataset names. */
function partReader(name: string, registry: Registry) {
  return async <T>(key: YamlPath, file: string, parse: (text: string) => T): Promise<T> => {
    try {
      return parse(await readText(resolve(registry.folder, file)))
    } catch (cause) {
      const why = cause instanceof FileError ? cause.reason : (cause as Error).message
      const place = registry.locate(['datasets', name, ...key])
      throw new RegistryError([`${place}: ${key.at(-1)} ${file}: ${why}`])
    }
  }
}

async function readDictionary(
  name: string,
  { dictionary: file }: DatasetEntry,
  registry: Registry,
): Promise<Dictionary> {
  if (file === undefined) return new Map()
  return partReader(name, registry)(['dictionary'], file, parseDictionary)
}

async function readColumnTexts(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
): Promise<ColumnTexts> {
  const read = partReader(name, registry)
  const dictionary = await readDictionary(name, entry, registry)
  const labels = new Map<string, CodeLabels>()
  for (const [column, { labels: names, levels }] of Object.entries(entry.columns ?? {})) {
    if (names === undefined) continue
    const parse = (text: string) => parseCodeLabels(text, upperColumns(levels))
    labels.set(column, await read(['columns', column, 'labels'], names, parse))
  }
  const { aliases: names } = entry.entity ?? {}
  const aliases = names === undefined ? [] : await read(['entity', 'aliases'], names, parseAliases)
  return { dictionary, labels, aliases }
}

/** The reason for the owner. It holds no absolute path, because it may reach a log. */
export function reasonOf(cause: unknown, folder: string): string {
  if (cause instanceof FileError) return `${shownName(folder, cause)} ${cause.reason}`
  if (!(cause instanceof Error)) return String(cause)
  const { code, syscall } = cause as NodeJS.ErrnoException
  return code && syscall ? `the versions folder can't be used (${syscall}: ${code})` : cause.message
}

/** A file by its path relative to the registry, an object by its address. */
export function shownName(folder: string, { path }: FileError): string {
  return isObjectUrl(path) ? path : relative(folder, path)
}
