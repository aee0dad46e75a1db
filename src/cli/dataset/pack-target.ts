import { stat } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { isDynamicPattern } from 'tinyglobby'
import { badRequest } from '../../errors.js'
import type { DatasetEntry } from '../../registry/registry-schema.js'
import { listOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { splitPattern } from '../../versions/files/expand-pattern.js'
import { readPackRecord } from '../../versions/packing/pack-record.js'

/**
 * The folder that a dataset is packed into: the one of `--to`, else `<source folder>-packed`.
 * @throws bad_request for a folder that the dataset's patterns match, or that exists and is not an
 *   earlier pack of this dataset
 */
export async function packTarget(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
  wanted: string | undefined,
): Promise<string> {
  const patterns = listOf(entry.files)
  const source = await sourceFolder(registry.folder, patterns)
  const shown = (path: string) => `${relative(registry.folder, path) || '.'}/`
  if (wanted === undefined && (await readPackRecord(source))?.dataset === name) {
    throw badRequest(
      `"${name}" is already served from a packed folder (${shown(source)}). To pack it again, ` +
        'change its files to the sources, or name another folder with --to.',
    )
  }
  const target = wanted === undefined ? `${source}-packed` : resolve(wanted)
  for (const pattern of patterns) {
    if (!(await reaches(registry.folder, pattern, target))) continue
    throw badRequest(
      `The dataset's files match the folder ${shown(target)}. Name another folder with --to.`,
    )
  }
  const isThere = (await stat(target).catch(() => undefined)) !== undefined
  if (isThere && (await readPackRecord(target))?.dataset !== name) {
    throw badRequest(
      `${shown(target)} exists and is not a pack of "${name}". Name another folder with --to.`,
    )
  }
  return target
}

/** The deepest folder that all patterns share, without globs and hive values. */
async function sourceFolder(folder: string, patterns: readonly string[]): Promise<string> {
  const folders = await Promise.all(patterns.map((pattern) => plainFolder(folder, pattern)))
  const [first = [], ...others] = folders.map((each) => each.split(sep))
  const shared = first.findIndex((part, at) => others.some((parts) => parts[at] !== part))
  return (shared === -1 ? first : first.slice(0, shared)).join(sep) || sep
}

/** Up to the first part that is a glob, a hive value or the file itself. */
async function plainFolder(folder: string, pattern: string): Promise<string> {
  const parts = (await splitPattern(folder, pattern)).base.split(sep)
  const end = parts.findIndex((part) => part.includes('='))
  return (end === -1 ? parts : parts.slice(0, end)).join(sep) || sep
}

/** Whether a glob matches files in the target folder, or in the draft folder beside it. */
async function reaches(folder: string, pattern: string, target: string): Promise<boolean> {
  const { base, rest } = await splitPattern(folder, pattern)
  const isFile = (await stat(join(base, rest)).catch(() => undefined))?.isFile() ?? false
  if (isFile || !isDynamicPattern(rest)) return false
  const inside = relative(base, target)
  if (inside === '..' || inside.startsWith(`..${sep}`)) return false
  const parts = rest.split('/')
  const depth = inside === '' ? 1 : inside.split(sep).length + 1
  return parts.includes('**') || parts.length === depth
}
