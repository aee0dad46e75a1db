import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Changes } from '../../query/changes.js'
import { FileError } from '../../versions/opener.js'
import type { FormsOrder } from '../../versions/forms/forms-order.js'
import type { Version } from '../../versions/version.js'
import { isPattern } from './paths.js'
import type { Scan } from './read/pieces.js'

/** The last character of a path that makes it a pattern, and all that follows. */
const fromLastLetter = /[*?[][^*?[]*$/

/** Runs `work` with paths that DuckDB can read, and removes their links, also after a failure. */
export async function withPlainPaths<T>(work: (paths: PlainPaths) => Promise<T>): Promise<T> {
  const paths = new PlainPaths()
  try {
    return await work(paths)
  } catch (cause) {
    throw paths.inOwnNames(cause)
  } finally {
    paths.close()
  }
}

/**
 * Paths by which DuckDB reads exactly the intended files. DuckDB treats `*`, `?` and `[` in a path
 * as a pattern, and lists the folder at every read if they are escaped. So it reads a file or
 * folder with such a name through a link with a plain name, in a private temp folder. Every other
 * path is unchanged. DuckDB follows the link before it checks whether it may read the file.
 */
export class PlainPaths {
  #folder: string | null = null
  /** Original paths of files and folders; the name of each link is its index here. */
  readonly #linked: string[] = []
  readonly #links = new Map<string, string>()

  /** @throws Error when the link can't be made */
  of(path: string): string {
    const at = path.search(fromLastLetter)
    if (at < 0) return path
    const slash = path.indexOf('/', at)
    const end = slash < 0 ? path.length : slash
    return this.#linkOf(path.slice(0, end)) + path.slice(end)
  }

  /** The scan or choice of files with paths that DuckDB can read. */
  scan<T extends Pick<Scan, 'files'>>(scan: T): T {
    if (!scan.files.some(({ file }) => isPattern(file.path))) return scan
    const files = scan.files.map((chosen) => ({ ...chosen, file: this.#file(chosen.file) }))
    return { ...scan, files }
  }

  /** The version with paths that DuckDB can read. */
  version(version: Version): Version {
    const files = this.#files(version.files)
    return files === version.files ? version : Object.freeze({ ...version, files })
  }

  /** The changes with paths that DuckDB can read. */
  changes(changes: Changes): Changes {
    return { ...changes, sets: this.#files(changes.sets) }
  }

  /** The order with paths that DuckDB can read; its folder is unchanged. */
  order(order: FormsOrder): FormsOrder {
    return { ...order, files: this.#files(order.files) }
  }

  /** A failure with the original paths in place of links. */
  inOwnNames(cause: unknown): unknown {
    if (this.#folder === null) return cause
    if (cause instanceof FileError) {
      return new FileError(this.#restore(cause.path, false), cause.reason, cause)
    }
    if (!(cause instanceof Error)) return cause
    const message = this.#restore(cause.message, cause.message.includes('{"exception_type"'))
    return message === cause.message ? cause : new Error(message, { cause })
  }

  /** Removes the links. */
  close(): void {
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true })
    this.#folder = null
  }

  #files<T extends { readonly path: string }>(files: readonly T[]): readonly T[] {
    return files.some(({ path }) => isPattern(path)) ? files.map((file) => this.#file(file)) : files
  }

  #file<T extends { readonly path: string }>(file: T): T {
    return { ...file, path: this.of(file.path) }
  }

  #linkOf(path: string): string {
    const known = this.#links.get(path)
    if (known !== undefined) return known
    this.#folder ??= makeFolder()
    const link = join(this.#folder, String(this.#linked.length))
    symlinkSync(path, link)
    this.#linked.push(path)
    this.#links.set(path, link)
    return link
  }

  #restore(text: string, isJson: boolean): string {
    if (this.#folder === null) return text
    const [before = '', ...parts] = text.split(`${this.#folder}/`)
    const restored = parts.map((part) => {
      const [index = ''] = /^\d*/.exec(part) ?? []
      const path = this.#linked[Number(index)] ?? ''
      return (isJson ? JSON.stringify(path).slice(1, -1) : path) + part.slice(index.length)
    })
    return [before, ...restored].join('')
  }
}

function makeFolder(): string {
  const parent = tmpdir()
  if (!isPattern(parent)) return mkdtempSync(join(parent, 'das-links-'))
  throw new Error(`The temp folder ${parent} has *, ? or [ in its name: set TMPDIR to another.`)
}
