import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContentFile } from '../files/build-version.js'
import type { FileChecks } from './file-checks.js'
import { isIntact, readManifest, writeManifest } from './manifest.js'
import type { Content, Manifest } from './manifest.js'

/** A published folder that can be served. */
export interface VersionFolder {
  readonly folder: string
  readonly manifest: Manifest
  /** Milliseconds since 1970; null if it was served last. */
  readonly supersededAt: number | null
}

const markName = 'superseded'
/** Longer than any request: one that began before may still read the version. */
const removeAfterMs = 10 * 60_000

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
    for (const folder of await this.#list()) {
      const manifest = await readManifest(folder)
      if (!manifest || !(await isIntact(manifest))) continue
      const hashed = await this.#withHashes(folder, manifest)
      found.push({ folder, manifest: hashed, supersededAt: await readMark(folder) })
    }
    return found.sort((left, right) => left.manifest.publishedAt - right.manifest.publishedAt)
  }

  /** Records for the next process which content is served, and since when the one before is not. */
  async recordServed(content: Content, before: Content | null, now: number): Promise<void> {
    const old = before?.folder ?? null
    if (content.folder !== null && content !== before) {
      await writeManifest(content.folder, { publishedAt: now, ...content })
      await rm(join(content.folder, markName), { force: true })
    }
    if (old !== null && old !== content.folder) {
      await writeFile(join(old, markName), String(now), { mode: 0o600 })
    }
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

  /** Adds the hashes that earlier builds did not store for packed files. */
  async #withHashes(folder: string, manifest: Manifest): Promise<Manifest> {
    if (manifest.files.every(({ hash }) => hash !== null)) return manifest
    const files: ContentFile[] = []
    for (const file of manifest.files) {
      files.push({ ...file, hash: file.hash ?? (await this.#checks.adopt(file.path)) })
    }
    await writeManifest(folder, { ...manifest, files })
    return { ...manifest, files }
  }

  async #list(): Promise<readonly string[]> {
    const names = await readdir(this.#parent).catch(() => [])
    return names.map((name) => join(this.#parent, name))
  }
}

async function readMark(folder: string): Promise<number | null> {
  const text = await readFile(join(folder, markName), 'utf8').catch(() => '')
  return /^\d+$/.test(text) ? Number(text) : null
}
