import fs from 'node:fs'
import type { Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { glob } from 'tinyglobby'
import { FileError } from '../opener.js'

export interface ListOptions {
  /** Takes files to which a link leads out of the pattern's folder. */
  readonly followLinks?: boolean | undefined
  /** The most files and folders that one pattern looks at. */
  readonly entriesMax?: number
}

const entriesMaxDefault = 200_000
/** What a folder may lack by the time that it is read. */
const absentCodes: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'ELOOP']
const iceberg = 'Iceberg'
/** Folders that only the root of a table in such a format has. */
const tableMarks: ReadonlyMap<string, string> = new Map([
  ['_delta_log', 'Delta'],
  ['.hoodie', 'Hudi'],
])
const icebergFolder = 'metadata'
const icebergFile = /\.metadata\.json$/

/**
 * The paths of files that a glob matches below an existing folder, by name. Names that begin with
 * `_` or `.` are left out on every level, except folders named `_column=value`.
 * @throws FileError for a folder that can't be read, for too many entries, for files of a table
 *   format, and for a link that leads out of the folder
 */
export async function listMatches(
  base: string,
  pattern: string,
  { followLinks = false, entriesMax = entriesMaxDefault }: ListOptions = {},
): Promise<readonly string[]> {
  const walk = new Walk(base, entriesMax)
  const found = await glob(pattern, {
    cwd: base,
    absolute: true,
    expandDirectories: false,
    signal: walk.signal,
    fs: { readdir: walk.readdir },
  })
  if (walk.failure) throw walk.failure
  const matches = found.filter((path) => isTaken(relative(base, path)))
  if (matches.length === 0 && found.length > 0) {
    throw new FileError(
      join(base, pattern),
      `matches only names that begin with "_" or ".", which are left out (${found.length}); ` +
        'a file is also taken by its whole path',
    )
  }
  await requireNoTable([...ancestorsOf(base), ...walk.marked], matches)
  if (walk.hasLinks && !followLinks) await requireInside(base, matches)
  return matches.sort((left, right) => (left < right ? -1 : 1))
}

/** Whether a pattern takes a path that it matched below its fixed part; `/` separates folders. */
export function isTaken(path: string): boolean {
  const folders = path.split('/')
  const name = folders.pop() ?? ''
  const isPlain = (part: string) => !/^[_.]/.test(part) || part === '..'
  return isPlain(name) && folders.every((part) => isPlain(part) || /^_[^=]*=/.test(part))
}

/** The table to whose records a path belongs: its root, with a slash at its end, and its format. */
export function tableOf(path: string): { readonly root: string; readonly format: string } | null {
  const found = /^((?:[^]*?\/)?)(?:(_delta_log|\.hoodie)\/|metadata\/[^/]*\.metadata\.json$)/.exec(
    path,
  )
  const [, root = '', mark = ''] = found ?? []
  return found && { root, format: tableMarks.get(mark) ?? iceberg }
}

/** What a walk through folders meets. */
class Walk {
  failure: FileError | null = null
  hasLinks = false
  /** Folders that may be the root of a table. */
  readonly marked = new Set<string>()
  readonly #base: string
  readonly #entriesMax: number
  readonly #stop = new AbortController()
  #entries = 0

  constructor(base: string, entriesMax: number) {
    this.#base = base
    this.#entriesMax = entriesMax
  }

  /** Aborts after a failure. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** For the walker, which has one form of it. */
  readonly readdir = ((
    path: string,
    options: { withFileTypes: true },
    done: (cause: NodeJS.ErrnoException | null, entries: Dirent[]) => void,
  ) => {
    fs.readdir(path, options, (cause, entries) => {
      if (cause) this.#fail(path, cause)
      else this.#note(path, entries)
      done(cause, entries)
    })
  }) as typeof fs.readdir

  #note(path: string, entries: readonly Dirent[]): void {
    for (const entry of entries) {
      if (entry.isSymbolicLink()) this.hasLinks = true
      if (tableMarks.has(entry.name) || entry.name === icebergFolder) this.marked.add(path)
    }
    this.#entries += entries.length
    if (this.#entries <= this.#entriesMax) return
    this.failure ??= new FileError(
      this.#base,
      `has more than ${this.#entriesMax} files and folders that the pattern looks at; ` +
        'name a folder nearer to the files',
    )
    this.#stop.abort()
  }

  #fail(path: string, cause: NodeJS.ErrnoException): void {
    if (absentCodes.includes(cause.code)) return
    this.failure ??= new FileError(path, `can't be read (${cause.code})`, cause)
    this.#stop.abort()
  }
}

function* ancestorsOf(path: string): Generator<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    yield folder
    if (folder === dirname(folder)) return
  }
}

/** @throws FileError if one of these folders is a table that matched files belong to */
async function requireNoTable(
  folders: readonly string[],
  matches: readonly string[],
): Promise<void> {
  for (const folder of new Set(folders.map((path) => path.replace(/(?<=.)\/$/, '')))) {
    const inside = folder === sep ? sep : `${folder}${sep}`
    if (!matches.some((path) => path.startsWith(inside))) continue
    const format = await tableFormatOf(folder)
    if (format !== null) throw new FileError(folder, tableReason(format))
  }
}

/** Why files of a table can't be read one by one. */
export function tableReason(format: string): string {
  const article = format === iceberg ? 'an' : 'a'
  return (
    `is ${article} ${format} table: its own records say which of its files count, and they are ` +
    'not read here; write its present rows as plain Parquet files to another folder'
  )
}

async function tableFormatOf(folder: string): Promise<string | null> {
  for (const [mark, format] of tableMarks) {
    if ((await stat(join(folder, mark)).catch(() => undefined))?.isDirectory()) return format
  }
  const names = await readdir(join(folder, icebergFolder)).catch(() => [])
  return names.some((name) => icebergFile.test(name)) ? iceberg : null
}

/** @throws FileError for a file that really lies outside the folder */
async function requireInside(base: string, matches: readonly string[]): Promise<void> {
  const inside = `${await realpath(base)}${sep}`.replace(/^\/\/$/, '/')
  for (const path of matches) {
    const real = await realpath(path).catch(() => path)
    if (real.startsWith(inside)) continue
    throw new FileError(
      path,
      'is outside the folder of its pattern, to which a link leads; put the file into the ' +
        'folder, or allow it: follow_links: true in the registry',
    )
  }
}
