import type { DatasetEntry } from '../../registry/registry-schema.js'
import type { ContentFile } from '../files/build-version.js'
import { shownPath } from '../files/find-files.js'
import { typeQuestions } from '../files/unite.js'
import { FileError } from '../opener.js'
import type { FitQuestion, OpenFiles, OpenedFile } from '../opener.js'
import type { KnownFiles } from './known-files.js'
import type { PublishedFile } from './publish.js'

/**
 * Has the engine open the files whose content it has not opened before.
 * @throws FileError, with the path of the source, for a file that can't be read
 */
export async function openPublished(
  files: readonly PublishedFile[],
  boundsOf: readonly string[],
  known: KnownFiles,
  openFiles: OpenFiles,
  entry: DatasetEntry,
): Promise<readonly ContentFile[]> {
  const knownFile = ({ source }: PublishedFile) => known.opened(source.contentHash, boundsOf)
  const unknown = files.filter((file) => !knownFile(file))
  const opened = await openUnknown(unknown, boundsOf, openFiles)
  const all = files.map((file) => {
    const found = opened.get(file.path) ?? knownFile(file)
    if (!found) throw new Error('the engine left out a file')
    return { ...file, opened: found }
  })
  const settled = await settleTypes(all, boundsOf, openFiles, entry)
  known.addFiles(settled, boundsOf)
  return settled
}

/**
 * Has the engine read values until the types of all columns can be united.
 * @throws FileError, with the path of the source, for a file that can't be read
 */
async function settleTypes(
  files: readonly ContentFile[],
  boundsOf: readonly string[],
  openFiles: OpenFiles,
  entry: DatasetEntry,
): Promise<readonly ContentFile[]> {
  let settled = files
  for (let round = 0; round < roundsMax; round++) {
    const questions = typeQuestions(settled, entry)
    if (questions.size === 0) return settled
    const answered = new Map<string, OpenedFile>()
    for (const group of Map.groupBy(questions, ([, own]) => JSON.stringify(own)).values()) {
      const own = group.map(([file]) => file)
      const opened = await openUnknown(own, boundsOf, openFiles, group[0]?.[1])
      for (const [path, each] of opened) answered.set(path, each)
    }
    settled = settled.map((file) => {
      const fits = answered.get(file.path)?.fits
      if (!fits) return file
      const known = new Map([...(file.opened.fits ?? []), ...fits])
      return { ...file, opened: { ...file.opened, fits: known } }
    })
  }
  throw new Error('the engine leaves questions about types open')
}

/** Each round answers for one type of a column at least; a column has few. */
const roundsMax = 40

async function openUnknown(
  files: readonly PublishedFile[],
  boundsOf: readonly string[],
  openFiles: OpenFiles,
  questions?: readonly FitQuestion[],
): Promise<ReadonlyMap<string, OpenedFile>> {
  if (files.length === 0) return new Map()
  const paths = files.map(({ path }) => path)
  try {
    const opened = await openFiles(paths, boundsOf, questions)
    return new Map(opened.map((file, index) => [paths[index] ?? '', file]))
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause
    const file = files.find(({ path }) => path === cause.path)
    throw new FileError(file ? shownPath(file.source) : cause.path, cause.reason, cause)
  }
}
