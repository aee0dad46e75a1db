import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { FileError } from '../opener.js'
import { objectUrl, parseObjectPattern } from './object-pattern.js'
import type { ListedObject, ObjectStore } from './object-store.js'

/** An object whose content is in a file of this machine. */
export interface ObjectFile {
  readonly path: string
  /** `s3://bucket/key` */
  readonly name: string
}

/** A listed object, and the file for its content. */
export interface FoundObject extends ObjectFile {
  readonly bucket: string
  readonly object: ListedObject
}

const objectsMax = 100_000

/**
 * The objects that a pattern matches now, by key. Their files are named after bucket, key, entity
 * tag and size.
 * @throws FileError for a pattern that matches nothing or too much; the store's errors
 */
export async function listObjects(
  store: ObjectStore,
  folder: string,
  pattern: string,
  signal: AbortSignal,
): Promise<readonly FoundObject[]> {
  const { bucket, prefix, matches } = parseObjectPattern(pattern)
  const objects: ListedObject[] = []
  for await (const object of store.list(bucket, prefix, signal)) {
    if (!matches(object.key)) continue
    objects.push(object)
    if (objects.length > objectsMax) {
      throw new FileError(pattern, `matches more than ${objectsMax} objects`)
    }
  }
  if (objects.length === 0) throw new FileError(pattern, 'matches no object')
  objects.sort((left, right) => (left.key < right.key ? -1 : 1))
  return objects.map((object) => ({
    bucket,
    object,
    path: join(folder, fileName(bucket, object)),
    name: objectUrl(bucket, object.key),
  }))
}

function fileName(bucket: string, { key, etag, sizeBytes }: ListedObject): string {
  const hash = createHash('sha256').update(JSON.stringify([bucket, key, etag, sizeBytes]))
  return `${hash.digest('hex')}.parquet`
}
