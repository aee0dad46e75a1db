import { join } from 'node:path'
import { readDiskState } from '../../versions/files/disk-state.js'
import type { OpenFiles } from '../../versions/opener.js'
import { openPacked } from '../../versions/packing/packed-content.js'
import type { PackOrder, PackedFile } from '../../versions/packing/packer.js'
import type { Content } from '../../versions/store/content.js'
import {
  DamageState,
  isSameFile,
  isServedFrom,
  damageText,
  lostVersions,
} from '../../versions/store/damage-state.js'
import type { LostVersion } from '../../versions/store/damage-state.js'
import { storageOf } from '../../versions/store/disk-use.js'
import type { Storage } from '../../versions/store/disk-use.js'
import type { CheckedFile, FileChecks, Verdict } from '../../versions/store/file-checks.js'
import { KnownFiles } from '../../versions/store/known-files.js'
import { writeManifest } from '../../versions/store/manifest.js'
import { SupersededVersions } from '../../versions/store/superseded-versions.js'
import { VersionFolders } from '../../versions/store/version-folders.js'
import { isSameOnDisk } from '../../versions/version.js'
import type { DataFile, Version } from '../../versions/version.js'
import { earlierVersion, narrowedDataset, registryDataset } from '../dataset.js'
import type { Dataset } from '../dataset.js'
import { joinDataset, openDataset, reasonOf } from '../open-dataset.js'
import { dataLossReason } from './data-loss.js'
import { PendingPack } from './pending-pack.js'
import { Settling } from './update-attempts.js'
import type { UpdateOptions, UpdateResult, DatasetDefinition } from './update.js'

export interface LiveDatasetOptions {
  readonly openFiles: OpenFiles
  /** Which stored files were verified, by all who read or make them. */
  readonly checks: FileChecks
  readonly versionsFolder: string
  /** Milliseconds since 1970. */
  readonly now: () => number
}

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
  #words: DatasetDefinition
  #dataset: Dataset
  #content: Content | null = null
  readonly #earlier = new SupersededVersions()
  /** Folders whose files broke the engine. */
  readonly #broken = new Set<string>()
  /** The look that was opened last, and when it is worth another try. */
  #tried: { readonly key: string; readonly retryAt: number } | null = null
  /** Where its files lie, as the last look found. */
  #places: readonly string[] = []
  readonly #wish = new PendingPack()
  readonly #settling = new Settling()
  readonly #damages = new DamageState()

  constructor(name: string, words: DatasetDefinition, options: LiveDatasetOptions) {
    this.#name = name
    this.#options = options
    this.#folders = new VersionFolders(join(options.versionsFolder, name), options.checks)
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
  get sourceFolders(): readonly string[] {
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
        this.#earlier.add({ ...each, version: dataset.version, supersededAt })
      }
    }
    this.#dataset = this.#withEarlier(this.#dataset)
  }

  /** Takes what registry and files say now. */
  async update(words: DatasetDefinition, { isFirst, force }: UpdateOptions): Promise<UpdateResult> {
    const { now } = this.#options
    const { doubted } = this.#known
    const look = await readDiskState(words.registry, words.entry, doubted)
    this.#places = look.folders
    const tried = this.#tried
    const isForced = force && (this.#dataset.reason !== null || doubted.size > 0)
    const isDue = !tried || look.key !== tried.key || now() >= tried.retryAt
    if (!isDue && !isForced) return 'unchanged'
    if (!isFirst && !this.#settling.isSettled(look.key, now())) return 'unsettled'
    if (force) this.#known.acceptDoubted()
    this.#words = words
    const opened = await openDataset(this.#name, words.entry, words.registry, {
      ...this.#options,
      known: this.#known,
      damaged: this.#damages.folders,
    })
    // Found damaged meanwhile: it is published again.
    if (opened.content && this.#damages.folders.has(opened.content.folder ?? '')) return 'unsettled'
    const mayPass = !opened.content && opened.mayPass
    this.#tried = { key: look.key, retryAt: mayPass ? now() + retryMs : Infinity }
    try {
      if (opened.content) await this.#offer(opened.dataset, opened.content, force)
      else await this.#refuse(opened.dataset.reason ?? '')
      if (!opened.content && opened.isDamaged) this.#damages.addSource(opened.dataset.reason ?? '')
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
  get pendingPack(): PendingPack {
    return this.#wish
  }

  /** Serves what was packed, if it is still what was asked for. False where it is not. */
  async takePacked(order: PackOrder, packed: readonly PackedFile[]): Promise<boolean> {
    const { version } = this.#dataset
    const content = this.#content
    if (this.#wish.order !== order || !version || !content) return false
    // By every byte: what was packed may be the rows of other files, under the name of these.
    if (!(await this.#options.checks.verifyAll(content.files))) {
      this.#wish.drop()
      return false
    }
    const { reason } = this.#dataset
    const { openFiles, checks } = this.#options
    const opened = await openPacked(order.target, packed, content, version, openFiles, checks)
    const dataset = await this.#join(opened.files)
    if (!dataset) throw new Error('the registry does not fit the packed files')
    this.#damages.renew(order.target)
    await this.#serve({ ...dataset, reason }, opened)
    return true
  }

  /** What is damaged and not healed yet, in words; null where nothing is. */
  get damage(): string | null {
    return this.#damages.reason
  }

  /** The files of superseded versions, the newest version first. */
  get earlierFiles(): readonly DataFile[] {
    return [...this.#earlier.versions].reverse().flatMap(({ files }) => files)
  }

  /** Ends the versions that are served from a file which is not what it was. */
  lose(file: CheckedFile, verdict: Verdict): readonly LostVersion[] {
    const content = this.#content
    const losses = lostVersions([this.#dataset.version, ...this.#earlier.versions], file, verdict)
    const stored = content?.files.find((each) => isSameFile(each, file))
    if (content && stored) {
      const reason = damageText(stored.source.name, verdict, content.origins !== null)
      if (verdict === 'damaged') this.#damages.add(content, reason)
      if (verdict === 'damaged' && !content.origins) this.#known.doubt([stored.source])
      this.#withdrawCurrent(reason)
    }
    this.#earlier.remove((version) => isServedFrom(version, file))
    this.#dataset = this.#withEarlier(this.#dataset)
    return losses
  }

  /** Ends a version that can't be read whole any more. False where it is not served. */
  withdraw(version: Version, reason: string): boolean {
    const current = this.#dataset.version
    const isCurrent = current !== null && isSameOnDisk(current, version)
    const isEarlier = this.#earlier.remove((each) => isSameOnDisk(each, version))
    if (!isCurrent && !isEarlier) return false
    if (isCurrent) {
      if (this.#content?.folder) this.#broken.add(this.#content.folder)
      this.#withdrawCurrent(reason)
    }
    this.#dataset = this.#withEarlier(this.#dataset)
    return true
  }

  #withdrawCurrent(reason: string): void {
    this.#content = null
    this.#tried = null
    this.#wish.drop()
    this.#dataset = { ...this.#dataset, version: null, reason }
  }

  /** Forgets versions whose time is over. True where there were any. */
  async expire(): Promise<boolean> {
    const isLess = this.#earlier.expire(this.#options.now(), this.#words.entry)
    this.#wish.retry(this.#options.now())
    if (isLess) this.#dataset = this.#withEarlier(this.#dataset)
    await this.#sweep(false)
    return isLess
  }

  /** Removes what was published, once nobody can be reading it. True when it is gone. */
  async discard(): Promise<boolean> {
    return this.#folders.sweep(new Set(), this.#options.now(), false)
  }

  /** A version that was opened is served unless it would break callers' programs or lose rows. */
  async #offer(dataset: Dataset, content: Content, force: boolean): Promise<void> {
    if (content.folder !== null && this.#broken.has(content.folder)) {
      return this.#refuse('these files break the query engine; others are needed')
    }
    const served = this.#dataset.version
    if (served && dataset.version && !force) {
      const reason = dataLossReason(served, dataset.version, this.#words.entry)
      if (reason !== null && (await this.#isIntact(served))) return this.#refuse(reason)
    }
    await this.#serve(dataset, content)
  }

  /** A version that was written to is no reason to refuse another: it is withdrawn. */
  #isIntact({ files }: Version): Promise<boolean> {
    const { checks } = this.#options
    return checks.verifyAll(files.filter((file) => !checks.isUntouched(file)))
  }

  /** The files served so far stay, under the registry's new words where they fit. */
  async #refuse(reason: string): Promise<void> {
    const dataset = this.#content && (await this.#join(this.#content.files))
    // It may have been withdrawn meanwhile.
    const content = this.#content
    if (content && dataset) await this.#serve({ ...dataset, reason }, content)
    else if (content) this.#dataset = narrowedDataset(this.#dataset, this.#words, reason)
    else {
      const bare = registryDataset(this.#name, this.#words.entry)
      this.#dataset = this.#withEarlier({ ...bare, reason })
    }
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
    // Found damaged meanwhile: the next look publishes it again.
    if (this.#damages.folders.has(content.folder ?? '')) return
    const { version } = this.#dataset
    this.#earlier.replace(version && { version, folder, supersededAt }, dataset.version?.id)
    this.#content = content
    this.#dataset = this.#withEarlier(dataset)
    // Before anything is packed: what was packed and is damaged must not be taken for done.
    const isPackedAgain = content.origins === null && this.#words.entry.pack === 'auto'
    for (const each of this.#damages.heal(isPackedAgain)) await this.#folders.remove(each)
    this.#wish.update(this.#folders.parent, this.#words.entry, content, dataset.version)
  }

  async #join(files: Content['files']): Promise<Dataset | null> {
    const { entry, registry } = this.#words
    return joinDataset(this.#name, entry, registry, files).catch(() => null)
  }

  #withEarlier(dataset: Dataset): Dataset {
    const { registry, entry } = this.#words
    const earlier = this.#earlier.versions.map((version) =>
      earlierVersion(version, this.#name, registry, entry),
    )
    return Object.freeze({ ...dataset, earlier })
  }

  async #sweep(atOnce: boolean): Promise<void> {
    const served = [this.#content?.folder ?? [], this.#earlier.folders].flat()
    const keep = new Set([...served, ...this.#wish.folders, ...this.#damages.onDisk])
    await this.#folders.sweep(keep, this.#options.now(), atOnce)
  }
}
