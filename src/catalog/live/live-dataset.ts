import { join } from 'node:path'
import { readDiskState } from '../../versions/files/disk-state.js'
import { withoutForm } from '../../versions/forms/attach-forms.js'
import type { FormsOrder } from '../../versions/forms/forms-order.js'
import {
  DamageState,
  damageText,
  inPlaceOf,
  isSameFile,
} from '../../versions/store/damage-state.js'
import { lostVersions, withoutFile } from '../../versions/store/damage-state.js'
import type { LostVersion } from '../../versions/store/damage-state.js'
import { storageOf } from '../../versions/store/disk-use.js'
import type { CheckedFile, Verdict } from '../../versions/store/file-checks.js'
import { KnownFiles } from '../../versions/store/known-files.js'
import { foldersOf } from '../../versions/store/manifest.js'
import type { Content } from '../../versions/store/manifest.js'
import { SupersededVersions } from '../../versions/store/superseded-versions.js'
import { VersionFolders } from '../../versions/store/version-folders.js'
import { isSameOnDisk } from '../../versions/version.js'
import type { Version } from '../../versions/version.js'
import { earlierVersion, narrowedDataset, registryDataset } from '../dataset.js'
import type { Dataset } from '../dataset.js'
import { DeliveryReview } from '../delivery-review.js'
import { joinDataset, openDataset, reasonOf } from '../open-dataset.js'
import { LiveForms } from './live-forms.js'
import { UpdateAttempts } from './update-attempts.js'
import type { DatasetDefinition, LiveDatasetOptions } from './update.js'
import type { UpdateOptions, UpdateResult } from './update.js'

/**
 * One dataset of a running server: the served version, the earlier ones that walks may still use,
 * and the next one. Files that can't be served change nothing but the reason.
 */
export class LiveDataset {
  readonly #name: string
  readonly #options: LiveDatasetOptions
  readonly #folders: VersionFolders
  readonly #known = new KnownFiles()
  readonly #earlier = new SupersededVersions()
  readonly #damage = new DamageState()
  readonly #review: DeliveryReview
  /** Folders whose files crashed the engine. */
  readonly #broken = new Set<string>()
  /** When its files are opened. */
  readonly attempts = new UpdateAttempts()
  readonly forms: LiveForms
  readonly #isAwaited = (id: string) => this.#options.isAwaited?.(this.#name, id) ?? false
  #definition: DatasetDefinition
  #dataset: Dataset
  /** What was served last; its files may be gone. */
  #last: Version | null = null
  #content: Content | null = null
  #sourceFolders: readonly string[] = []

  constructor(name: string, definition: DatasetDefinition, options: LiveDatasetOptions) {
    this.#name = name
    this.#options = options
    this.#review = new DeliveryReview(options)
    this.#folders = new VersionFolders(join(options.versionsFolder, name), options.checks)
    this.forms = new LiveForms(this.#folders.parent, options)
    this.#definition = definition
    this.#dataset = registryDataset(name, definition.entry)
  }

  /** The dataset for requests. */
  get dataset(): Dataset {
    return this.#dataset
  }

  /** How the served files are stored, and the disk space of all kept versions. */
  storage() {
    return storageOf(this.#content, this.#folders.parent)
  }

  /** The folders to watch for a change of its files. */
  get sourceFolders(): readonly string[] {
    return this.#sourceFolders
  }

  /** Serves the versions of an earlier process: walks go on, and a bad file changes nothing. */
  async restore(): Promise<void> {
    const now = this.#options.clock.now()
    const found = await this.#folders.readAll()
    for (const { content, isCurrent } of found) this.#known.addManifest({ ...content, isCurrent })
    const current = found.findLast(({ supersededAt }) => supersededAt === null)
    // Kept even if the registry does not fit it now, because a later one may.
    if (current) this.#content = current.content
    for (const { content, supersededAt } of found) {
      const dataset = await this.#join(content)
      if (!dataset?.version) continue
      if (content === current?.content) {
        this.#dataset = await this.forms.attach(dataset, false)
        this.#last = this.#dataset.version
        continue
      }
      const earlier = { version: dataset.version, folders: [content.folder] }
      this.#earlier.add({ ...earlier, supersededAt: supersededAt ?? now })
    }
    this.#earlier.expire(now, this.#definition.entry, this.#isAwaited)
    this.#dataset = this.#withEarlier(this.#dataset)
  }

  /** Follows the registry and the files. */
  async update(
    definition: DatasetDefinition,
    { isFirst, force }: UpdateOptions,
  ): Promise<UpdateResult> {
    const { clock, objects } = this.#options
    const [{ registry, entry }, { doubted }] = [definition, this.#known]
    const state = await readDiskState(registry, entry, { doubted, objects })
    const key = `${state.key} ${await this.forms.identity()}`
    this.#sourceFolders = state.folders
    const isForced = force && (this.#dataset.reason !== null || doubted.size > 0)
    if (!isForced && !this.attempts.isDue(key, clock.now())) return 'unchanged'
    const unsettled = isFirst ? null : this.attempts.unsettled(state, clock.now())
    if (unsettled?.reason === null || unsettled?.reason === this.#dataset.reason) return 'unsettled'
    if (unsettled) {
      await this.#refuse(unsettled.reason)
      return 'changed'
    }
    if (force) this.#known.acceptDoubted()
    this.#definition = definition
    const opened = await openDataset(this.#name, entry, registry, {
      ...this.#options,
      known: this.#known,
      damaged: this.#damage.folders,
    })
    // Found damaged in the meantime: the next update publishes it again.
    if (opened.content && this.#damage.isIn(opened.content)) return 'unsettled'
    const isRetry = this.attempts.isRetry(key)
    this.attempts.record(key, clock.now(), !opened.content && opened.mayPass)
    try {
      if (opened.content) await this.#offer(opened.dataset, opened.content, force)
      else await this.#refuse(opened.dataset.reason ?? '', isRetry)
      if (!opened.content && opened.isDamaged) this.#damage.addSource(opened.dataset.reason ?? '')
      await this.#sweep(isFirst)
    } catch (cause) {
      // The disk is full or read-only.
      this.#dataset = Object.freeze({ ...this.#dataset, reason: reasonOf(cause, registry.folder) })
      this.attempts.record(key, clock.now(), true)
    }
    return 'changed'
  }

  /** Records why an order failed, and verifies the files that it was for, which may be damaged. */
  async notPacked(order: FormsOrder, reason: string, mayBeDamaged: boolean): Promise<void> {
    this.forms.fail(order, reason, this.#options.clock.now())
    if (mayBeDamaged) await this.#options.checks.verifyAll(this.#content?.files ?? [])
  }

  /** Why the stored files are damaged; null if they are not. */
  get damage(): string | null {
    return this.#damage.reason
  }

  /** Withdraws what is served from a file with changed content: versions, or a form of them. */
  lose(file: CheckedFile, verdict: Verdict): readonly LostVersion[] {
    const lost = lostVersions([this.#dataset.version, ...this.#earlier.versions], file, verdict)
    const content = this.#content
    const stored = content?.files.find((each) => isSameFile(each, file))
    if (content && stored) {
      const reason = damageText(stored.source.name, verdict)
      this.#known.doubt(this.#damage.note(content, stored, verdict, reason))
      const pages = this.#dataset.version?.files.find((each) => isSameFile(each, file))?.pages
      if (pages) this.#readPages(content, stored, pages, reason)
      else this.#withdrawCurrent(reason)
    } else if (lost.length > 0) {
      // The next update finds that it is gone, and orders it again.
      this.forms.lose(file)
      this.attempts.reset()
    }
    this.#earlier.remove((each) => withoutFile(each, file) === null)
    this.#earlier.map((each) => withoutFile(each, file) ?? each)
    const version = this.#dataset.version && withoutFile(this.#dataset.version, file)
    this.#dataset = this.#withEarlier({ ...this.#dataset, version })
    return lost
  }

  /** Serves the pages of a lost file in its place, until the next update publishes it again. */
  #readPages(content: Content, lost: CheckedFile, pages: CheckedFile, reason: string): void {
    const files = content.files.map((each) => (each === lost ? inPlaceOf(each, pages) : each))
    // The folder is not used again.
    this.#content = { ...content, folder: null, files }
    this.attempts.reset()
    this.#dataset = { ...this.#dataset, reason }
  }

  /** Withdraws a version that can't be read completely; false if it is not served. */
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
    this.attempts.reset()
    this.forms.drop()
    this.#dataset = { ...this.#dataset, version: null, reason }
  }

  /** Removes expired earlier versions; true if there were any. */
  async expire(): Promise<boolean> {
    const now = this.#options.clock.now()
    const hasExpired = this.#earlier.expire(now, this.#definition.entry, this.#isAwaited)
    if (hasExpired) this.#dataset = this.#withEarlier(this.#dataset)
    await this.#sweep(false)
    return hasExpired
  }

  /** Removes all published files once no request can read them; true when they are removed. */
  async discard(): Promise<boolean> {
    return this.#folders.sweep(new Set(), this.#options.clock.now(), false)
  }

  /** Serves an opened version, unless callers would lose columns or too many rows. */
  async #offer(dataset: Dataset, content: Content, force: boolean): Promise<void> {
    if (content.folder !== null && this.#broken.has(content.folder)) {
      return this.#refuse('these files crash the query engine; replace them')
    }
    const served = force ? null : this.#last
    const { entry } = this.#definition
    const reason = await this.#review.reasonAgainst(served, dataset.version, entry)
    if (reason !== null) return this.#refuse(reason)
    await this.#serve(await this.forms.attach(dataset, true), content)
  }

  /** Keeps the served files, under the new registry if it fits them. */
  async #refuse(reason: string, isRetry = false): Promise<void> {
    if (isRetry && reason === this.#dataset.reason) return
    const before = this.#content
    const joined = before && (await this.#join(before))
    const dataset = joined && (await this.forms.attach(joined, false))
    // Read again: it, or a form of it, may have been withdrawn in the meantime.
    const content = this.#content
    if (content && dataset && content === before) await this.#serve({ ...dataset, reason }, content)
    else if (content) this.#dataset = narrowedDataset(this.#dataset, this.#definition, reason)
    else {
      const bare = registryDataset(this.#name, this.#definition.entry)
      this.#dataset = this.#withEarlier({ ...bare, reason })
    }
  }

  async #serve(dataset: Dataset, content: Content): Promise<void> {
    const [folders, supersededAt] = [foldersOf(this.#content), this.#options.clock.now()]
    await this.#folders.recordServed(content, this.#content, supersededAt)
    // Found damaged in the meantime: the next update publishes it again.
    if (this.#damage.isIn(content)) return
    const { version } = this.#dataset
    const bare = version && withoutForm(version, () => true)
    this.#earlier.replace(bare && { version: bare, folders, supersededAt }, dataset.version?.id)
    this.#content = content
    this.#last = dataset.version
    this.#dataset = this.#withEarlier(dataset)
    if (content.folder !== null) {
      for (const each of this.#damage.heal()) await this.#folders.remove(each)
    }
    this.forms.order(this.#definition.entry)
  }

  async #join(content: Content): Promise<Dataset | null> {
    const { entry, registry } = this.#definition
    return joinDataset(this.#name, entry, registry, content).catch(() => null)
  }

  #withEarlier(dataset: Dataset): Dataset {
    const { registry, entry } = this.#definition
    const earlier = this.#earlier.versions.map((each) => earlierVersion(each, registry, entry))
    const warnings = this.#review.warningsOf(dataset.version).map(({ message }) => message)
    return Object.freeze({ ...dataset, earlier, warnings })
  }

  /** The folders that stay, and the earlier versions with theirs. */
  get stored() {
    const folders = [...foldersOf(this.#content), this.forms.folder, ...this.#damage.onDisk]
    return { folders, earlier: this.#earlier.list }
  }

  /** Stops serving an earlier version before its time. */
  drop(version: Version): void {
    this.#earlier.remove((each) => each === version)
    this.#dataset = this.#withEarlier(this.#dataset)
  }

  async #sweep(atOnce: boolean): Promise<void> {
    const { folders, earlier } = this.stored
    const keep = new Set([...folders, ...earlier.flatMap((each) => each.folders)])
    await this.#folders.sweep(keep, this.#options.clock.now(), atOnce)
    await this.forms.sweep(this.#options.clock.now())
  }
}
