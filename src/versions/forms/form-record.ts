import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type from 'typebox'
import type { Static } from 'typebox'
import { Check } from 'typebox/value'

/** The folder beside a dataset's versions that holds their forms. */
export const formsFolderName = 'forms'
/** The file in it that lists the finished ones. */
export const formRecordName = 'record.json'
/** The file in it that the process which makes forms locks. */
export const formsLockName = 'lock'

/** A finished form. Null: the file itself serves as well, so there is none. */
const FinishedFormSchema = Type.Union([
  Type.Null(),
  Type.Object({
    sizeBytes: Type.Integer(),
    /** SHA-256. */
    hash: Type.String(),
  }),
])
const FormRecordSchema = Type.Record(Type.String(), FinishedFormSchema)

export type FinishedForm = Static<typeof FinishedFormSchema>
/** By the names of the forms. */
export type FormRecord = Readonly<Record<string, FinishedForm>>

/** The finished forms of a folder; none if it has no whole record. */
export async function readFormRecord(folder: string): Promise<FormRecord> {
  const text = await readFile(join(folder, formRecordName), 'utf8').catch(() => 'null')
  const record = parsed(text)
  return Check(FormRecordSchema, record) ? record : {}
}

/** Replaces the record durably; the forms that it lists are on the disk before. */
export async function writeFormRecord(folder: string, record: FormRecord): Promise<void> {
  const path = join(folder, formRecordName)
  const text = `${JSON.stringify(record, null, 1)}\n`
  await writeFile(`${path}.draft`, text, { mode: 0o600, flush: true })
  await rename(`${path}.draft`, path)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
