import { createHash } from 'node:crypto'
import { constants, copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContentFile } from '../files/build-version.js'
import { identityOf, shownPath, stampOf } from '../files/find-files.js'
import type { SourceFile } from '../files/source-files.js'
import { isObjectUrl } from '../objects/object-pattern.js'
import { NoSpaceError } from '../disk-space.js'
import type { DiskSpace } from '../disk-space.js'
import { inBatches } from '../in-batches.js'
import { FileError } from '../opener.js'
import type { FileChecks } from './file-checks.js'
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
  readonly checks: FileChecks
  /** Folders that are not used again, because the engine may have cached their content. */
  readonly damaged?: ReadonlySet<string>
  /** What copies may take; left out = all. */
  readonly space?: DiskSpace
  /** Up to so many bytes are copied rather than linked; left out = 0. */
  readonly copyMaxBytes?: number
}

/**
 * Links the files into a new folder below `versionsFolder`, named after their content; copies them
 * if the file system refuses a link, or if they are small: then nothing that is written into a
 * dropped file harms the version. The folder appears atomically. Publishing the same content again
 * costs nothing.
 * @throws FileError for a file that can't be published or has changed since it was found
 */
export async function publishFiles(
  versionsFolder: string,
  dataset: string,
  files: readonly SourceFile[],
  { checks, damaged = new Set(), space, copyMaxBytes = 0 }: PublishOptions,
): Promise<PublishedFiles> {
  const parent = join(versionsFolder, dataset)
  const folder = unusedName(join(parent, contentIdOf(files)), damaged)
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const there = await filesThere(folder, files, checks)
  if (there) return { folder, files: there }
  const draft = `${folder}.draft`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  // Nobody else writes into fetched objects.
  const areDropped = !files.some(({ name }) => isObjectUrl(name))
  const isSmall = areDropped && bytesOf(files) <= copyMaxBytes
  const isCopied = isSmall && (space?.limitBytes ?? null) === null
  const copies: Draft[] = []
  const published: PublishedFile[] = []
  for (const [index, source] of files.entries()) {
    const name = `${String(index).padStart(6, '0')}.parquet`
    const to = join(draft, name)
    const isLink = !isCopied && isLinked(source, to, checks)
    if (isLink) await requireSame(source, to)
    else copies.push({ source, to })
    const guard = isLink ? source.identity : null
    published.push({ source, path: join(folder, name), guard, hash: source.contentHash })
  }
  using room = await roomFor(copies, space)
  for (const each of copies) {
    await copy(each)
    room?.note(each.source.sizeBytes)
  }
  await rm(folder, { recursive: true, force: true })
  await rename(draft, folder)
  checks.move(draft, folder)
  return { folder, files: published }
}

function bytesOf(files: readonly SourceFile[]): number {
  return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
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
function contentIdOf(files: readonly Pick<SourceFile, 'contentHash' | 'name'>[]): string {
  const hash = createHash('sha256')
  for (const { contentHash, name } of files) {
    hash.update(contentHash)
    for (const folder of name.split('/').slice(0, -1)) if (folder.includes('=')) hash.update(folder)
  }
  return hash.digest('hex').slice(0, 16)
}

/** A file to copy, and its place in the new folder. */
interface Draft {
  readonly source: SourceFile
  readonly to: string
}

/** False if the file system refuses a link. */
function isLinked(source: SourceFile, to: string, checks: FileChecks): boolean {
  try {
    checks.link(source, to)
    return true
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    if (linkRefusals.includes(code)) return false
    throw new FileError(shownPath(source), `can't be linked or copied (${code})`, cause)
  }
}

/** Room for copies, as long as they are written. */
async function roomFor(copies: readonly Draft[], space?: DiskSpace) {
  try {
    return await space?.reserve(bytesOf(copies.map(({ source }) => source)))
  } catch (cause) {
    if (!(cause instanceof NoSpaceError)) throw cause
    const [first] = copies
    const path = first ? shownPath(first.source) : ''
    throw new FileError(path, `can't be linked, and its version ${cause.message}`, cause)
  }
}

/** A copy is durable when this returns. */
async function copy({ source, to }: Draft): Promise<void> {
  const { realPath } = source
  try {
    await copyFile(realPath, to, constants.COPYFILE_FICLONE)
    await using file = await open(to)
    await file.sync()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new FileError(shownPath(source), `can't be linked or copied (${code})`, cause)
  }
  await requireSame(source, realPath)
}

async function requireSame(source: SourceFile, at: string): Promise<void> {
  if (identityOf(await stat(at, { bigint: true })) === source.identity) return
  throw new FileError(shownPath(source), 'was replaced while it was read')
}
