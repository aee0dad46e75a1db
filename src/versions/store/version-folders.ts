import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContentFile, DroppedContent } from '../files/build-version.js'
import type { FileChecks } from './file-checks.js'
import { isIntact, readManifest, writeManifest } from './manifest.js'
import type { Content, Manifest } from './manifest.js'

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
    const manifests = new Map<string, Manifest>()
    for (const folder of await this.#list()) {
      const manifest = await readManifest(folder)
      if (!manifest || !(await isIntact(manifest))) continue
      manifests.set(folder, await this.#withHashes(folder, manifest))
    }
    const found: VersionFolder[] = []
    for (const [folder, { publishedAt, isCurrent, dropped, ...manifest }] of manifests) {
      const files = dropped ? manifests.get(dropped.folder)?.files : undefined
      const content = {
        ...manifest,
        folder,
        dropped: dropped && files ? { ...dropped, files } : null,
      }
      found.push({ content, isCurrent, publishedAt, supersededAt: await readMark(folder) })
    }
    return found.sort((left, right) => left.publishedAt - right.publishedAt)
  }

  /** Records for the next process which content is served, and since when the one before is not. */
  async recordServed(content: Content, before: Content | null, now: number): Promise<void> {
    const old = before?.folder ?? null
    const { dropped, folder } = content
    if (folder !== null && content !== before) {
      if (dropped) await this.#recordDropped(dropped, content, now)
      await writeManifest(folder, { publishedAt: now, isCurrent: true, ...content })
      await rm(join(folder, markName), { force: true })
    }
    if (old !== null && old !== folder) await writeMark(old, now)
  }

  /** A restart reads the dropped files' own manifest. By themselves they are not served. */
  async #recordDropped(dropped: DroppedContent, content: Content, now: number): Promise<void> {
    const { folder, files } = dropped
    const { boundsOf } = content
    const own = { files, search: [], boundsOf, origins: null, dropped: null }
    await writeManifest(folder, { publishedAt: now, isCurrent: true, ...own })
    if ((await readMark(folder)) === null) await writeMark(folder, now)
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

/** The owner may have removed the folder of a packed copy. */
async function writeMark(folder: string, now: number): Promise<void> {
  const path = join(folder, markName)
  await writeFile(path, String(now), { mode: 0o600 }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause
  })
}
