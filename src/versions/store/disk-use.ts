import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Content } from './manifest.js'

/** How a dataset's versions are stored, and the disk space that they use beside its sources. */
export interface Storage {
  /** `copied` if the file system refused any hard link; null if nothing is served. */
  readonly stored: 'linked' | 'copied' | 'packed' | null
  readonly diskBytes: number
}

/** How the served content is stored, and the disk space below a dataset's versions folder. */
export async function storageOf(content: Content | null, folder: string): Promise<Storage> {
  return { stored: storedText(content), diskBytes: await diskUse(folder) }
}

function storedText(content: Content | null): Storage['stored'] {
  if (!content) return null
  if (content.origins) return 'packed'
  return content.files.some(({ guard }) => guard === null) ? 'copied' : 'linked'
}

interface DiskFile {
  readonly sizeBytes: number
  /** All names of the file. */
  readonly names: number
  /** Its names in the folder. */
  namesHere: number
}

/** The bytes of files without a name elsewhere: a hard link uses no space beside its source. */
async function diskUse(folder: string): Promise<number> {
  const files = new Map<string, DiskFile>()
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined)
    if (!found) continue
    const key = `${found.dev}-${found.ino}`
    const known = files.get(key) ?? { sizeBytes: found.size, names: found.nlink, namesHere: 0 }
    known.namesHere += 1
    files.set(key, known)
  }
  return [...files.values()]
    .filter(({ names, namesHere }) => names <= namesHere)
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
}
