import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Random } from '../../random.js'
import { identityOf } from '../files/find-files.js'
import type { DiskSpace } from '../disk-space.js'
import type { HashFile } from '../hash-file.js'
import { inBatches } from '../in-batches.js'
import { fetchObject } from '../objects/fetch-object.js'
import type { ObjectFolder } from '../objects/object-pattern.js'
import type { ListedObject, ObjectStore } from '../objects/object-store.js'
import { CopyRefused, copyRecordName, parseCopyRecord, sharedName } from './copy-record.js'
import type { CopyRecord, SharedFile } from './copy-record.js'
import { readPackRecord, writePackRecord } from './pack-record.js'
import { draftOf, fetchedOf } from './packer.js'
import type { PackOrder } from './packer.js'

export interface CopyParts {
  readonly store: ObjectStore
  readonly hashFile: HashFile
  readonly random: Random
  /** What may be written to the disk. */
  readonly space: DiskSpace
}

export interface CopyOptions {
  readonly signal: AbortSignal
  /** Called with the rows that are fetched or uploaded so far. */
  readonly report: (rowsDone: number) => void
}

/** The identities of fetched files, by name. They stay the same when packing finds them sound. */
export type FetchedCopy = ReadonlyMap<string, string>

export const copiedAtOnce = 4
const objectsMax = 100_000
const recordBytesMax = 32 * 1024 ** 2
/** A copy that is so much larger than its sources is not one that a server made. */
const growthMax = 10
const bytesMin = 64 * 1024 ** 2

/**
 * Fetches an order's packed copy from a bucket. Its files become the draft of the order, as if an
 * earlier try had finished them: packing then reads every one, and compares all cells with those of
 * the sources. Null without a copy there, or with a draft of this server's own.
 * @throws CopyRefused, NoSpaceError, ObjectChanged; errors of the store and the system
 */
export async function fetchCopy(
  order: PackOrder,
  place: ObjectFolder,
  parts: CopyParts,
  options: CopyOptions,
): Promise<FetchedCopy | null> {
  const draft = draftOf(order.target)
  if (await readPackRecord(draft)) return null
  const objects = await listCopy(place, parts.store, options.signal)
  const record = objects.get(copyRecordName)
  if (!record) return null
  const folder = fetchedOf(order.target)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  try {
    const copy = await fetchRecord(order, place, record, parts, options)
    await fetchFiles(order, place, { copy, objects }, parts, options)
    const identities = await identitiesIn(folder, copy.files)
    const { dataset, identity } = copy
    const files = copy.files.map(({ name, rows, checksum }) => ({ name, rows, checksum }))
    await writePackRecord(folder, { dataset, identity, files })
    await rename(folder, draft).catch((cause: unknown) => {
      throw new CopyRefused('another process is packing', { cause })
    })
    return identities
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The number of fetched files that the packed folder still has. */
export async function keptOf(fetched: FetchedCopy, target: string): Promise<number> {
  const names = [...fetched.keys()].map((name) => ({ name }))
  const now = await identitiesIn(target, names)
  return names.filter(({ name }) => now.get(name) === fetched.get(name)).length
}

/** The objects of a copy, by their names in its folder. */
async function listCopy(
  { bucket, prefix }: ObjectFolder,
  store: ObjectStore,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ListedObject>> {
  const objects = new Map<string, ListedObject>()
  for await (const object of store.list(bucket, prefix, signal)) {
    objects.set(object.key.slice(prefix.length), object)
    if (objects.size > objectsMax) throw new CopyRefused(`has more than ${objectsMax} objects`)
  }
  return objects
}

async function fetchRecord(
  order: PackOrder,
  { bucket }: ObjectFolder,
  object: ListedObject,
  { store, random }: CopyParts,
  { signal }: CopyOptions,
): Promise<CopyRecord> {
  if (object.sizeBytes > recordBytesMax) throw new CopyRefused(`${copyRecordName} is too large`)
  const path = join(fetchedOf(order.target), copyRecordName)
  await fetchObject(store, bucket, object, { path, signal, random, onBytes: () => undefined })
  const copy = parseCopyRecord(await readFile(path, 'utf8'), order)
  await rm(path)
  return copy
}

/** The record of a copy, and what its folder has. */
interface FoundCopy {
  readonly copy: CopyRecord
  readonly objects: ReadonlyMap<string, ListedObject>
}

async function fetchFiles(
  order: PackOrder,
  { bucket }: ObjectFolder,
  { copy, objects }: FoundCopy,
  { store, hashFile, random, space }: CopyParts,
  { signal, report }: CopyOptions,
): Promise<void> {
  const found = copy.files.map((file) => ({ file, object: objectOf(file, objects) }))
  const bytes = found.reduce((sum, { object }) => sum + object.sizeBytes, 0)
  if (bytes > Math.max(bytesMin, growthMax * (await sourceBytes(order)))) {
    throw new CopyRefused('is far larger than the files')
  }
  using room = await space.reserve(bytes)
  let rowsDone = 0
  const fetchOne = async ({ file, object }: (typeof found)[number]) => {
    const path = join(fetchedOf(order.target), file.name)
    await fetchObject(store, bucket, object, { path, signal, random, onBytes: room.note })
    if ((await hashFile(path)) !== file.sha256) throw new CopyRefused(`${file.name} is damaged`)
    rowsDone += file.rows
    report(rowsDone)
  }
  await inBatches(found, fetchOne, copiedAtOnce)
}

function objectOf(file: SharedFile, objects: ReadonlyMap<string, ListedObject>): ListedObject {
  const object = objects.get(sharedName(file))
  if (!object) throw new CopyRefused(`${file.name} is missing`)
  if (object.sizeBytes !== file.sizeBytes) throw new CopyRefused(`${file.name} is damaged`)
  return object
}

async function sourceBytes({ files }: PackOrder): Promise<number> {
  const sizes = await inBatches(files, async ({ path }) => (await stat(path)).size)
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** A missing file has no identity. */
async function identitiesIn(
  folder: string,
  files: readonly { readonly name: string }[],
): Promise<FetchedCopy> {
  const found = await inBatches(files, async ({ name }) => {
    const stats = await stat(join(folder, name), { bigint: true }).catch(() => null)
    return [name, stats ? identityOf(stats) : ''] as const
  })
  return new Map(found)
}
