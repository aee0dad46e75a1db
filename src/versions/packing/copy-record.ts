import { basename } from 'node:path'
import Type from 'typebox'
import type { Static } from 'typebox'
import { Check } from 'typebox/value'
import { parseObjectFolder } from '../objects/object-pattern.js'
import type { ObjectFolder } from '../objects/object-pattern.js'
import { packFormat } from './pack-record.js'
import type { PackOrder } from './packer.js'

/** The object that describes a packed copy in a bucket. It is written last. */
export const copyRecordName = 'copy.json'

const count = Type.Integer({ minimum: 0 })

const SharedFileSchema = Type.Object({
  /** Its name in a packed folder. */
  name: Type.String({ pattern: '^\\d{6,9}\\.parquet$' }),
  rows: count,
  /** The checksum of its cells, as decimal digits. */
  checksum: Type.String({ pattern: '^\\d{1,40}$' }),
  sizeBytes: count,
  /** Of its content, in hexadecimal digits; its object is named after it. */
  sha256: Type.String({ pattern: '^[\\da-f]{64}$' }),
})

const CopyRecordSchema = Type.Object({
  format: Type.Integer(),
  dataset: Type.String(),
  /** The name of the packed folder, which depends on the content of the sources and on the key. */
  copy: Type.String(),
  /** The identity of the packed folder's own record. */
  identity: Type.String(),
  files: Type.Array(SharedFileSchema, { minItems: 1 }),
})

/** A packed file that servers share. */
export type SharedFile = Static<typeof SharedFileSchema>
export type CopyRecord = Static<typeof CopyRecordSchema>

/** The folder of an order's copy: `<pack_to>/<dataset>/<name of the packed folder>/`. */
export function copyPlace(packTo: string, { dataset, target }: PackOrder): ObjectFolder {
  const { bucket, prefix } = parseObjectFolder(packTo)
  return { bucket, prefix: `${prefix}${dataset}/${basename(target)}/` }
}

/**
 * The name of a file's object. Two servers that upload at the same time do not mix their files, and
 * `*.parquet` does not match it.
 */
export function sharedName({ sha256 }: Pick<SharedFile, 'sha256'>): string {
  return `${sha256}.packed`
}

/** The record of an order's copy, of these files. */
export function copyRecordOf(
  { dataset, target }: PackOrder,
  identity: string,
  files: readonly SharedFile[],
): CopyRecord {
  return { format: packFormat, dataset, copy: basename(target), identity, files: [...files] }
}

/** A packed copy in a bucket is not used; the message says why. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused'
}

/** Reads a copy's record. @throws CopyRefused if it is not one of the order's copies */
export function parseCopyRecord(text: string, order: PackOrder): CopyRecord {
  const record = parsed(text)
  if (!Check(CopyRecordSchema, record)) throw new CopyRefused(`${copyRecordName} is not valid`)
  if (record.format !== packFormat) throw new CopyRefused('was packed by another release')
  const { dataset, copy, files } = record
  const isOwn = dataset === order.dataset && copy === basename(order.target)
  if (!isOwn) throw new CopyRefused('is a copy of other files')
  if (new Set(files.map(({ name }) => name)).size < files.length) {
    throw new CopyRefused('names a file twice')
  }
  if (sum(files) !== sum(order.files)) throw new CopyRefused('has another number of rows')
  return record
}

function sum(files: readonly { readonly rows: number }[]): number {
  return files.reduce((total, { rows }) => total + rows, 0)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
