import type { BigIntStats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { dirname, relative, resolve, sep } from 'node:path'
import { isDynamicPattern } from 'tinyglobby'
import { inBatches } from '../in-batches.js'
import type { ObjectSource } from '../objects/object-files.js'
import { isObjectUrl, objectUrl, parseObjectPattern } from '../objects/object-pattern.js'
import { FileError } from '../opener.js'
import { shownText } from '../tables/table.js'
import { expandPattern, splitPattern } from './expand-pattern.js'
import { isTaken } from './list-matches.js'
import type { ListOptions } from './list-matches.js'

/** What identifies a file without reading it. */
export interface FoundFile {
  /** The path found by the registry's patterns. */
  readonly path: string
  /** The path relative to the registry, or the address of an object, for messages. */
  readonly name: string
  /** The path below the fixed part of its pattern: the same in each delivery of the file. */
  readonly below: string
  /** Device, inode, size and modification time: while these stay, the content does. */
  readonly identity: string
  /** Also changes when size and modification time stay, because it includes the change time. */
  readonly stamp: string
}

/** How files are found. */
export interface SourceOptions extends ListOptions {
  /** Left out = there is no object storage. */
  readonly objects?: ObjectSource | undefined
}

const filesMax = 100_000
/** How many names a message shows. */
const namesMax = 3
/** No file has a name that is too long, but a glob may have one. */
const absentCodes: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']
export const notRegular = 'is not a regular file, and only those are read'

/**
 * The files that a dataset's patterns match, in stored order: patterns as listed, the matches of
 * each by name. Reads only folders.
 * @throws FileError for a pattern that matches nothing
 */
export async function findFiles(
  folder: string,
  patterns: readonly string[],
  { objects, ...options }: SourceOptions = {},
): Promise<readonly FoundFile[]> {
  const names = new Map<string, Pick<FoundFile, 'name' | 'below'>>()
  for (const pattern of patterns) {
    if (isObjectUrl(pattern)) {
      if (!objects) throw new FileError(pattern, 'is in object storage, which is not read here')
      const { bucket, prefix } = parseObjectPattern(pattern)
      const start = objectUrl(bucket, prefix).lastIndexOf('/') + 1
      for (const { path, name } of await objects.files(pattern)) {
        names.set(path, { name, below: name.slice(start) })
      }
      continue
    }
    const { base, paths } = await expand(folder, pattern, options)
    for (const path of paths) {
      names.set(path, { name: posix(relative(folder, path)), below: posix(relative(base, path)) })
    }
    if (names.size > filesMax) {
      throw new FileError(resolve(folder, pattern), `matches more than ${filesMax} files`)
    }
  }
  const found = await inBatches([...names], async ([path, places]) => {
    return { path, ...places, ...(await fileIds(path)) }
  })
  return withoutTwins(found)
}

function posix(path: string): string {
  return path.split(sep).join('/')
}

/**
 * One of several paths to the same file and the same values in folder names, which links make: the
 * path without a link, or else the first.
 */
async function withoutTwins(found: readonly FoundFile[]): Promise<readonly FoundFile[]> {
  const ways = Map.groupBy(found, ({ identity, name }) => `${identity} ${folderValues(name)}`)
  const twins = new Set<FoundFile>()
  for (const files of ways.values()) {
    if (files.length === 1) continue
    const real = await inBatches(files, ({ path }) => realpath(path).catch(() => ''))
    const direct = files.findIndex(({ path }, index) => real[index] === path)
    for (const [index, file] of files.entries()) if (index !== Math.max(direct, 0)) twins.add(file)
  }
  return twins.size === 0 ? found : found.filter((file) => !twins.has(file))
}

/** The folders named `key=value` in a path, as one text. */
export function folderValues(name: string): string {
  const folders = name.split('/').slice(0, -1)
  return JSON.stringify(folders.filter((each) => each.includes('=')))
}

/** What messages call a file: its path, or the address of an object. */
export function shownPath({ path, name }: Pick<FoundFile, 'path' | 'name'>): string {
  return isObjectUrl(name) ? name : path
}

/** An existing path means that file, even if its letters form a glob. */
async function expand(
  folder: string,
  pattern: string,
  options: ListOptions,
): Promise<{ readonly base: string; readonly paths: readonly string[] }> {
  const path = resolve(folder, pattern)
  const found = await orFileError(path, () => stat(path).catch(ignoreAbsent))
  if (found?.isFile()) return { base: dirname(path), paths: [path] }
  if (found?.isDirectory()) throw new FileError(path, 'is a folder: add /*.parquet')
  if (found) throw new FileError(path, notRegular)
  const paths = await expandPattern(folder, pattern, options)
  if (paths.length > 0) return { base: (await splitPattern(folder, pattern)).base, paths }
  const isGlob = isDynamicPattern(pattern)
  throw new FileError(path, isGlob ? await nothingMatched(folder, pattern) : 'is not there')
}

/** Says what is there instead: a wrong ending, letter or folder is seen at once. */
async function nothingMatched(folder: string, pattern: string): Promise<string> {
  const { base, rest } = await splitPattern(folder, pattern)
  const [next = '', ...below] = rest.split('/')
  const nothing = 'matches no file'
  if (below.length > 0) {
    return isDynamicPattern(next) ? nothing : `${nothing}: no folder ${shownText(next)}`
  }
  const all = await orFileError(base, () => readdir(base))
  if (all.length === 0) return `${nothing}: its folder is empty`
  const names = all.filter(isTaken).sort()
  if (names.length === 0) return `${nothing}; names that begin with "_" or "." are left out`
  const more = names.length - namesMax
  const shown = names.slice(0, namesMax).map(shownText).join(', ')
  return `${nothing}; its folder has ${shown}${more > 0 ? ` and ${more} more` : ''}`
}

/** Other errors say nothing about what is there: a folder may not be entered, a disk may fail. */
function ignoreAbsent(cause: NodeJS.ErrnoException): undefined {
  if (!absentCodes.includes(cause.code)) throw cause
}

async function fileIds(path: string): Promise<Pick<FoundFile, 'identity' | 'stamp'>> {
  return orFileError(path, async () => {
    const found = await stat(path, { bigint: true })
    return { identity: identityOf(found), stamp: stampOf(found) }
  })
}

/** Turns a system error into one that names the file. */
export async function orFileError<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof FileError) throw cause
    throw new FileError(path, `can't be read (${(cause as NodeJS.ErrnoException).code})`, cause)
  }
}

/** Stays the same while the content does, also after a rename or a hard link. */
export function identityOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs].join('-')
}

/** The part of an identity that stays the same when the file is written to. */
export function inodeOf(identity: string): string {
  return identity.split('-', 2).join('-')
}

/** Changes with every change of the file, also a rename or a hard link. */
export function stampOf(stats: BigIntStats): string {
  return `${identityOf(stats)}-${stats.ctimeNs}`
}
