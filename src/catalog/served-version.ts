import { join } from 'node:path'
import type { Registry } from '../registry/registry.js'
import type { FileChecks } from '../versions/store/file-checks.js'
import { VersionFolders } from '../versions/store/version-folders.js'
import type { Version } from '../versions/version.js'
import { joinDataset } from './open-dataset.js'

/** The version that servers over a versions folder served last; null if none fits the registry. */
export async function servedVersion(
  name: string,
  registry: Registry,
  versionsFolder: string,
  checks: FileChecks,
): Promise<Version | null> {
  const entry = registry.datasets.get(name)
  // The state may belong to another user.
  const folders = await new VersionFolders(join(versionsFolder, name), checks)
    .readAll()
    .catch(() => [])
  const current = folders.findLast(({ supersededAt }) => supersededAt === null)
  if (!entry || !current) return null
  const dataset = await joinDataset(name, entry, registry, current.content).catch(() => null)
  return dataset?.version ?? null
}
