import { bytesOf, inodesBelow } from '../disk-inodes.js'
import type { Content } from './manifest.js'

/** How a dataset's versions are stored, and the disk space that they use beside its sources. */
export interface Storage {
  /** `copied` if the file system refused any hard link; null if nothing is served. */
  readonly stored: 'linked' | 'copied' | null
  readonly diskBytes: number
}

/** How the served content is stored, and the disk space below a dataset's versions folder. */
export async function storageOf(content: Content | null, folder: string): Promise<Storage> {
  const inodes = await inodesBelow([folder])
  const diskBytes = bytesOf(inodes.filter(({ isOnlyHere }) => isOnlyHere))
  return { stored: storedText(content), diskBytes }
}

function storedText(content: Content | null): Storage['stored'] {
  if (!content) return null
  return content.files.some(({ guard }) => guard === null) ? 'copied' : 'linked'
}
