import { createHash } from 'node:crypto'
import { constants, copyFile, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { rememberHashes } from './known-hashes.js'
import { FileError } from './opener.js'
import { identityOf } from './source-files.js'
import type { SourceFile } from './source-files.js'

/** A folder of linked files that no later rename or delete at the source can change. */
export interface PublishedFiles {
  readonly folder: string
  /** In the order of the source files. */
  readonly paths: readonly string[]
}

/** Why a file system refuses a hard link though it would take a copy. */
const linkRefusals = ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EACCES']

/**
 * Links the files into a folder of their own under `versionsFolder`, named after their content.
 * Where the file system refuses a link, the file is copied. The folder is whole or not there, and
 * publishing the same content again is free.
 * @throws FileError for a file that can't be published or has changed since it was found
 */
export async function publishFiles(
  versionsFolder: string,
  dataset: string,
  files: readonly SourceFile[],
): Promise<PublishedFiles> {
  const parent = join(versionsFolder, dataset)
  const folder = join(parent, contentId(files))
  const paths = files.map((_, index) => join(folder, publishedName(index)))
  await mkdir(parent, { recursive: true, mode: 0o700 })
  if (!(await holdsAll(paths, files))) {
    const draft = `${folder}.draft`
    await rm(draft, { recursive: true, force: true })
    await mkdir(draft, { mode: 0o700 })
    for (const [index, file] of files.entries()) {
      await publishFile(file, join(draft, publishedName(index)))
    }
    await rm(folder, { recursive: true, force: true })
    await rename(draft, folder)
  }
  await rememberHashes(folder, files)
  return { folder, paths }
}

/** Removes every published folder of a dataset but the one in use. */
export async function removeOtherVersions(
  versionsFolder: string,
  dataset: string,
  keep: string,
): Promise<void> {
  const parent = join(versionsFolder, dataset)
  for (const name of await readdir(parent)) {
    if (join(parent, name) !== keep) await rm(join(parent, name), { recursive: true, force: true })
  }
}

function contentId(files: readonly SourceFile[]): string {
  const hash = createHash('sha256')
  for (const { contentHash } of files) hash.update(contentHash)
  return hash.digest('hex').slice(0, 16)
}

function publishedName(index: number): string {
  return `${String(index).padStart(6, '0')}.parquet`
}

/** The sizes tell a copy that a power cut left short. */
async function holdsAll(paths: readonly string[], files: readonly SourceFile[]): Promise<boolean> {
  for (const [index, path] of paths.entries()) {
    const found = await stat(path).catch(() => undefined)
    if (found?.size !== files[index]?.sizeBytes) return false
  }
  return true
}

async function publishFile(file: SourceFile, to: string): Promise<void> {
  let linked: boolean
  try {
    linked = await linkOrCopy(file.realPath, to)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new FileError(file.path, `can't be linked or copied (${code})`, cause)
  }
  const now = await stat(linked ? to : file.realPath, { bigint: true })
  if (identityOf(now) !== file.identity) {
    throw new FileError(file.path, 'was replaced while it was read')
  }
}

/** True for a link; a copy is on the disk before this ends. */
async function linkOrCopy(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (cause) {
    if (!linkRefusals.includes((cause as NodeJS.ErrnoException).code ?? '')) throw cause
    await copyFile(from, to, constants.COPYFILE_FICLONE)
    await using copy = await open(to)
    await copy.sync()
    return false
  }
}
