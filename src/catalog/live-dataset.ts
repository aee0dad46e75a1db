import { join } from 'node:path'
import { breakingReason } from './breaking.js'
import { earlierVersion, narrowedDataset, registryDataset } from './dataset.js'
import type { Dataset } from './dataset.js'
import { storageOf } from './disk-use.js'
import type { Storage } from './disk-use.js'
import { KnownFiles } from './known-files.js'
import { lookAt } from './look.js'
import { isIntact, writeManifest } from './manifest.js'
import { joinDataset, openDataset, reasonOf } from './open-dataset.js'
import type { Content } from './content.js'
import type { OpenFiles } from './opener.js'
import { PackWish } from './pack-wish.js'
import type { PackOrder, PackedFile } from './packer.js'
import { openPacked } from './packed.js'
import type { Registry } from './registry.js'
import type { DatasetEntry } from './registry-schema.js'
import { isSameOnDisk } from './version.js'
import type { Version } from './version.js'
import { bounded } from './superseded.js'
import type { Superseded } from './superseded.js'
import { VersionFolders } from './version-folders.js'

export interface LiveDatasetOptions {
  readonly openFiles: OpenFiles
  readonly versionsFolder: string
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** `unsettled`: something is being written; look again soon. */
export type UpdateResult = 'unchanged' | 'unsettled' | 'changed'

/** The registry, and what it says of one dataset. */
export interface Words {
  readonly registry: Registry
  readonly entry: DatasetEntry
}

const keepHours = 24
/** Files that keep changing are opened all the same after this long. */
const settleMsMax = 10_000
/** A failure that may pass by itself is tried again after this long. */
const retryMs = 60_000

/**
 * One dataset of a running server: the version that is served, those that walks may still be on,
 * and how the next one comes about. What can't be served changes nothing but the reason.
 */
export class LiveDataset {
  readonly #name: string
  readonly #options: LiveDatasetOptions
  readonly #folders: VersionFolders
  readonly #known = new KnownFiles()
  #words: Words
  #dataset: Dataset
  #content: Content | null = null
  #earlier: readonly Superseded[] = []
  /** Folders whose files broke the engine. */
  readonly #broken = new Set<string>()
  /** The look that was opened last, and when it is worth another try. */
  #tried: { readonly key: string; readonly retryAt: number } | null = null
  /** Where its files lie, as the last look found. */
  #places: readonly string[] = []
  readonly #wish = new PackWish()
  #seen: { readonly key: string; readonly since: number } | null = null

  constructor(name: string, words: Words, options: LiveDatasetOptions) {
    this.#name = name
    this.#options = options
    this.#folders = new VersionFolders(join(options.versionsFolder, name))
    this.#words = words
    this.#dataset = registryDataset(name, words.entry)
  }

  /** As requests see it. */
  get dataset(): Dataset {
    return this.#dataset
  }

  /** How the served files lie, and what all kept versions cost on the disk. */
  async storage(): Promise<Storage> {
    return storageOf(this.#content, this.#folders.parent)
  }

  /** The folders in which a change of its files may come. */
  get places(): readonly string[] {
    return this.#places
  }

  /** Serves what an earlier server left, so that walks go on and a bad file changes nothing. */
  async restore(): Promise<void> {
    const { now } = this.#options
    const found = await this.#folders.readAll()
    for (const { manifest } of found) this.#known.addManifest(manifest)
    const current = found.findLast(({ supersededAt }) => supersededAt === null)
    // Kept even where the registry does not fit it now: it may again.
    if (current) this.#content = { folder: current.folder, ...current.manifest }
    for (const each of found) {
      const dataset = await this.#join(each.manifest.files)
      if (!dataset?.version) continue
      if (each === current) {
        this.#dataset = dataset
      } else {
        const supersededAt = each.supersededAt ?? now()
        this.#earlier = [...this.#earlier, { ...each, version: dataset.version, supersededAt }]
      }
    }
    this.#dataset = this.#withEarlier(this.#dataset)
  }

  /** Takes what registry and files say now. `isFirst` opens files that may still be written to. */
  async update(words: Words, isFirst: boolean): Promise<UpdateResult> {
    const { now } = this.#options
    const look = await lookAt(words.registry, words.entry)
    this.#places = look.folders
    const tried = this.#tried
    if (tried && look.key === tried.key && now() < tried.retryAt) return 'unchanged'
    if (!isFirst && !this.#isSettled(look.key)) return 'unsettled'
    this.#words = words
    const opened = await openDataset(this.#name, words.entry, words.registry, {
      ...this.#options,
      known: this.#known,
    })
    const mayPass = !opened.content && opened.mayPass
    this.#tried = { key: look.key, retryAt: mayPass ? now() + retryMs : Infinity }
    try {
      if (opened.content) await this.#offer(opened.dataset, opened.content)
      else await this.#refuse(opened.dataset.reason ?? '')
      await this.#sweep(isFirst)
    } catch (cause) {
      // The disk is full, or takes no writes.
      const reason = reasonOf(cause, words.registry.folder)
      this.#dataset = Object.freeze({ ...this.#dataset, reason })
      this.#tried = { key: look.key, retryAt: now() + retryMs }
    }
    return 'changed'
  }

  /** What `pack: auto` is about. */
  get wish(): PackWish {
    return this.#wish
  }

  /** Serves what was packed, if it is still what was asked for. False where it is not. */
  async takePacked(order: PackOrder, packed: readonly PackedFile[]): Promise<boolean> {
    const { version } = this.#dataset
    const content = this.#content
    if (this.#wish.order !== order || !version || !content) return false
    if (!(await isIntact(content))) {
      // What was packed may be the rows of other files, under the name of these.
      this.#wish.drop()
      return false
    }
    const { reason } = this.#dataset
    const opened = await openPacked(order.target, packed, content, version, this.#options.openFiles)
    const dataset = await this.#join(opened.files)
    if (!dataset) throw new Error('the registry does not fit the packed files')
    await this.#serve({ ...dataset, reason }, opened)
    return true
  }

  /** Ends a version that can't be read whole any more. False where it is not served. */
  withdraw(version: Version, reason: string, isBroken: boolean): boolean {
    const current = this.#dataset.version
    const isCurrent = current !== null && isSameOnDisk(current, version)
    const earlier = this.#earlier.filter((each) => !isSameOnDisk(each.version, version))
    if (!isCurrent && earlier.length === this.#earlier.length) return false
    this.#earlier = earlier
    if (isCurrent) {
      if (isBroken && this.#content?.folder) this.#broken.add(this.#content.folder)
      this.#content = null
      this.#tried = null
      this.#wish.drop()
      this.#dataset = { ...this.#dataset, version: null, reason }
    }
    this.#dataset = this.#withEarlier(this.#dataset)
    return true
  }

  /** Forgets versions whose time is over. True where there were any. */
  async expire(): Promise<boolean> {
    const keepMs = (this.#words.entry.keep_versions_hours ?? keepHours) * 3_600_000
    const oldest = this.#options.now() - keepMs
    const earlier = bounded(this.#earlier.filter(({ supersededAt }) => supersededAt > oldest))
    this.#wish.retry(this.#options.now())
    const isLess = earlier.length < this.#earlier.length
    if (isLess) {
      this.#earlier = earlier
      this.#dataset = this.#withEarlier(this.#dataset)
    }
    await this.#sweep(false)
    return isLess
  }

  /** Removes what was published, once nobody can be reading it. True when it is gone. */
  async discard(): Promise<boolean> {
    return this.#folders.sweep(new Set(), this.#options.now(), false)
  }

  /** Two looks that see the same, or patience at its end. */
  #isSettled(key: string): boolean {
    const now = this.#options.now()
    const seen = this.#seen
    const since = seen?.since ?? now
    const isSettled = seen?.key === key || now - since > settleMsMax
    this.#seen = isSettled ? null : { key, since }
    return isSettled
  }

  /** A version that was opened is served unless it would break callers' programs. */
  async #offer(dataset: Dataset, content: Content): Promise<void> {
    if (content.folder !== null && this.#broken.has(content.folder)) {
      return this.#refuse('these files break the query engine; others are needed')
    }
    const served = this.#dataset.version
    const { allow_breaking: isAllowed = false } = this.#words.entry
    if (served && dataset.version && !isAllowed) {
      const reason = breakingReason(served, dataset.version)
      if (reason !== null) return this.#refuse(reason)
    }
    await this.#serve(dataset, content)
  }

  /** The files served so far stay, under the registry's new words where they fit. */
  async #refuse(reason: string): Promise<void> {
    const dataset = this.#content && (await this.#join(this.#content.files))
    // It may have been withdrawn meanwhile.
    const content = this.#content
    if (content && dataset) await this.#serve({ ...dataset, reason }, content)
    else if (content) this.#dataset = narrowedDataset(this.#dataset, this.#words, reason)
    else this.#dataset = this.#withEarlier({ ...this.#registryDataset(), reason })
  }

  async #serve(dataset: Dataset, content: Content): Promise<void> {
    const folder = this.#content?.folder ?? null
    const supersededAt = this.#options.now()
    if (content.folder !== null && content !== this.#content) {
      await writeManifest(content.folder, { publishedAt: supersededAt, ...content })
      await this.#folders.unmark(content.folder)
    }
    if (folder !== null && folder !== content.folder) {
      await this.#folders.mark(folder, supersededAt)
    }
    const { version: served } = this.#dataset
    const others = this.#earlier.filter(({ version }) => version.id !== dataset.version?.id)
    const isReplaced = served && served.id !== dataset.version?.id
    this.#earlier = isReplaced
      ? bounded([...others, { version: served, folder, supersededAt }])
      : others
    this.#content = content
    this.#dataset = this.#withEarlier(dataset)
    this.#wish.look(this.#folders.parent, this.#words.entry, content, dataset.version)
  }

  async #join(files: Content['files']): Promise<Dataset | null> {
    const { entry, registry } = this.#words
    return joinDataset(this.#name, entry, registry, files).catch(() => null)
  }

  #registryDataset(): Dataset {
    return registryDataset(this.#name, this.#words.entry)
  }

  #withEarlier(dataset: Dataset): Dataset {
    const { registry, entry } = this.#words
    const earlier = this.#earlier.map(({ version }) =>
      earlierVersion(version, this.#name, registry, entry),
    )
    return Object.freeze({ ...dataset, earlier })
  }

  async #sweep(atOnce: boolean): Promise<void> {
    const folders = [this.#content, ...this.#earlier].flatMap((each) => each?.folder ?? [])
    const keep = new Set([...folders, ...this.#wish.folders])
    await this.#folders.sweep(keep, this.#options.now(), atOnce)
  }
}
