import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isDynamicPattern } from 'tinyglobby'
import type { DatasetEntry } from '../../registry/registry-schema.js'
import { listOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { isObjectUrl } from '../objects/object-pattern.js'
import { findFiles, identityOf } from './find-files.js'
import type { FoundFile, SourceOptions } from './find-files.js'

/** The state of a dataset's files on the disk. */
export interface DiskState {
  /** Equal while neither the registry's entry nor a file changes. */
  readonly key: string
  /** The folders to watch for changes. */
  readonly folders: readonly string[]
  readonly files: readonly FoundFile[]
}

interface DiskStateOptions extends SourceOptions {
  readonly doubted?: ReadonlyMap<string, string>
}

/** Checks a dataset's files without reading them; doubted files by their stamp. */
export async function readDiskState(
  registry: Registry,
  entry: DatasetEntry,
  { doubted = new Map(), ...options }: DiskStateOptions = {},
): Promise<DiskState> {
  const labels = Object.values(entry.columns ?? {}).map((each) => each.labels)
  const texts = [entry.dictionary, entry.entity?.aliases, ...labels]
  const textStates: (string | null)[] = []
  for (const path of texts) {
    if (path !== undefined) textStates.push(await identityOrNull(resolve(registry.folder, path)))
  }
  const patterns = listOf(entry.files)
  let files: readonly FoundFile[] = []
  let failure: string | null = null
  try {
    files = await findFiles(registry.folder, patterns, {
      ...options,
      followLinks: entry.follow_links,
    })
  } catch (cause) {
    failure = (cause as Error).message
  }
  const hash = createHash('sha256')
  hash.update(JSON.stringify([entry, textStates, failure]))
  for (const { name, identity, stamp } of files) {
    // A damaged file may be repaired in place, with its old modification time.
    hash.update(`${name}\n${doubted.has(identity) ? stamp : identity}\n`)
  }
  const onDisk = patterns.filter((pattern) => !isObjectUrl(pattern))
  const folders = new Set([
    ...onDisk.map((pattern) => resolve(registry.folder, fixedPart(pattern))),
    ...files.flatMap(({ path, name }) => (isObjectUrl(name) ? [] : [dirname(path)])),
  ])
  return { key: hash.digest('hex'), folders: [...folders], files }
}

/** The folders before the first one that is a pattern, or before the file. */
function fixedPart(pattern: string): string {
  const parts = pattern.split('/')
  const end = parts.findIndex((part) => isDynamicPattern(part))
  return parts.slice(0, end < 0 ? -1 : end).join('/') || (pattern.startsWith('/') ? '/' : '.')
}

/** A file's identity; null if there is no file. */
export async function identityOrNull(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => undefined)
  return found ? identityOf(found) : null
}
