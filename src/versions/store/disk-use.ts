import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Content } from './content.js'

/** What a dataset's versions take beside its sources. */
export interface Storage {
  /** `copied` where the file system refused a link to any file; null = nothing is served. */
  readonly stored: 'linked' | 'copied' | 'packed' | null
  readonly diskBytes: number
}

/** How content lies, and what everything that is published beside it costs. */
export async function storageOf(content: Content | null, folder: string): Promise<Storage> {
  return { stored: storedText(content), diskBytes: await diskUse(folder) }
}

function storedText(content: Content | null): Storage['stored'] {
  if (!content) return null
  if (content.origins) return 'packed'
  return content.files.some(({ guard }) => guard === null) ? 'copied' : 'linked'
}

interface Inode {
  readonly sizeBytes: number
  /** Names that the file has anywhere. */
  readonly names: number
  /** Those of them that stand in the folder. */
  namesHere: number
}

/**
 * What the files below a folder cost on the disk: those that have no name elsewhere. A hard link
 * costs nothing as long as its source is there.
 */
async function diskUse(folder: string): Promise<number> {
  const inodes = new Map<string, Inode>()
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined)
    if (!found) continue
    const key = `${found.dev}-${found.ino}`
    const known = inodes.get(key) ?? { sizeBytes: found.size, names: found.nlink, namesHere: 0 }
    known.namesHere += 1
    inodes.set(key, known)
  }
  return [...inodes.values()]
    .filter(({ names, namesHere }) => names <= namesHere)
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
}
