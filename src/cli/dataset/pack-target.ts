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
 * The folder of `--to`.
 * @throws bad_request for a folder that the dataset's patterns match, or that exists and is not an
 *   earlier pack of this dataset
 */
export async function packTarget(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
  to: string,
): Promise<string> {
  const target = resolve(to)
  const shown = `${relative(registry.folder, target) || '.'}/`
  for (const pattern of listOf(entry.files)) {
    if (!(await reaches(registry.folder, pattern, target))) continue
    throw badRequest(
      `The dataset's files match the folder ${shown}. Name another folder with --to.`,
    )
  }
  const isThere = (await stat(target).catch(() => undefined)) !== undefined
  if (isThere && (await readPackRecord(target))?.dataset !== name) {
    throw badRequest(
      `${shown} exists and is not a pack of "${name}". Name another folder with --to.`,
    )
  }
  return target
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
