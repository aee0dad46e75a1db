import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type from 'typebox'
import type { Static } from 'typebox'
import { Check } from 'typebox/value'

/** The file that describes a packed folder. */
export const packRecordName = 'pack.json'

const FinishedFileSchema = Type.Object({
  name: Type.String(),
  rows: Type.Integer(),
  /** The checksum of its cells, as decimal digits. */
  checksum: Type.String(),
})

const PackRecordSchema = Type.Object({
  dataset: Type.String(),
  /** Equal for equal sources, columns, key and layout. */
  identity: Type.String(),
  files: Type.Array(FinishedFileSchema),
  /**
   * The indexes of source files whose rows keep their order in the packed files; left out before
   * the end, and by earlier builds.
   */
  inOrder: Type.Optional(Type.Array(Type.Integer())),
})

/** A packed file as read back after writing. */
export type FinishedFile = Static<typeof FinishedFileSchema>
export type PackRecord = Static<typeof PackRecordSchema>

/** The record of a folder; null if it is missing or cut off by a power failure. */
export async function readPackRecord(folder: string): Promise<PackRecord | null> {
  const text = await readFile(join(folder, packRecordName), 'utf8').catch(() => null)
  const record = text === null ? null : parsed(text)
  return Check(PackRecordSchema, record) ? record : null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
