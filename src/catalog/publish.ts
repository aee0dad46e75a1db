import { createHash } from 'node:crypto'
import { constants, copyFile, link, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isIntact, readManifest } from './manifest.js'
import { FileError } from './opener.js'
import { identityOf } from './source-files.js'
import type { SourceFile } from './source-files.js'

/** A folder of linked files that no later rename or delete at the source can change. */
export interface PublishedFiles {
  readonly folder: string
  /** In the order of the source files. */
  readonly files: readonly PublishedFile[]
}

export interface PublishedFile {
  readonly path: string
  /**
   * The identity that the file has as long as nobody overwrites its source in place; null for a
   * copy, which only this server could write to.
   */
  readonly guard: string | null
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
  const folder = join(parent, contentIdOf(files))
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const known = await readManifest(folder)
  if (known && (await isIntact(known))) return { folder, files: known.files }
  const draft = `${folder}.draft`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  const published: PublishedFile[] = []
  for (const [index, file] of files.entries()) {
    const name = publishedName(index)
    const isLink = await publishFile(file, join(draft, name))
    published.push({ path: join(folder, name), guard: isLink ? file.identity : null })
  }
  await rm(folder, { recursive: true, force: true })
  await rename(draft, folder)
  return { folder, files: published }
}

/**
 * What these files hold, in this order, wherever they lie and whenever they were written; what
 * folders named `key=value` say of them is part of it.
 */
export function contentIdOf(files: readonly Pick<SourceFile, 'contentHash' | 'name'>[]): string {
  const hash = createHash('sha256')
  for (const { contentHash, name } of files) {
    hash.update(contentHash)
    for (const folder of name.split('/').slice(0, -1)) if (folder.includes('=')) hash.update(folder)
  }
  return hash.digest('hex').slice(0, 16)
}

function publishedName(index: number): string {
  return `${String(index).padStart(6, '0')}.parquet`
}

/** True for a link. */
async function publishFile(file: SourceFile, to: string): Promise<boolean> {
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
  return linked
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
