import { readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SourceFile } from './source-files.js'

/** Beside the files of each published folder: identity → content hash of their sources. */
const fileName = 'hashes.json'

/**
 * What the published folders of a dataset remember of files that were read before. It is a memory
 * and nothing more: where it is lost or damaged, files are read again.
 */
export async function readKnownHashes(
  versionsFolder: string,
  dataset: string,
): Promise<ReadonlyMap<string, string>> {
  const parent = join(versionsFolder, dataset)
  const folders = await readdir(parent).catch(() => [])
  const known = new Map<string, string>()
  for (const folder of folders) {
    for (const [identity, hash] of Object.entries(await readHashes(join(parent, folder)))) {
      if (typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash)) known.set(identity, hash)
    }
  }
  return known
}

/** Notes the content hashes of files whose links stand in `folder`. */
export async function rememberHashes(folder: string, files: readonly SourceFile[]): Promise<void> {
  const hashes = Object.fromEntries(files.map((file) => [file.identity, file.contentHash]))
  const path = join(folder, fileName)
  await writeFile(`${path}.draft`, JSON.stringify(hashes), { mode: 0o600 })
  await rename(`${path}.draft`, path)
}

async function readHashes(folder: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const content: unknown = JSON.parse(await readFile(join(folder, fileName), 'utf8'))
    return typeof content === 'object' && content !== null ? { ...content } : {}
  } catch {
    return {}
  }
}
