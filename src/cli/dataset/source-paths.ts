import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { glob, isDynamicPattern } from 'tinyglobby'
import { parse } from 'yaml'
import { badRequest } from '../../errors.js'
import { listOf } from '../../registry/registry.js'
import type { RegistryText } from '../../registry/write-registry.js'
import { escapePattern, expandPattern, splitPattern } from '../../versions/files/expand-pattern.js'
import type { ObjectSource } from '../../versions/objects/object-files.js'
import { isObjectUrl } from '../../versions/objects/object-pattern.js'
import { FileError } from '../../versions/opener.js'
import { commonStart, specificText } from './dataset-name.js'

/** The paths of a command line, as the registry writes them. */
export interface PathsRead {
  /** Relative to the registry's folder if they are below it. */
  readonly files: readonly string[]
  /** The same files, absolute. */
  readonly paths: readonly string[]
  /** A text from their names, for the dataset's name and title. */
  readonly called: string
  /** The folder for their dictionary: beside the files, or the registry's folder. */
  readonly folder: string
  /** The paths are all Parquet files of one folder. */
  readonly isWhole: boolean
}

/** The datasets of a registry by name, each with the absolute paths of its files. */
export type ListedFiles = ReadonlyMap<string, readonly string[]>

interface Named {
  readonly kind: 'file' | 'pattern'
  /** Absolute; only patterns have escaped glob characters. */
  readonly path: string
  /** The given folder, or the folder of the file. */
  readonly folder: string
}

const depthMax = 20
/** The endings of Parquet files. */
export const fileEnding = /(\.(snappy|gz|gzip|zstd|brotli|lz4|uncompressed))?\.(parquet|parq|pq)$/i

/**
 * Reads paths relative to the working directory: files, folders, globs and hive trees; or objects.
 * @throws bad_request for a path without a file
 */
export async function readPaths(
  given: readonly string[],
  registryFolder: string,
  objects: ObjectSource,
): Promise<PathsRead> {
  const named: Named[] = []
  for (const path of given) named.push(isObjectUrl(path) ? readUrl(path) : await readPath(path))
  const whole = await wholeFolder(named)
  const chosen = whole ?? named
  const files: string[] = []
  for (const each of chosen) files.push(await inRegistry(each, registryFolder))
  const [first = { kind: 'file', path: '', folder: registryFolder } as const] = named
  const beside = first.kind === 'file' && given.length === 1 ? first.folder : dirname(first.folder)
  const isBelow = !isObjectUrl(beside) && !relative(registryFolder, beside).startsWith('..')
  return {
    files: [...new Set(files)],
    paths: [...(await filesOf(registryFolder, files)), ...(await objectPaths(files, objects))],
    called: calledOf(named),
    folder: isBelow ? beside : registryFolder,
    isWhole: whole !== null,
  }
}

/** The absolute paths of all files on the disk that match the registry's patterns. */
async function filesOf(folder: string, patterns: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>()
  for (const pattern of patterns) {
    if (isObjectUrl(pattern)) continue
    for (const match of await expandPattern(folder, pattern)) found.add(match)
  }
  return [...found].sort()
}

/** @throws bad_request for objects that can't be had */
async function objectPaths(
  patterns: readonly string[],
  objects: ObjectSource,
): Promise<readonly string[]> {
  const paths: string[] = []
  try {
    for (const pattern of patterns.filter(isObjectUrl)) {
      for (const { path } of await objects.files(pattern)) paths.push(path)
    }
    return paths
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause
    throw badRequest(`${cause.path} ${cause.reason}.`)
  }
}

function readUrl(given: string): Named {
  const kind = isDynamicPattern(given) ? 'pattern' : 'file'
  return { kind, path: given, folder: dirname(given) }
}

async function readPath(given: string): Promise<Named> {
  const path = resolve(given)
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile()) return { kind: 'file', path, folder: dirname(path) }
  if (found?.isDirectory()) {
    const tail = await folderPattern(path, given)
    return { kind: 'pattern', path: join(escapePattern(path), tail), folder: path }
  }
  if (found) throw badRequest(`${given} is not a regular file. Only regular files can be read.`)
  if (!isDynamicPattern(given)) throw badRequest(`${given} does not exist.`)
  const { base, rest } = await splitPattern(process.cwd(), given)
  const matches = await expandPattern(process.cwd(), given)
  if (matches.length === 0) throw badRequest(`${given} matches no file.`)
  return { kind: 'pattern', path: join(escapePattern(base), rest), folder: base }
}

/** Reads a hive tree or nested folder with its subfolders, and a flat folder alone. */
async function folderPattern(path: string, given: string): Promise<string> {
  const entries = await readdir(path, { withFileTypes: true })
  const isHive = entries.some((entry) => entry.isDirectory() && /^[^=]+=/.test(entry.name))
  const files = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name)
  const flat = patternOf(files)
  if (flat !== null && !isHive) return flat
  const options = { cwd: path, deep: depthMax, expandDirectories: false }
  const nested = patternOf(await glob('**/*.*', options))
  if (nested !== null) return `**/${nested}`
  throw badRequest(
    `${given} has no .parquet file. Name files with another ending, CSV or Excel one by one, or ` +
      'use --each to make every table of the folder a dataset.',
  )
}

/** The pattern that takes all Parquet files of a list, in each spelling of their ending. */
function patternOf(names: readonly string[]): string | null {
  const endings = new Set(
    names
      .map((name) => basename(name))
      .filter(isParquet)
      .map(extname),
  )
  const [first, ...others] = [...endings].sort()
  if (first === undefined) return null
  return others.length === 0 ? `*${first}` : `*{${[first, ...others].join(',')}}`
}

/** The pattern for all Parquet files of a folder, if the shell expanded a glob to them. */
async function wholeFolder(named: readonly Named[]): Promise<readonly Named[] | null> {
  const [first] = named
  if (!first || named.length < 2) return null
  const { folder } = first
  if (named.some((each) => each.kind !== 'file' || each.folder !== folder)) return null
  if (isObjectUrl(folder)) return null
  const names = new Set(named.map(({ path }) => basename(path)))
  const all = (await readdir(folder)).filter(isParquet)
  if (all.length !== names.size || !all.every((name) => names.has(name))) return null
  const pattern = patternOf(all)
  if (pattern === null) return null
  return [{ kind: 'pattern', path: join(escapePattern(folder), pattern), folder }]
}

/** Whether a file is Parquet by its name, and taken with its folder. */
function isParquet(name: string): boolean {
  return fileEnding.test(name) && !/^[_.]/.test(name)
}

/**
 * A path relative to the registry's folder if it is below it. A file's name is escaped so that it
 * never matches another file, except if a file has the escaped name.
 */
async function inRegistry({ kind, path }: Named, registryFolder: string): Promise<string> {
  if (isObjectUrl(path)) return path
  const base = kind === 'pattern' ? escapePattern(registryFolder) : registryFolder
  const inside = relative(base, path)
  const isBelow = inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)
  const written = isBelow ? inside : path
  if (kind === 'pattern') return written
  const [found] = await expandPattern(registryFolder, escapePattern(written))
  return found === path ? escapePattern(written) : written
}

function calledOf(named: readonly Named[]): string {
  const stems = named
    .filter(({ kind }) => kind === 'file')
    .map(({ path }) => basename(path).replace(fileEnding, ''))
  const folder = named[0]?.folder ?? ''
  const shared = stems.length === named.length ? [commonStart(stems)] : []
  const specific = shared.filter((text) => text.length > 1)
  return specificText([...specific, basename(folder), basename(dirname(folder))])
}

/** The files of each dataset in the registry; a registry with mistakes is read too. */
export async function listedFiles({ text }: RegistryText, folder: string): Promise<ListedFiles> {
  const listed = new Map<string, readonly string[]>()
  let content: unknown = null
  try {
    content = parse(text ?? '', { logLevel: 'silent' })
  } catch {
    // `openDraft` reports the mistake with its line.
    return listed
  }
  const { datasets } = (content ?? {}) as { readonly datasets?: unknown }
  for (const [name, entry] of Object.entries(datasets ?? {})) {
    const { files } = (entry ?? {}) as { readonly files?: string | readonly string[] }
    listed.set(name, await filesOf(folder, listOf(files)))
  }
  return listed
}
