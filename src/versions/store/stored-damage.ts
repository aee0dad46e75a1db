import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContentFile } from '../files/build-version.js'
import { hashFile } from '../hash-file.js'
import { readManifest } from './manifest.js'

/** A stored file that can't be served, with the reason. */
export interface StoredDamage {
  /** Relative to the registry. */
  readonly file: string
  readonly reason: string
}

/**
 * Reads every stored file of a dataset's versions and returns those with changed content. A server
 * may be running meanwhile.
 * @throws the signal's reason
 */
export async function findStoredDamage(
  versionsFolder: string,
  dataset: string,
  signal: AbortSignal,
): Promise<readonly StoredDamage[]> {
  const parent = join(versionsFolder, dataset)
  const found = new Map<string, StoredDamage>()
  for (const name of await readdir(parent).catch(() => [])) {
    const folder = join(parent, name)
    const manifest = await readManifest(folder)
    for (const file of manifest?.files ?? []) {
      signal.throwIfAborted()
      const reason = await damageOf(file)
      // A running server may have removed the version.
      if (reason === null || !(await readManifest(folder))) continue
      found.set(file.source.name, { file: file.source.name, reason })
    }
  }
  return [...found.values()]
}

async function damageOf({ path, hash }: ContentFile): Promise<string | null> {
  if (hash === null) return null
  try {
    return (await hashFile(path)) === hash ? null : 'its content is not what it was published with'
  } catch (cause) {
    return `it can't be read (${(cause as NodeJS.ErrnoException).code})`
  }
}
