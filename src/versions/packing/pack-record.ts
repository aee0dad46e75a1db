import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type from 'typebox'
import type { Static } from 'typebox'
import { Check } from 'typebox/value'

/** The page that lies among packed files and says what they are. */
export const packRecordName = 'pack.json'

const FinishedFileSchema = Type.Object({
  name: Type.String(),
  rows: Type.Integer(),
  /** Of its cells, as decimal digits. */
  checksum: Type.String(),
})

const PackPageSchema = Type.Object({
  dataset: Type.String(),
  /** Equal for equal sources, columns, key and layout. */
  identity: Type.String(),
  files: Type.Array(FinishedFileSchema),
})

/** A packed file as it was found after it was written. */
export type FinishedFile = Static<typeof FinishedFileSchema>
export type PackRecord = Static<typeof PackPageSchema>

/** The page of a folder; null where there is none, or a power failure has cut it short. */
export async function readPackRecord(folder: string): Promise<PackRecord | null> {
  const text = await readFile(join(folder, packRecordName), 'utf8').catch(() => null)
  const page = text === null ? null : parsed(text)
  return Check(PackPageSchema, page) ? page : null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
