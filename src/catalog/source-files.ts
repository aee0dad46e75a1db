import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { escapePath, glob, isDynamicPattern } from 'tinyglobby'
import { FileError } from './opener.js'

const filesMax = 100_000
const footerBytesMax = 256 * 1024 * 1024

/** A file at its source, with the facts that tell one content from another. */
export interface SourceFile {
  readonly path: string
  /** Relative to the registry, for people. */
  readonly name: string
  readonly sizeBytes: number
  readonly modifiedMs: number
  /** SHA-256 of the Parquet footer, which holds every column chunk's place, size and statistics. */
  readonly footerHash: string
}

/**
 * The files that a dataset's patterns name, in stored order: patterns as listed, the matches of
 * each by name.
 * @throws FileError for a pattern that matches nothing and for a file that is no whole Parquet file
 */
export async function findSourceFiles(
  folder: string,
  patterns: readonly string[],
): Promise<readonly SourceFile[]> {
  const paths = new Set<string>()
  for (const pattern of patterns) {
    const matches = await expand(folder, pattern)
    if (matches.length === 0) throw new FileError(join(folder, pattern), 'matches no file')
    for (const path of matches) paths.add(path)
    if (paths.size > filesMax) {
      throw new FileError(join(folder, pattern), `matches more than ${filesMax} files`)
    }
  }
  const files: SourceFile[] = []
  for (const path of paths) files.push(await readSourceFile(folder, path))
  return files
}

async function expand(folder: string, pattern: string): Promise<readonly string[]> {
  if (!isDynamicPattern(pattern)) pattern = escapePath(pattern)
  const found = await glob(pattern, { cwd: folder, absolute: true, expandDirectories: false })
  return found.sort((left, right) => (left < right ? -1 : 1))
}

async function readSourceFile(folder: string, path: string): Promise<SourceFile> {
  const name = relative(folder, path).split(sep).join('/')
  try {
    await using file = await open(path)
    const { size, mtimeMs } = await file.stat()
    if (size === 0) throw new FileError(path, 'is empty (0 bytes)')
    const tail = Buffer.alloc(8)
    if (size >= 12) await file.read(tail, 0, 8, size - 8)
    const mark = tail.toString('latin1', 4)
    if (mark === 'PARE') throw new FileError(path, 'is encrypted Parquet, which is not supported')
    if (mark !== 'PAR1') {
      throw new FileError(path, 'is not a whole Parquet file (no PAR1 at its end)')
    }
    const footerBytes = tail.readUInt32LE(0)
    if (footerBytes > size - 12 || footerBytes > footerBytesMax) {
      throw new FileError(path, 'is not a whole Parquet file (its footer is cut)')
    }
    const footer = Buffer.alloc(footerBytes)
    await file.read(footer, 0, footerBytes, size - 8 - footerBytes)
    const footerHash = createHash('sha256').update(footer).digest('hex')
    return { path, name, sizeBytes: size, modifiedMs: Math.floor(mtimeMs), footerHash }
  } catch (cause) {
    if (cause instanceof FileError) throw cause
    const code = (cause as NodeJS.ErrnoException).code ?? 'error'
    throw new FileError(path, `can't be read (${code})`, cause)
  }
}
