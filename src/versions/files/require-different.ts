import { quoted } from '../../text.js'
import { FileError } from '../opener.js'
import type { ContentFile } from './build-version.js'
import { folderValues, shownPath } from './find-files.js'

/**
 * Two files with the same bytes are a file that was delivered twice, unless their folders give its
 * rows other values.
 * @throws FileError for the second one
 */
export function requireDifferent(files: readonly ContentFile[]): void {
  const seen = new Map<string, ContentFile>()
  for (const file of files) {
    const { source, opened } = file
    if (opened.rows === 0) continue
    const key = `${source.contentHash} ${folderValues(source.name)}`
    const twin = seen.get(key)
    if (twin) {
      const reason =
        `has the same bytes as ${quoted(twin.source.name)}, so that its rows would be served ` +
        'twice; remove one of them'
      throw new FileError(shownPath(source), reason)
    }
    seen.set(key, file)
  }
}
