import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContentFile } from '../files/build-version.js'
import type { FileChecks } from './file-checks.js'
import { isIntact, readManifest, writeManifest } from './manifest.js'
import type { Manifest } from './manifest.js'

/** A published folder that can be served as it stands. */
export interface VersionFolder {
  readonly folder: string
  readonly manifest: Manifest
  /** Milliseconds since 1970; null = it was being served last. */
  readonly supersededAt: number | null
}

const markName = 'superseded'
/** Longer than any request may take: one that began before a version left may still read it. */
const removeAfterMs = 10 * 60_000

/** The folders of one dataset's versions: which can be served, and which are to go. */
export class VersionFolders {
  readonly #parent: string
  /** Folders that nobody can ask for any more → since when. */
  readonly #leaving = new Map<string, number>()

  readonly #checks: FileChecks

  constructor(parent: string, checks: FileChecks) {
    this.#parent = parent
    this.#checks = checks
  }

  get parent(): string {
    return this.#parent
  }

  /** What an earlier server left that is whole and untouched, the oldest first. */
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

  /** Notes, for the next server too, since when a version is superseded. */
  async mark(folder: string, supersededAt: number): Promise<void> {
    await writeFile(join(folder, markName), String(supersededAt), { mode: 0o600 })
  }

  async unmark(folder: string): Promise<void> {
    await rm(join(folder, markName), { force: true })
  }

  /**
   * Removes what is not kept: at once where no request can be reading it, else after a while. True
   * when nothing but what is kept is left.
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

  /** Removes a folder at once. Files that are served under other names stay verified. */
  async remove(folder: string): Promise<void> {
    await this.#checks.unlinkFiles(folder)
    await rm(folder, { recursive: true, force: true })
    this.#leaving.delete(folder)
  }

  /** Earlier builds packed without a hash: then what the files hold now is what they must hold. */
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
