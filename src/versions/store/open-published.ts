import type { ContentFile } from '../files/build-version.js'
import { shownPath } from '../files/source-files.js'
import { FileError } from '../opener.js'
import type { OpenFiles, OpenedFile } from '../opener.js'
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
): Promise<readonly ContentFile[]> {
  const knownFile = ({ source }: PublishedFile) => known.opened(source.contentHash, boundsOf)
  const unknown = files.filter((file) => !knownFile(file))
  const opened = await openUnknown(unknown, boundsOf, openFiles)
  const all = files.map((file) => {
    const found = opened.get(file.path) ?? knownFile(file)
    if (!found) throw new Error('the engine left out a file')
    return { ...file, opened: found }
  })
  known.addFiles(all, boundsOf)
  return all
}

async function openUnknown(
  files: readonly PublishedFile[],
  boundsOf: readonly string[],
  openFiles: OpenFiles,
): Promise<ReadonlyMap<string, OpenedFile>> {
  if (files.length === 0) return new Map()
  const paths = files.map(({ path }) => path)
  try {
    const opened = await openFiles(paths, boundsOf)
    return new Map(opened.map((file, index) => [paths[index] ?? '', file]))
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause
    const file = files.find(({ path }) => path === cause.path)
    throw new FileError(file ? shownPath(file.source) : cause.path, cause.reason, cause)
  }
}
