import { stat } from 'node:fs/promises'
import { inBatches } from '../../catalog/in-batches.js'
import { identityOf } from '../../catalog/source-files.js'
import type { DataFile } from '../../catalog/version.js'

/** A file that is not what its version was published with: what was read of it may be torn. */
export class ChangedFileError extends Error {
  constructor({ name }: DataFile, what: string) {
    super(`${name} ${what}`)
    this.name = 'ChangedFileError'
  }
}

/**
 * Asked after each read: files that are still what was published were so during the read, too.
 * Files that only this server can write to are not looked at.
 * @throws ChangedFileError for the first that is not, or is gone
 */
export async function requireUnchanged(files: readonly DataFile[]): Promise<void> {
  const guarded = files.filter(({ guard }) => guard !== null)
  await inBatches(guarded, requireSame)
}

async function requireSame(file: DataFile): Promise<void> {
  const found = await stat(file.path, { bigint: true }).catch(() => undefined)
  if (!found) throw new ChangedFileError(file, 'is gone from the versions folder')
  if (identityOf(found) === file.guard) return
  const advice = 'write files whole, then rename them'
  throw new ChangedFileError(file, `was overwritten in place; ${advice}`)
}
