import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Catalog } from '../../catalog.js'
import { OneAtATime } from '../../one-at-a-time.js'
import type { DatasetEntry } from '../../registry/registry-schema.js'
import type { Registry } from '../../registry/registry.js'
import { NoSpaceError } from '../../versions/disk-space.js'
import { inBatches } from '../../versions/in-batches.js'
import type { FormsOrder, FormsProgress } from '../../versions/forms/forms-order.js'
import type { FormState } from './live-forms.js'
import type { LostVersion } from '../../versions/store/damage-state.js'
import type { Storage } from '../../versions/store/disk-use.js'
import type { CheckedFile, Verdict } from '../../versions/store/file-checks.js'
import type { StoredFile, Version } from '../../versions/version.js'
import { withLinkWarnings } from '../links.js'
import { reasonOf } from '../open-dataset.js'
import { LiveRegistry } from './live-registry.js'
import type { LiveRegistryOptions } from './live-registry.js'
import { listed, openSource, readAgain, sourceFor } from './live-source.js'
import type { LiveSource } from './live-source.js'
import { servedFiles, storedVersions } from './stored.js'
import { strongest } from './update.js'
import type {
  DatasetDefinition,
  LiveDatasetOptions,
  Force,
  UpdateOptions,
  UpdateResult,
} from './update.js'

export interface LiveCatalogOptions extends LiveDatasetOptions, LiveRegistryOptions {
  /** Called when a version is withdrawn because a file's content changed. */
  readonly onLostVersion?: (loss: LostVersion) => void
  /** Called while `open` opens datasets: how many are, of how many. */
  readonly onOpened?: (opened: number, datasets: number) => void
}

type UpdateAllOptions = Omit<UpdateOptions, 'force'> & { readonly force: Force }

/** Datasets that a start opens at the same time; a running server leaves the cores to queries. */
const atOnceAtStart = 4

/** What is served at one moment. */
export interface Serving {
  readonly catalog: Catalog
  readonly registry: Registry
  /** Why the present registry.yaml is refused; null if it is in use. */
  readonly registryReason: string | null
}

/**
 * The catalog of a running server, which follows registry.yaml and the files. A change is opened,
 * checked and then swapped in atomically; if it can't be served, the last good state stays. One
 * operation runs at a time; requests only read `serving`.
 */
export class LiveCatalog {
  readonly #options: LiveCatalogOptions
  readonly #datasets = new Map<string, LiveSource>()
  /** Datasets removed from the registry, which running requests may still read. */
  readonly #dropped = new Map<string, LiveSource>()
  readonly #registry: LiveRegistry
  #serving: Serving
  readonly #turns = new OneAtATime()
  #updateMs = 0

  private constructor(options: LiveCatalogOptions, registry: LiveRegistry) {
    this.#options = options
    this.#registry = registry
    this.#serving = this.#snapshot()
    options.checks.onFailure((file, verdict) => {
      this.#lose(file, verdict)
    })
    options.space?.followVersions(() => storedVersions(this.#datasets.values(), () => this.#show()))
  }

  /**
   * Opens every dataset of the registry. One that can't be opened has a reason and does not affect
   * the others.
   * @throws RegistryError if registry.yaml can't be read
   */
  static async open(options: LiveCatalogOptions): Promise<LiveCatalog> {
    const registry = await LiveRegistry.open(options)
    await mkdir(options.versionsFolder, { recursive: true, mode: 0o700 })
    const live = new LiveCatalog(options, registry)
    await live.#updateAll({ isFirst: true, force: false })
    live.#show()
    await live.#removeOthers()
    return live
  }

  /** A frozen snapshot; a request reads it once. */
  get serving(): Serving {
    return this.#serving
  }

  /** How a dataset's files are stored; undefined for an unknown dataset. */
  async storage(name: string): Promise<Storage | undefined> {
    return this.#datasets.get(name)?.storage()
  }

  /** The folders to watch for changes, including the registry's. */
  get watchedFolders(): readonly string[] {
    const folders = [...this.#datasets.values()].flatMap((dataset) => dataset.sourceFolders)
    return [...new Set([this.#serving.registry.folder, ...folders])]
  }

  /**
   * Follows the registry and the files on the disk; with `force`, also if callers or live
   * subscriptions lose plans, columns or rows. A failure becomes a reason in `serving`.
   * @throws if the sold plans can't be read; the next update tries again
   */
  update(force: Force = false): Promise<UpdateResult> {
    return this.#turns.run(async () => {
      const { monotonicMs } = this.#options.clock
      const start = monotonicMs()
      let result: UpdateResult = 'unchanged'
      try {
        result = await this.#update(force)
        return result
      } finally {
        if (result !== 'changed') this.#updateMs = monotonicMs() - start
      }
    })
  }

  /** Has the next update read refused files and tables again; waits a while for the tables. */
  async readAgain(): Promise<void> {
    await readAgain(this.#datasets.values())
  }

  /** The duration of the last update without a change, in milliseconds, without waiting times. */
  get checkMs(): number {
    return this.#updateMs
  }

  /** Withdraws a version that can't be read completely; `update` replaces it. */
  withdraw(version: Version, reason: string): void {
    const dataset = this.#datasets.get(version.dataset)
    if (dataset?.withdraw(version, reason)) this.#show()
  }

  /** Why a dataset's stored files are damaged; null if they are not. */
  damageOf(name: string): string | null {
    return this.#datasets.get(name)?.damage ?? null
  }

  get isDamaged(): boolean {
    return [...this.#datasets.values()].some(({ damage }) => damage !== null)
  }

  /** The served files, those of superseded versions last. */
  get storedFiles(): readonly StoredFile[] {
    return servedFiles([...this.#datasets.values()])
  }

  /** An order for forms that a served version lacks; null without one. */
  get toPack(): FormsOrder | null {
    for (const { forms } of this.#datasets.values()) {
      if (forms?.waiting) return forms.waiting
    }
    return null
  }

  /** Whether an order's forms are still lacking. */
  isWanted(order: FormsOrder): boolean {
    return this.#datasets.get(order.dataset)?.forms?.waiting === order
  }

  /** Records why an order failed; it is not retried for a while. */
  async notPacked(order: FormsOrder, cause: unknown): Promise<void> {
    const reason = reasonOf(cause, this.#serving.registry.folder)
    const mayBeDamaged = !(cause instanceof NoSpaceError)
    await this.#datasets.get(order.dataset)?.notPacked(order, reason, mayBeDamaged)
  }

  /** Why packing a dataset failed; null if it did not. */
  packFailure(name: string): string | null {
    return this.#datasets.get(name)?.forms?.failure ?? null
  }

  /** The state of a dataset's forms; `progress` of making them, if they are being made. */
  formStates(name: string, progress: FormsProgress | null): readonly FormState[] {
    return this.#datasets.get(name)?.forms?.states(progress) ?? []
  }

  /** Removes expired superseded versions. */
  expire(): Promise<void> {
    return this.#turns.run(async () => {
      for (const dataset of this.#datasets.values()) {
        if (await dataset.expire()) this.#show()
      }
      for (const [name, dataset] of this.#dropped) {
        if (await dataset.discard()) this.#dropped.delete(name)
      }
    })
  }

  /** Waits for the running operation. */
  async close(): Promise<void> {
    await this.#turns.run(async () => {})
  }

  async #update(force: Force): Promise<UpdateResult> {
    const { lost } = this.#registry
    const followed = await this.#registry.update(force === true)
    if (followed === 'changed') this.#show()
    const updated = await this.#updateAll({ isFirst: false, force })
    // A dataset that is back in the registry is not opened again, so `#updateAll` did not show it.
    if (followed === 'changed') this.#show()
    if (this.#registry.lost.size < lost.size) await this.#removeOthers()
    return strongest([followed, updated])
  }

  async #updateAll({ isFirst, force }: UpdateAllOptions): Promise<UpdateResult> {
    const { registry } = this.#registry
    const { onOpened = () => undefined } = isFirst ? this.#options : {}
    let opened = 0
    onOpened(0, registry.datasets.size)
    const update = async ([name, entry]: readonly [string, DatasetEntry]) => {
      const known = sourceFor(this.#datasets.get(name), entry)
      const dataset = known ?? (await this.#addDataset(name, { registry, entry }))
      const isForced = force === true || force === name
      const result = await dataset.update({ registry, entry }, { isFirst, force: isForced })
      onOpened(++opened, registry.datasets.size)
      const shown = this.#serving.catalog.datasets.get(name)
      if (!isFirst && listed(dataset) !== shown) this.#show()
      return result
    }
    const results = await inBatches([...registry.datasets], update, isFirst ? atOnceAtStart : 1)
    for (const [name, dataset] of this.#datasets) {
      if (registry.datasets.has(name)) continue
      this.#datasets.delete(name)
      this.#dropped.set(name, dataset)
    }
    return strongest(results)
  }

  async #addDataset(name: string, definition: DatasetDefinition): Promise<LiveSource> {
    const kept = sourceFor(this.#dropped.get(name), definition.entry)
    const replaced = this.#datasets.get(name)
    if (replaced) this.#dropped.set(name, replaced)
    else this.#dropped.delete(name)
    const dataset = kept ?? (await openSource(name, definition, this.#options))
    this.#datasets.set(name, dataset)
    return dataset
  }

  #lose(file: CheckedFile, verdict: Verdict): void {
    const datasets = [...this.#datasets.values(), ...this.#dropped.values()]
    const losses = datasets.flatMap((dataset) => dataset.lose(file, verdict))
    if (losses.length === 0) return
    this.#show()
    for (const loss of losses) this.#options.onLostVersion?.(loss)
  }

  #show(): void {
    this.#serving = this.#snapshot()
  }

  #snapshot(): Serving {
    const { registry, reason: registryReason } = this.#registry
    const datasets = [...registry.datasets.keys()].flatMap((name) => {
      const dataset = listed(this.#datasets.get(name))
      return dataset ? [[name, dataset] as const] : []
    })
    const { demo, prompts } = registry
    const catalog = Object.freeze({
      datasets: withLinkWarnings(new Map(datasets), registry),
      demo,
      prompts,
    })
    return Object.freeze({ catalog, registry, registryReason })
  }

  /** Removes versions of datasets that neither the registry nor a live subscription names. */
  async #removeOthers(): Promise<void> {
    const { versionsFolder } = this.#options
    const stay = [this.#datasets, this.#dropped, this.#registry.lost]
    for (const name of await readdir(versionsFolder)) {
      if (stay.some((names) => names.has(name))) continue
      await rm(join(versionsFolder, name), { recursive: true, force: true })
    }
  }
}
