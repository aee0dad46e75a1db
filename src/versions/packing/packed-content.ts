import { createHash } from 'node:crypto'
import { rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { DatasetEntry } from '../../registry/registry-schema.js'
import type { ContentFile } from '../files/build-version.js'
import { identityOf } from '../files/find-files.js'
import type { SourceFile } from '../files/source-files.js'
import type { OpenFiles } from '../opener.js'
import type { FileChecks } from '../store/file-checks.js'
import type { KnownFiles } from '../store/known-files.js'
import { isIntact, readManifest } from '../store/manifest.js'
import type { Content, Manifest } from '../store/manifest.js'
import { openPublished, settleTypes } from '../store/open-published.js'
import { contentIdOf } from '../store/publish.js'
import type { SearchFile, Version } from '../version.js'
import { readPackRecord } from './pack-record.js'
import type { PackRecord } from './pack-record.js'

/** Changes with the packed layout; then every version is packed again. */
const layoutName = 'packed-1'

/**
 * The folder for the packed copy of these files, existing or not. Its name depends only on content
 * and key, and packing keeps rows with equal keys in stored order: two servers over the same files
 * serve the same rows at the same positions.
 */
export function packedFolder(
  parent: string,
  sources: readonly Pick<SourceFile, 'contentHash' | 'name'>[],
  key: readonly string[],
): string {
  return join(parent, idOf(layoutName, contentIdOf(sources), ...key))
}

export interface OpenPackedOptions {
  readonly openFiles: OpenFiles
  readonly checks: FileChecks
  readonly known: KnownFiles
  /** Folders with damaged files. */
  readonly damaged: ReadonlySet<string>
  readonly entry: DatasetEntry
}

/**
 * Opens the packed copy of a version, as content to serve instead: both forms, side by side. Null
 * without a sound copy.
 * @throws FileError for a file that can't be read
 */
export async function openPacked(
  folder: string,
  from: Content,
  version: Version,
  options: OpenPackedOptions,
): Promise<Content | null> {
  const record = options.damaged.has(folder) ? null : await readPackRecord(folder)
  if (record === null || from.folder === null) return null
  const manifest = await readManifest(folder)
  const packed = await packedFiles(folder, record, manifest, from, version, options)
  if (packed === null) {
    await rm(folder, { recursive: true, force: true })
    return null
  }
  const files = await settleTypes(packed, from.boundsOf, options.openFiles, options.entry)
  const search = await searchFiles(folder, record, manifest, files, options.checks)
  const dropped = { folder: from.folder, files: from.files, inOrder: record.inOrder ?? [] }
  const origins = from.files.map(({ source }) => source)
  return { folder, files, search, boundsOf: from.boundsOf, origins, dropped }
}

/** Null if the copy is not sound. */
async function packedFiles(
  folder: string,
  record: PackRecord,
  manifest: Manifest | undefined,
  from: Content,
  version: Version,
  { openFiles, checks, known, entry }: OpenPackedOptions,
): Promise<readonly ContentFile[] | null> {
  if (manifest) {
    if (!(await isIntact(manifest))) return null
    known.addManifest(manifest)
    return openPublished(manifest.files, from.boundsOf, known, openFiles, entry)
  }
  // Reads every byte: damaged files would have been packed under the name of intact ones.
  if (!(await checks.verifyAll(from.files))) return null
  const paths = record.files.map(({ name }) => join(folder, name))
  const opened = await openFiles(paths, from.boundsOf)
  const required = new Set(version.columns.filter((c) => !c.nullable).map((c) => c.source))
  return Promise.all(
    opened.map(async ({ columns, ...facts }, index): Promise<ContentFile> => {
      const path = paths[index] ?? ''
      // Packed files declare every column as nullable.
      const kept = columns.map((column) => ({ ...column, required: required.has(column.name) }))
      const source = await packedSource(folder, path, index, version)
      const hash = await checks.adopt(path)
      return { source, path, guard: null, hash, opened: { ...facts, columns: kept } }
    }),
  )
}

/**
 * The search files that packing has written. A new one is taken while the packed files are intact:
 * it may have been written from damaged ones.
 */
async function searchFiles(
  folder: string,
  { search = [] }: PackRecord,
  manifest: Manifest | undefined,
  packed: readonly ContentFile[],
  checks: FileChecks,
): Promise<readonly SearchFile[]> {
  const files: SearchFile[] = []
  for (const { column, name, texts } of search) {
    const path = join(folder, name)
    const known = manifest?.search.find((each) => each.path === path)
    if (known) {
      files.push(known)
      continue
    }
    const found = await stat(path).catch(() => null)
    if (!found || !(await checks.areIntact(packed))) continue
    const hash = await checks.adopt(path)
    const own = { path, guard: null, hash, name: `packed/${name}` }
    files.push({ ...own, column, texts, sizeBytes: found.size })
  }
  return files
}

/** Identified by content and index; as new as the newest of its sources. */
async function packedSource(
  folder: string,
  path: string,
  index: number,
  { modifiedMs }: Version,
): Promise<SourceFile> {
  const found = await stat(path, { bigint: true })
  return {
    path,
    name: `packed/${basename(path)}`,
    realPath: path,
    identity: identityOf(found),
    sizeBytes: Number(found.size),
    modifiedMs,
    contentHash: idOf(basename(folder), String(index)),
  }
}

function idOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
}
