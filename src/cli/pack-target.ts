import { stat } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { isDynamicPattern } from 'tinyglobby'
import { readPackPage } from '../catalog/pack-page.js'
import { listOf } from '../catalog/registry.js'
import type { Registry } from '../catalog/registry.js'
import type { DatasetEntry } from '../catalog/registry-schema.js'
import { badRequest } from '../errors.js'

/**
 * The folder that a dataset is packed into: the one wanted, else `<source folder>-packed`.
 * @throws bad_request for a folder that the dataset's own patterns look into, or that holds
 *   anything else than an earlier pack of this dataset
 */
export async function packTarget(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
  wanted: string | undefined,
): Promise<string> {
  const patterns = listOf(entry.files)
  const source = sourceFolder(registry.folder, patterns)
  const shown = (path: string) => `${relative(registry.folder, path) || '.'}/`
  if (wanted === undefined && (await readPackPage(source))?.dataset === name) {
    throw badRequest(
      `"${name}" is served from a packed folder already (${shown(source)}). To pack it anew, let ` +
        'its files name the sources again, or name another folder: --to FOLDER.',
    )
  }
  const target = wanted === undefined ? `${source}-packed` : resolve(wanted)
  if (patterns.some((pattern) => reaches(registry.folder, pattern, target))) {
    throw badRequest(
      `The dataset's own pattern looks into ${shown(target)}: name another folder, --to FOLDER.`,
    )
  }
  const isThere = (await stat(target).catch(() => undefined)) !== undefined
  if (isThere && (await readPackPage(target))?.dataset !== name) {
    throw badRequest(
      `${shown(target)} is there already and is no pack of "${name}": name another, --to FOLDER.`,
    )
  }
  return target
}

/** The deepest folder that all patterns share, without parts that stand for many. */
function sourceFolder(folder: string, patterns: readonly string[]): string {
  const [first = [], ...others] = patterns.map((pattern) => plainFolder(folder, pattern).split(sep))
  const shared = first.findIndex((part, at) => others.some((parts) => parts[at] !== part))
  return (shared === -1 ? first : first.slice(0, shared)).join(sep) || sep
}

/** Up to the first part that is a glob, a hive value or the file itself. */
function plainFolder(folder: string, pattern: string): string {
  const parts = resolve(folder, pattern).split(sep).slice(0, -1)
  const end = parts.findIndex((part) => part.includes('=') || isDynamicPattern(part))
  return (end === -1 ? parts : parts.slice(0, end)).join(sep) || sep
}

/** A glob may find files of the folder, or of the draft beside it, by its depth. */
function reaches(folder: string, pattern: string, target: string): boolean {
  if (!isDynamicPattern(pattern)) return false
  const base = plainFolder(folder, pattern)
  const inside = relative(base, target)
  if (inside === '..' || inside.startsWith(`..${sep}`)) return false
  const parts = relative(base, resolve(folder, pattern)).split(sep)
  const depth = inside === '' ? 1 : inside.split(sep).length + 1
  return parts.includes('**') || parts.length === depth
}
