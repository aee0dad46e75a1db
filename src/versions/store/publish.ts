import { createHash } from 'node:crypto'
import { constants, copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContentFile } from '../files/build-version.js'
import { identityOf, stampOf } from '../files/source-files.js'
import type { SourceFile } from '../files/source-files.js'
import { hashFile } from '../hash-file.js'
import { inBatches } from '../in-batches.js'
import { FileError } from '../opener.js'
import { FileChecks } from './file-checks.js'
import { readManifest } from './manifest.js'

/** A folder of files that no rename or delete at the source can change. */
export interface PublishedFiles {
  readonly folder: string
  /** In the order of the source files. */
  readonly files: readonly PublishedFile[]
}

export type PublishedFile = Omit<ContentFile, 'opened'>

/** Errors for a hard link where a copy may still work. */
const linkRefusals = ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EACCES']

export interface PublishOptions {
  /** Which files were verified. Creates the links, to keep track of them. */
  readonly checks?: FileChecks
  /** Folders that are not used again, because the engine may have cached their content. */
  readonly damaged?: ReadonlySet<string>
}

/**
 * Links the files into a new folder below `versionsFolder`, named after their content; copies them
 * if the file system refuses a link. The folder appears atomically. Publishing the same content
 * again costs nothing.
 * @throws FileError for a file that can't be published or has changed since it was found
 */
export async function publishFiles(
  versionsFolder: string,
  dataset: string,
  files: readonly SourceFile[],
  { checks = new FileChecks(hashFile), damaged = new Set() }: PublishOptions = {},
): Promise<PublishedFiles> {
  const parent = join(versionsFolder, dataset)
  const folder = unusedName(join(parent, contentIdOf(files)), damaged)
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const there = await filesThere(folder, files, checks)
  if (there) return { folder, files: there }
  const draft = `${folder}.draft`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  const published: PublishedFile[] = []
  for (const [index, file] of files.entries()) {
    const name = publishedName(index)
    const isLink = await publishFile(file, join(draft, name), checks)
    const guard = isLink ? file.identity : null
    published.push({ source: file, path: join(folder, name), guard, hash: file.contentHash })
  }
  await rm(folder, { recursive: true, force: true })
  await rename(draft, folder)
  checks.move(draft, folder)
  return { folder, files: published }
}

function unusedName(folder: string, damaged: ReadonlySet<string>): string {
  let name = folder
  for (let count = 1; damaged.has(name); count++) name = `${folder}-${count}`
  return name
}

/**
 * The files of a folder already published with this content; null if one is missing or changed. A
 * changed identity is accepted if it is the source's, which was read just now.
 */
async function filesThere(
  folder: string,
  sources: readonly SourceFile[],
  checks: FileChecks,
): Promise<readonly PublishedFile[] | null> {
  const known = await readManifest(folder)
  if (known?.files.length !== sources.length) return null
  const files = await inBatches([...sources.entries()], async ([index, source]) => {
    const { path = '', guard = null } = known.files[index] ?? {}
    const found = await stat(path, { bigint: true }).catch(() => undefined)
    if (!found || Number(found.size) !== source.sizeBytes) return null
    const identity = identityOf(found)
    if (guard !== null && identity !== guard && identity !== source.identity) return null
    const { contentHash, stamp } = source
    if (stamp === stampOf(found)) checks.note(path, found, contentHash)
    return { source, path, guard: guard && identity, hash: contentHash }
  })
  return files.every((file) => file !== null) ? files : null
}

/** An id of the files' content, order and `key=value` folders, without paths and times. */
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

/** True if the file was linked, false if copied. */
async function publishFile(file: SourceFile, to: string, checks: FileChecks): Promise<boolean> {
  let linked: boolean
  try {
    linked = await linkOrCopy(file, to, checks)
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

/** True for a link; a copy is durable when this returns. */
async function linkOrCopy(file: SourceFile, to: string, checks: FileChecks): Promise<boolean> {
  try {
    checks.link(file, to)
    return true
  } catch (cause) {
    if (!linkRefusals.includes((cause as NodeJS.ErrnoException).code ?? '')) throw cause
    await copyFile(file.realPath, to, constants.COPYFILE_FICLONE)
    await using copy = await open(to)
    await copy.sync()
    return false
  }
}
