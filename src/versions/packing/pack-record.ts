import { createHash } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import Type from 'typebox'
import type { Static } from 'typebox'
import { Check } from 'typebox/value'

/** Increase it when the layout of drafts changes, so that older drafts and copies are not used. */
export const packFormat = 2

/** The file that describes a packed folder. */
export const packRecordName = 'pack.json'

const FinishedFileSchema = Type.Object({
  name: Type.String(),
  rows: Type.Integer(),
  /** The checksum of its cells, as decimal digits. */
  checksum: Type.String(),
})

const FinishedSearchSchema = Type.Object({
  /** The column's name in the files. */
  column: Type.String(),
  name: Type.String(),
  /** Its rows. */
  texts: Type.Integer(),
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
  /** The search files; left out before the end, and by earlier builds. */
  search: Type.Optional(Type.Array(FinishedSearchSchema)),
})

/** A packed file as read back after writing. */
export type FinishedFile = Static<typeof FinishedFileSchema>
export type FinishedSearch = Static<typeof FinishedSearchSchema>
export type PackRecord = Static<typeof PackRecordSchema>

/** Changes with the content of search files: Unicode decides how their texts are folded. */
const searchForm = ['search-1', process.versions['unicode']]

/** The name of a column's search file. A file that was written by other rules has another name. */
export function searchName(column: string): string {
  const id = createHash('sha256').update(JSON.stringify([...searchForm, column]))
  return `${id.digest('hex').slice(0, 16)}.search`
}

/** The record of a folder, with the usable search files; null if it is missing or cut off. */
export async function readPackRecord(folder: string): Promise<PackRecord | null> {
  const text = await readFile(join(folder, packRecordName), 'utf8').catch(() => null)
  const record = text === null ? null : parsed(text)
  if (!Check(PackRecordSchema, record)) return null
  const search = (record.search ?? []).filter(({ column, name }) => name === searchName(column))
  return { ...record, search }
}

/** Writes a folder's record atomically and durably. */
export async function writePackRecord(folder: string, record: PackRecord): Promise<void> {
  const path = join(folder, packRecordName)
  await using file = await open(`${path}.part`, 'w')
  await file.writeFile(`${JSON.stringify(record, null, 1)}\n`)
  await file.sync()
  await rename(`${path}.part`, path)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
