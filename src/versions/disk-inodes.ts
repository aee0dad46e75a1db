import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A file on the disk, with its names below the folders that were searched. */
export interface DiskInode {
  readonly sizeBytes: number
  readonly paths: readonly string[]
  /** True if it has no name elsewhere: a hard link takes no space beside its source. */
  readonly isOnlyHere: boolean
}

/** The files below folders, each once, however many names it has there. */
export async function inodesBelow(folders: readonly string[]): Promise<readonly DiskInode[]> {
  const files = new Map<string, { sizeBytes: number; names: number; paths: string[] }>()
  for (const folder of folders) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      const found = await stat(path).catch(() => undefined)
      if (!found) continue
      const key = `${found.dev}-${found.ino}`
      const known = files.get(key) ?? { sizeBytes: 0, names: 0, paths: [] }
      files.set(key, known)
      known.sizeBytes = found.size
      known.names = found.nlink
      known.paths.push(path)
    }
  }
  return [...files.values()].map(({ sizeBytes, names, paths }) => {
    return { sizeBytes, paths, isOnlyHere: names <= paths.length }
  })
}

/** The space that files take. */
export function bytesOf(inodes: readonly DiskInode[]): number {
  return inodes.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
}
