import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readPages } from '../forms/attach-forms.js'
import { formsFolderName } from '../forms/form-record.js'
import type { FileChecks } from './file-checks.js'
import { intactFiles, packedFrom, readManifest, writeManifest } from './manifest.js'
import type { Content } from './manifest.js'

/** A published folder that can be served. */
export interface VersionFolder {
  readonly content: Content & { readonly folder: string }
  readonly isCurrent: boolean
  readonly publishedAt: number
  /** Milliseconds since 1970; null if it was served last. */
  readonly supersededAt: number | null
}

const markName = 'superseded'
/** Longer than any request: one that began before may still read the version. */
export const removeAfterMs = 10 * 60_000

/** The folders of one dataset's versions: which can be served, and which are removed. */
export class VersionFolders {
  readonly #parent: string
  /** Folders to remove → since when they are not served. */
  readonly #leaving = new Map<string, number>()
  readonly #checks: FileChecks

  constructor(parent: string, checks: FileChecks) {
    this.#parent = parent
    this.#checks = checks
  }

  get parent(): string {
    return this.#parent
  }

  /** The intact folders of earlier processes, the oldest first. */
  async readAll(): Promise<readonly VersionFolder[]> {
    const found: VersionFolder[] = []
    const wasPacked = await this.#packedLast()
    const formsFolder = join(this.#parent, formsFolderName)
    for (const folder of await this.#list()) {
      const manifest = await readManifest(folder)
      const files =
        manifest && (await intactFiles(manifest, (file) => readPages(formsFolder, file)))
      if (!manifest || !files) continue
      const { publishedAt, isCurrent, ...rest } = manifest
      const content = { ...rest, files }
      const supersededAt = folder === wasPacked ? null : await readMark(folder)
      found.push({ content: { ...content, folder }, isCurrent, publishedAt, supersededAt })
    }
    return found.sort((left, right) => left.publishedAt - right.publishedAt)
  }

  /** Records for the next process which content is served, and since when the one before is not. */
  async recordServed(content: Content, before: Content | null, now: number): Promise<void> {
    const old = before?.folder ?? null
    const { folder } = content
    if (folder !== null && content !== before) {
      await writeManifest(folder, { publishedAt: now, isCurrent: true, ...content })
      await rm(join(folder, markName), { force: true })
    }
    if (old !== null && old !== folder) await writeMark(old, now)
  }

  /**
   * Removes all folders but `keep`: `atOnce`, if no request can be reading them, or later. True if
   * no other folder is left.
   */
  async sweep(keep: ReadonlySet<string>, now: number, atOnce: boolean): Promise<boolean> {
    for (const folder of await this.#list()) {
      if (keep.has(folder)) {
        this.#leaving.delete(folder)
        continue
      }
      const since = this.#leaving.get(folder) ?? now
      this.#leaving.set(folder, since)
      if (!atOnce && now - since < removeAfterMs) continue
      await this.remove(folder)
    }
    return this.#leaving.size === 0
  }

  /** Removes a folder now. Its files stay verified under their other names. */
  async remove(folder: string): Promise<void> {
    await this.#checks.unlinkFiles(folder)
    await rm(folder, { recursive: true, force: true })
    this.#leaving.delete(folder)
  }

  /** The folder of the files that an earlier build served from a packed copy until it stopped. */
  async #packedLast(): Promise<string | undefined> {
    for (const folder of await this.#list()) {
      const sources = await packedFrom(folder)
      if (sources !== undefined && (await readMark(folder)) === null) return sources
    }
    return undefined
  }

  /** Without the folder of forms, which has an order of its own. */
  async #list(): Promise<readonly string[]> {
    const names = await readdir(this.#parent).catch(() => [])
    return names.filter((name) => name !== formsFolderName).map((name) => join(this.#parent, name))
  }
}

async function readMark(folder: string): Promise<number | null> {
  const text = await readFile(join(folder, markName), 'utf8').catch(() => '')
  return /^\d+$/.test(text) ? Number(text) : null
}

/** The owner may have removed the folder. */
async function writeMark(folder: string, now: number): Promise<void> {
  const path = join(folder, markName)
  await writeFile(path, String(now), { mode: 0o600 }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause
  })
}
