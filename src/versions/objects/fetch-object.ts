import { createHash } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import type { Random } from '../../random.js'
import type { ListedObject, ObjectStore } from './object-store.js'

/** Where the content goes, and what is told meanwhile. */
export interface FetchOptions {
  readonly path: string
  readonly signal: AbortSignal
  readonly random: Random
  readonly onBytes: (bytes: number) => void
}

/** The content of an object is not what its store lists. */
class BadContent extends Error {
  override readonly name = 'BadContent'
}

/**
 * Fetches an object into a file, which appears when it is whole, checked and on the disk.
 * @throws ObjectChanged; the store's and the system's errors
 */
export async function fetchObject(
  store: ObjectStore,
  bucket: string,
  object: ListedObject,
  { path, signal, random, onBytes }: FetchOptions,
): Promise<void> {
  const { stream, md5 } = await store.read(bucket, object, signal)
  const draft = `${path}.${random.uuid()}.part`
  try {
    const hash = createHash('md5')
    let sizeBytes = 0
    {
      await using file = await open(draft, 'wx', 0o600)
      for await (const chunk of stream as AsyncIterable<Uint8Array>) {
        await file.appendFile(chunk)
        hash.update(chunk)
        sizeBytes += chunk.length
        onBytes(chunk.length)
      }
      await file.sync()
    }
    if (sizeBytes !== object.sizeBytes) throw new BadContent('has another size than listed')
    if (md5 !== null && hash.digest('hex') !== md5) throw new BadContent('does not fit its tag')
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}
