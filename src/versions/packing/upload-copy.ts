import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { inBatches } from '../in-batches.js'
import type { ObjectFolder } from '../objects/object-pattern.js'
import { copyRecordName, copyRecordOf, sharedName } from './copy-record.js'
import type { SharedFile } from './copy-record.js'
import { copiedAtOnce } from './fetch-copy.js'
import type { CopyOptions, CopyParts } from './fetch-copy.js'
import { readPackRecord } from './pack-record.js'
import type { FinishedFile } from './pack-record.js'
import type { PackOrder } from './packer.js'

/**
 * Uploads the packed files of an order, and their description when all are there: a broken upload
 * is never taken for a copy.
 * @throws errors of the store and the system
 */
export async function uploadCopy(
  order: PackOrder,
  { bucket, prefix }: ObjectFolder,
  { store, hashFile }: Pick<CopyParts, 'store' | 'hashFile'>,
  { signal, report }: CopyOptions,
): Promise<void> {
  const packed = await readPackRecord(order.target)
  if (!packed) throw new Error('the packed copy is gone')
  let rowsDone = 0
  const uploadOne = async ({ name, rows, checksum }: FinishedFile): Promise<SharedFile> => {
    const path = join(order.target, name)
    const { size: sizeBytes } = await stat(path)
    const file = { name, rows, checksum, sizeBytes, sha256: await hashFile(path) }
    const content = { ...file, open: () => createReadStream(path) }
    await store.write(bucket, `${prefix}${sharedName(file)}`, content, signal)
    rowsDone += rows
    report(rowsDone)
    return file
  }
  const files = await inBatches(packed.files, uploadOne, copiedAtOnce)
  const bytes = Buffer.from(`${JSON.stringify(copyRecordOf(order, packed.identity, files))}\n`)
  const content = {
    open: () => Readable.from([bytes]),
    sizeBytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }
  await store.write(bucket, `${prefix}${copyRecordName}`, content, signal)
}
