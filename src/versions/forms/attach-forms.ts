import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContentFile } from '../files/build-version.js'
import { inBatches } from '../in-batches.js'
import { formFiles } from '../version.js'
import type { StoredFile, Version } from '../version.js'
import { formsOf, isNamesForm, pagesForm } from './form.js'
import type { Form } from './form.js'
import { readFormRecord } from './form-record.js'
import type { FinishedForm } from './form-record.js'

/** A version with the forms that it has. */
export interface Attached {
  readonly version: Version
  readonly made: readonly Form[]
  readonly missing: readonly Form[]
  /** Whether forms for questions were made, of these or other files. */
  readonly isRecorded: boolean
}

/** A form that is made, with its file; without one if the version's own file serves as well. */
interface FoundForm {
  readonly form: Form
  readonly finished: FinishedForm
  readonly file: StoredFile | null
}

/** Finds the forms of a version that a folder has; `isUsable` may leave some out. */
export async function attachForms(
  version: Version,
  folder: string,
  isUsable: (file: StoredFile) => Promise<boolean> = async () => true,
): Promise<Attached> {
  const record = await readFormRecord(folder)
  const wanted = formsOf(version)
  const found = await inBatches(wanted, async (form): Promise<FoundForm | null> => {
    const finished = record[form.name]
    if (finished === undefined) return null
    if (finished === null) return { form, finished, file: null }
    const file = storedForm(folder, form, finished.hash)
    const { size } = (await stat(file.path).catch(() => null)) ?? {}
    return size === finished.sizeBytes && (await isUsable(file)) ? { form, finished, file } : null
  })
  const made = found.filter((each) => each !== null)
  const has = new Set(made.map(({ form }) => form.name))
  return {
    version: withForms(version, made),
    made: made.map(({ form }) => form),
    missing: wanted.filter(({ name }) => !has.has(name)),
    isRecorded: Object.keys(record).some((name) => !isNamesForm(name)),
  }
}

/** The version without a form; the same one if it has no such form. */
export function withoutForm(version: Version, isThis: (file: StoredFile) => boolean): Version {
  if (!formFiles(version).some(isThis)) return version
  const kept = (file: StoredFile | null) => (file && isThis(file) ? null : file)
  return Object.freeze({
    ...version,
    files: version.files.map((file) =>
      Object.freeze({ ...file, rowCopy: kept(file.rowCopy), pages: kept(file.pages) }),
    ),
    search: version.search.filter((file) => !isThis(file)),
    names: kept(version.names),
  })
}

/** A published file, read from its pages; null if it has none. */
export async function readPages(folder: string, file: ContentFile): Promise<ContentFile | null> {
  const form = pagesForm(file.source.contentHash)
  const finished = (await readFormRecord(folder))[form.name]
  if (!finished) return null
  const { path, guard, hash } = storedForm(folder, form, finished.hash)
  const { size } = (await stat(path).catch(() => null)) ?? {}
  return size === finished.sizeBytes ? { ...file, path, guard, hash } : null
}

function withForms(version: Version, found: readonly FoundForm[]): Version {
  const byPlace = new Map(found.map(({ form, file }) => [`${form.kind} ${form.file}`, file]))
  const fileOf = (kind: Form['kind'], index: number | null) =>
    byPlace.get(`${kind} ${index}`) ?? null
  return Object.freeze({
    ...version,
    files: version.files.map((file, index) =>
      Object.freeze({ ...file, rowCopy: fileOf('rows', index), pages: fileOf('pages', index) }),
    ),
    names: fileOf('names', null),
    search: found.flatMap(({ form, file }) => {
      if (form.column === null || !file) return []
      return [Object.freeze({ ...file, column: form.column })]
    }),
  })
}

/** Only this server writes to a form. */
function storedForm(folder: string, { name }: Form, hash: string): StoredFile {
  return Object.freeze({ path: join(folder, name), guard: null, hash, name: `forms/${name}` })
}
