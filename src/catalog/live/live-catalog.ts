import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readRegistry } from '../../catalog.js'
import type { Catalog } from '../../catalog.js'
import { RegistryError } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { requireSold } from '../../registry/sold.js'
import type { SoldPlan } from '../../registry/sold.js'
import { identityOrNull } from '../../versions/files/look.js'
import type { PackOrder, PackedFile } from '../../versions/packer.js'
import type { Loss } from '../../versions/store/damages.js'
import type { Storage } from '../../versions/store/disk-use.js'
import type { CheckedFile, Verdict } from '../../versions/store/file-checks.js'
import type { DataFile, Version } from '../../versions/version.js'
import { reasonOf } from '../open-dataset.js'
import { LiveDataset } from './live-dataset.js'
import type { LiveDatasetOptions } from './live-dataset.js'
import type { UpdateOptions, UpdateResult, Words } from './update.js'

export interface LiveCatalogOptions extends LiveDatasetOptions {
  readonly registryPath: string
  /** What live subscriptions use: a registry that drops any of it is refused. */
  readonly sold: () => readonly SoldPlan[]
  /** A version was withdrawn since a file of it is not what it was. */
  readonly lost?: (loss: Loss) => void
}

/** Everything that is served at one moment. */
export interface Serving {
  readonly catalog: Catalog
  readonly registry: Registry
  /** Why registry.yaml as it stands is not followed; null where it is. */
  readonly registryReason: string | null
}

/**
 * The catalog of a running server. It follows registry.yaml and the files: what changed is opened,
 * checked and probed aside, then swapped in whole; what can't be served is refused, and the last
 * good state goes on. One thing happens at a time; requests only ever take `serving`.
 */
export class LiveCatalog {
  readonly #options: LiveCatalogOptions
  readonly #datasets = new Map<string, LiveDataset>()
  /** No longer in the registry; requests that began before may still read them. */
  readonly #dropped = new Map<string, LiveDataset>()
  #serving: Serving
  #registryIdentity: string | null
  #registrySeen: string | null = null
  #queue: Promise<unknown> = Promise.resolve()
  #lookMs = 0

  private constructor(options: LiveCatalogOptions, registry: Registry, identity: string | null) {
    this.#options = options
    this.#registryIdentity = identity
    this.#serving = this.#picture(registry, null)
    options.checks.onLoss((file, verdict) => {
      this.#lose(file, verdict)
    })
  }

  /**
   * Opens every dataset of the registry. One that can't be opened has a reason; the others are
   * served all the same.
   * @throws RegistryError when registry.yaml can't be read
   */
  static async open(options: LiveCatalogOptions): Promise<LiveCatalog> {
    const identity = await identityOrNull(options.registryPath)
    const registry = await readRegistry(options.registryPath)
    await mkdir(options.versionsFolder, { recursive: true, mode: 0o700 })
    const live = new LiveCatalog(options, registry, identity)
    await live.#updateAll(registry, { isFirst: true, force: false })
    live.#serving = live.#picture(registry, null)
    await live.#removeOthers()
    return live
  }

  /** Frozen; a request takes it once. */
  get serving(): Serving {
    return this.#serving
  }

  /** How a dataset's files are kept; undefined for one that is not served. */
  async storage(name: string): Promise<Storage | undefined> {
    return this.#datasets.get(name)?.storage()
  }

  /** The folders in which a change may come, that of the registry among them. */
  get places(): readonly string[] {
    const places = [...this.#datasets.values()].flatMap((dataset) => dataset.places)
    return [...new Set([this.#serving.registry.folder, ...places])]
  }

  /**
   * Takes what lies on the disk now. With `force` it is followed though it drops what live
   * subscriptions or callers use, or many rows. A failure is a reason in what is served.
   * @throws where what was sold can't be told; the next look tries again
   */
  update(force = false): Promise<UpdateResult> {
    return this.#inTurn(async () => {
      const start = performance.now()
      let result: UpdateResult = 'unchanged'
      try {
        result = await this.#update(force)
        return result
      } finally {
        if (result !== 'changed') this.#lookMs = performance.now() - start
      }
    })
  }

  /**
   * Milliseconds of the last look that found nothing to open. The wait for its turn is no part of
   * it: a look that waits for a large version costs no more than another.
   */
  get lookMs(): number {
    return this.#lookMs
  }

  /** Ends a version that can't be read whole any more; what replaces it is taken by `update`. */
  withdraw(version: Version, reason: string): void {
    const dataset = this.#datasets.get(version.dataset)
    if (dataset?.withdraw(version, reason)) this.#show()
  }

  /** What is damaged and not healed yet of a dataset, in words; null where nothing is. */
  damageOf(name: string): string | null {
    return this.#datasets.get(name)?.damage ?? null
  }

  get isDamaged(): boolean {
    return [...this.#datasets.values()].some(({ damage }) => damage !== null)
  }

  /** The files that are served, those of superseded versions last. */
  get storedFiles(): readonly DataFile[] {
    const datasets = [...this.#datasets.values()]
    const newest = datasets.flatMap(({ dataset }) => dataset.version?.files ?? [])
    return [...newest, ...datasets.flatMap(({ earlierFiles }) => earlierFiles)]
  }

  /** A version that waits to be packed; null where none does. */
  get toPack(): PackOrder | null {
    for (const { wish } of this.#datasets.values()) if (wish.order) return wish.order
    return null
  }

  /** Whether an order is still wanted: its files are what is served. */
  isWanted(order: PackOrder): boolean {
    return this.#datasets.get(order.dataset)?.wish.order === order
  }

  /** Serves what was packed, where it is still wanted. What speaks against it is remembered. */
  takePacked(order: PackOrder, packed: readonly PackedFile[]): Promise<void> {
    return this.#inTurn(async () => {
      const dataset = this.#datasets.get(order.dataset)
      if (await dataset?.takePacked(order, packed)) this.#show()
    })
  }

  /** Remembers why an order was not fulfilled: for a while it is not tried again. */
  notPacked(order: PackOrder, cause: unknown): void {
    const reason = reasonOf(cause, this.#serving.registry.folder)
    this.#datasets.get(order.dataset)?.wish.fail(order, reason, this.#options.now())
  }

  /** Why a dataset is not packed though it should be; null where nothing is wrong. */
  packFailure(name: string): string | null {
    return this.#datasets.get(name)?.wish.failure ?? null
  }

  /** Forgets superseded versions whose time is over. */
  expire(): Promise<void> {
    return this.#inTurn(async () => {
      for (const dataset of this.#datasets.values()) {
        if (await dataset.expire()) this.#show()
      }
      for (const [name, dataset] of this.#dropped) {
        if (await dataset.discard()) this.#dropped.delete(name)
      }
    })
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    await this.#queue
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work)
    this.#queue = result.catch(() => undefined)
    return result
  }

  async #update(force: boolean): Promise<UpdateResult> {
    const followed = await this.#followRegistry(force)
    const updated = await this.#updateAll(this.#serving.registry, { isFirst: false, force })
    // A dataset that came back was not opened anew, so nothing else says so.
    if (followed === 'changed') this.#show()
    return strongest([followed, updated])
  }

  /** Reads registry.yaml again where it changed, or where force may change the verdict. */
  async #followRegistry(force: boolean): Promise<UpdateResult> {
    const { registryPath } = this.#options
    const identity = await identityOrNull(registryPath)
    const isForced = force && this.#serving.registryReason !== null
    if (identity === this.#registryIdentity && !isForced) return 'unchanged'
    const isSettled = identity === this.#registrySeen || isForced
    this.#registrySeen = identity
    if (!isSettled) return 'unsettled'
    try {
      const registry = await readRegistry(registryPath)
      if (!force) requireSold(this.#options.sold(), this.#serving.registry, registry)
      this.#serving = this.#picture(registry, null)
    } catch (cause) {
      if (!(cause instanceof RegistryError)) throw cause
      this.#serving = Object.freeze({ ...this.#serving, registryReason: cause.message })
    }
    this.#registryIdentity = identity
    return 'changed'
  }

  async #updateAll(registry: Registry, options: UpdateOptions): Promise<UpdateResult> {
    const results: UpdateResult[] = []
    for (const [name, entry] of registry.datasets) {
      const words = { registry, entry }
      const dataset = this.#datasets.get(name) ?? (await this.#addDataset(name, words))
      results.push(await dataset.update(words, options))
      if (results.at(-1) === 'changed' && !options.isFirst) this.#show()
    }
    for (const [name, dataset] of this.#datasets) {
      if (registry.datasets.has(name)) continue
      this.#datasets.delete(name)
      this.#dropped.set(name, dataset)
    }
    return strongest(results)
  }

  async #addDataset(name: string, words: Words): Promise<LiveDataset> {
    const dataset = this.#dropped.get(name) ?? new LiveDataset(name, words, this.#options)
    if (!this.#dropped.delete(name)) await dataset.restore()
    this.#datasets.set(name, dataset)
    return dataset
  }

  #lose(file: CheckedFile, verdict: Verdict): void {
    const datasets = [...this.#datasets.values(), ...this.#dropped.values()]
    const losses = datasets.flatMap((dataset) => dataset.lose(file, verdict))
    if (losses.length === 0) return
    this.#show()
    for (const loss of losses) this.#options.lost?.(loss)
  }

  #show(): void {
    const { registry, registryReason } = this.#serving
    this.#serving = this.#picture(registry, registryReason)
  }

  #picture(registry: Registry, registryReason: string | null): Serving {
    const datasets = [...registry.datasets.keys()].flatMap((name) => {
      const dataset = this.#datasets.get(name)?.dataset
      // One that was just listed is not there before it was opened once.
      return dataset?.version || dataset?.reason ? [[name, dataset] as const] : []
    })
    const { demo, prompts } = registry
    const catalog = Object.freeze({ datasets: new Map(datasets), demo, prompts })
    return Object.freeze({ catalog, registry, registryReason })
  }

  /** What an earlier server published of datasets that the registry does not name. */
  async #removeOthers(): Promise<void> {
    const { versionsFolder } = this.#options
    for (const name of await readdir(versionsFolder)) {
      if (this.#datasets.has(name)) continue
      await rm(join(versionsFolder, name), { recursive: true, force: true })
    }
  }
}

function strongest(results: readonly UpdateResult[]): UpdateResult {
  if (results.includes('unsettled')) return 'unsettled'
  return results.includes('changed') ? 'changed' : 'unchanged'
}
