import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { tableOf, tableReason } from '../files/list-matches.js'
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
/** The folders of a table's records. */
const tableRecords = ['_delta_log/', '.hoodie/', 'metadata/']
/** So many of other names are no table's records. */
const recordsMax = 1000

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
  const isPattern = pattern !== objectUrl(bucket, prefix)
  const tables = isPattern
    ? await tablesAbove(store, bucket, prefix, signal)
    : new Map<string, string>()
  for await (const object of store.list(bucket, prefix, signal)) {
    const table = tableOf(object.key)
    if (table) tables.set(table.root, table.format)
    if (!matches(object.key)) continue
    objects.push(object)
    if (objects.length > objectsMax) {
      throw new FileError(pattern, `matches more than ${objectsMax} objects`)
    }
  }
  if (objects.length === 0) throw new FileError(pattern, 'matches no object')
  for (const [root, format] of tables) {
    if (!isPattern || !objects.some(({ key }) => key.startsWith(root))) continue
    throw new FileError(objectUrl(bucket, root), tableReason(format))
  }
  objects.sort((left, right) => (left.key < right.key ? -1 : 1))
  return objects.map((object) => ({
    bucket,
    object,
    path: join(folder, fileName(bucket, object)),
    name: objectUrl(bucket, object.key),
  }))
}

/** Tables, by root, that hold all objects with this prefix; their listing lacks the records. */
async function tablesAbove(
  store: ObjectStore,
  bucket: string,
  prefix: string,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const tables = new Map<string, string>()
  const folders = prefix.split('/').slice(0, -1)
  for (let depth = 0; depth <= folders.length; depth++) {
    const root = folders
      .slice(0, depth)
      .map((folder) => `${folder}/`)
      .join('')
    if (root === prefix) continue
    for (const records of tableRecords) {
      let listed = 0
      for await (const { key } of store.list(bucket, `${root}${records}`, signal)) {
        const table = tableOf(key)
        if (table?.root === root) tables.set(root, table.format)
        if (table || ++listed === recordsMax) break
      }
    }
  }
  return tables
}

function fileName(bucket: string, { key, etag, sizeBytes }: ListedObject): string {
  const hash = createHash('sha256').update(JSON.stringify([bucket, key, etag, sizeBytes]))
  return `${hash.digest('hex')}.parquet`
}
