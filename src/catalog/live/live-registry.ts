import { resolve } from 'node:path'
import { readRegistry } from '../../catalog.js'
import { RegistryError } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { requireSoldPlans } from '../../registry/sold-plans.js'
import type { SoldPlan } from '../../registry/sold-plans.js'
import { identityOrNull } from '../../versions/files/disk-state.js'
import type { UpdateResult } from './update.js'

export interface LiveRegistryOptions {
  readonly registryPath: string
  /** Plans in use by live subscriptions: a registry that removes one is refused. */
  readonly sold: () => Promise<readonly SoldPlan[]>
}

/** registry.yaml of a running server: the last good one, and why the present one is refused. */
export class LiveRegistry {
  readonly #options: LiveRegistryOptions
  #registry: Registry
  #reason: string | null = null
  /** The file that was read last, null if there was none; undefined if it could not be read. */
  #identity: string | null | undefined
  #seen: string | null = null
  /** The registry whose plans the next one must keep; null = every plan that is sold. */
  #before: Registry | null
  #lost: ReadonlySet<string> = new Set()

  private constructor(options: LiveRegistryOptions, registry: Registry, identity: string | null) {
    this.#options = options
    this.#registry = registry
    this.#before = registry
    this.#identity = identity
  }

  /**
   * Reads registry.yaml. A start knows no earlier one, so it serves a registry that lacks sold
   * plans, with the reason for which a running server refuses it.
   * @throws RegistryError if registry.yaml can't be read; the error of `sold`
   */
  static async open(options: LiveRegistryOptions): Promise<LiveRegistry> {
    const before = await identityOrNull(options.registryPath)
    const registry = await readRegistry(options.registryPath)
    const identity = await identityWith(before, registry)
    const live = new LiveRegistry(options, registry, identity)
    const sold = await options.sold()
    try {
      requireSoldPlans(sold, null, registry)
    } catch (cause) {
      if (!(cause instanceof RegistryError)) throw cause
      live.#reason = cause.message
      live.#before = null
      const lost = sold.filter(({ dataset }) => !registry.datasets.has(dataset))
      live.#lost = new Set(lost.map(({ dataset }) => dataset))
    }
    return live
  }

  /** The last good registry. */
  get registry(): Registry {
    return this.#registry
  }

  /** Why the present registry.yaml is refused; null if it is in use. */
  get reason(): string | null {
    return this.#reason
  }

  /**
   * Datasets of live subscriptions that the registry lacked at the start: their stored versions
   * wait until it has them again, or lacks them by the owner's will.
   */
  get lost(): ReadonlySet<string> {
    return this.#lost
  }

  /**
   * Reads registry.yaml again if it changed or could not be read, or if `force` may accept a
   * refused one.
   * @throws if the sold plans can't be read; the next update tries again
   */
  async update(force: boolean): Promise<UpdateResult> {
    const file = await identityOrNull(this.#options.registryPath)
    const identity = await identityWith(file, this.#registry)
    const isForced = force && this.#reason !== null
    if (identity === this.#identity && !isForced) return 'unchanged'
    const isSettled = identity === this.#seen || isForced
    this.#seen = identity
    if (!isSettled) return 'unsettled'
    try {
      await this.#read(force)
      this.#identity = await identityWith(file, this.#registry)
    } catch (cause) {
      if (!(cause instanceof RegistryError)) throw cause
      // A file that can't be read stays the same when its owner makes it readable.
      this.#identity = cause.cause === undefined ? identity : undefined
      if (this.#reason === cause.message) return 'unchanged'
      this.#reason = cause.message
    }
    return 'changed'
  }

  async #read(force: boolean): Promise<void> {
    const { registryPath, sold } = this.#options
    const registry = await readRegistry(registryPath)
    if (!force) requireSoldPlans(await sold(), this.#before, registry)
    this.#registry = registry
    this.#before = registry
    this.#reason = null
    this.#lost = new Set()
  }
}

/** The identities of registry.yaml and of the files of its portal; null without a registry. */
async function identityWith(
  file: string | null,
  { folder, portalFiles }: Registry,
): Promise<string | null> {
  if (file === null) return null
  const files = portalFiles.map(({ file: name }) => identityOrNull(resolve(folder, name)))
  return [file, ...(await Promise.all(files))].join(' ')
}
