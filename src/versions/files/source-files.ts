import { constants } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { open, realpath, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { hashFile } from '../hash-file.js'
import type { HashFile } from '../hash-file.js'
import { inBatches } from '../in-batches.js'
import { FileError } from '../opener.js'
import { isObjectUrl } from '../objects/object-pattern.js'
import type { ObjectSource } from '../objects/object-files.js'
import { kindBytes, kindOfFile } from '../tables/file-kind.js'
import { tableFileOf } from '../tables/table-file.js'
import { findFiles, identityOf, notRegular, orFileError, stampOf } from './find-files.js'
import type { FoundFile, SourceOptions } from './find-files.js'

export interface ReadingOptions extends SourceOptions {
  /** Expected content hashes, by identity, of files to read again (see `KnownFiles`). */
  readonly doubted?: Map<string, string>
  readonly hash?: HashFile
}

/** A source file that was read from end to end. */
export interface SourceFile extends Omit<FoundFile, 'stamp' | 'below'> {
  /** Missing in what earlier builds wrote. */
  readonly below?: string
  /** The target, if `path` is a symbolic link. */
  readonly realPath: string
  readonly sizeBytes: number
  readonly modifiedMs: number
  /** SHA-256 of the whole content, in hexadecimal digits. */
  readonly contentHash: string
  /** Its stamp when its content was read; missing if an earlier process read it. */
  readonly stamp?: string
}

/** The file's content changed, but not its size and modification time: the disk may be bad. */
export class DamageError extends FileError {
  constructor(path: string) {
    super(
      path,
      'is damaged: its content changed, but not its size and modification time; restore an ' +
        'intact copy, or accept the present content: touch the file, or das dataset reload --force',
    )
    this.name = 'DamageError'
  }
}

/** A Parquet file begins and ends with these letters, the latter after the footer's size. */
const mark = 'PAR1'
const encryptedMark = 'PARE'
const tailBytes = 8
const wholeBytesMin = 12

/**
 * Reads the files that patterns match, except those in `knownHashes` (by identity) that are not
 * doubted. Removes a doubt if the file is intact.
 * @throws FileError for a pattern that matches nothing and for a file that is not complete Parquet;
 *   DamageError if only a file's content changed
 */
export async function findSourceFiles(
  folder: string,
  patterns: readonly string[],
  knownHashes: ReadonlyMap<string, string>,
  { doubted = new Map(), hash = hashFile, ...options }: ReadingOptions = {},
): Promise<readonly SourceFile[]> {
  const found = await findFiles(folder, patterns, options)
  const known = await inBatches(found, async (file) =>
    doubted.has(file.identity) ? undefined : knownSourceFile(file, knownHashes),
  )
  const files: SourceFile[] = []
  for (const [index, file] of found.entries()) {
    const read = () => readUndoubted(file, doubted, hash)
    const { objects } = options
    const isFetched = objects && isObjectUrl(file.name)
    files.push(known[index] ?? (await (isFetched ? readFetched(objects, file, read) : read())))
  }
  return files
}

/** Reads the file of an object; a damaged one is fetched again. */
async function readFetched(
  objects: ObjectSource,
  file: FoundFile,
  read: () => Promise<SourceFile>,
): Promise<SourceFile> {
  try {
    return await read()
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause
    const isDamaged = cause instanceof DamageError
    if (isDamaged) await objects.discard(file)
    const reason = isDamaged ? 'was damaged on this disk and is fetched again' : cause.reason
    throw new FileError(file.name, reason, cause)
  }
}

async function readUndoubted(
  found: FoundFile,
  doubted: Map<string, string>,
  hash: HashFile,
): Promise<SourceFile> {
  const file = await readSourceFile(found, hash)
  const expected = doubted.get(file.identity)
  if (expected !== undefined && expected !== file.contentHash) throw new DamageError(found.path)
  doubted.delete(file.identity)
  return file
}

/** A file with a known hash; undefined for any other. */
async function knownSourceFile(
  file: FoundFile,
  knownHashes: ReadonlyMap<string, string>,
): Promise<SourceFile | undefined> {
  const { path, identity } = file
  const contentHash = knownHashes.get(identity)
  if (contentHash === undefined) return undefined
  return orFileError(path, async () => {
    const stats = await stat(path, { bigint: true })
    // Undefined: it was replaced in between.
    return identityOf(stats) === identity ? sourceFile(file, stats, contentHash) : undefined
  })
}

async function readSourceFile(place: FoundFile, hash: HashFile): Promise<SourceFile> {
  const { path } = place
  return orFileError(path, async () => {
    const found = await stat(path, { bigint: true })
    if (!found.isFile()) throw new FileError(path, notRegular)
    const { stats, contentHash, isStill } = await readContent(path, hash)
    const file = await sourceFile(place, stats, contentHash)
    return isStill ? { ...file, stamp: stampOf(stats) } : file
  })
}

async function sourceFile(
  { path, name, below }: FoundFile,
  stats: BigIntStats,
  contentHash: string,
): Promise<SourceFile> {
  return {
    path,
    name,
    below,
    realPath: await realpath(path),
    sizeBytes: Number(stats.size),
    modifiedMs: Number(stats.mtimeMs),
    identity: identityOf(stats),
    contentHash,
  }
}

/** The file's metadata and content at one moment. */
async function readContent(
  path: string,
  hash: HashFile,
): Promise<{ stats: BigIntStats; contentHash: string; isStill: boolean }> {
  // Does not wait for a pipe that has replaced the file.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const stats = await file.stat({ bigint: true })
  await requireWhole(file, path, Number(stats.size))
  const contentHash = await hash(path)
  // By path: another file may have replaced it before it was read.
  const after = await stat(path, { bigint: true })
  if (identityOf(after) !== identityOf(stats)) {
    throw new FileError(path, 'was written to while it was read; write it whole, then rename it')
  }
  return { stats, contentHash, isStill: stampOf(after) === stampOf(stats) }
}

async function requireWhole(file: FileHandle, path: string, sizeBytes: number): Promise<void> {
  if (sizeBytes === 0) throw new FileError(path, 'is empty (0 bytes)')
  const tail = Buffer.alloc(tailBytes)
  if (sizeBytes >= wholeBytesMin) await file.read(tail, 0, tailBytes, sizeBytes - tailBytes)
  const lastLetters = tail.toString('latin1', 4)
  if (lastLetters === encryptedMark) {
    throw new FileError(path, 'is encrypted Parquet, which is not supported')
  }
  if (lastLetters !== mark) {
    throw new FileError(path, otherFormat(path, await headOf(file)))
  }
  if (tail.readUInt32LE(0) > sizeBytes - wholeBytesMin) {
    throw new FileError(path, 'is not a whole Parquet file (its footer is cut)')
  }
}

async function headOf(file: FileHandle): Promise<Uint8Array> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(kindBytes), 0, kindBytes, 0)
  return buffer.subarray(0, bytesRead)
}

function otherFormat(path: string, head: Uint8Array): string {
  const table = tableFileOf(path)
  if (table) return `is ${table.format}, not Parquet; \`das dataset add\` writes it as Parquet`
  return kindOfFile(head) ?? `is not a whole Parquet file (no ${mark} at its end)`
}
