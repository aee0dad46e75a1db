import { ServiceError } from '../errors.js'
import type { ChargeStore } from './charge-store.js'
import { isLocked } from './store/failures.js'
import type { SqliteStore } from './store/sqlite-store.js'

/** The age of the last write at which readiness tries another. */
const probeIntervalMs = 2000

/** Shorter than charges wait for a lock (`access/charge-queue.ts`): readiness fails first. */
const lockPatienceMs = 4000

type Charging = Pick<ChargeStore, 'watchWrites' | 'isSuspect' | 'repairLog'>

interface WriteHealthOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Called once when writes begin to fail, and once, without a failure, when one succeeds. */
  readonly report: (failure: ServiceError | undefined) => void
}

/**
 * Whether the store can be written durably, judged by the last write of the server. Another
 * process's lock counts as a failure only after some seconds: it usually ends by itself.
 */
export class WriteHealth {
  readonly #store: SqliteStore
  readonly #charges: Charging
  readonly #options: WriteHealthOptions
  #triedAt: number
  #lockedSince: number | undefined
  #isFailing = false

  /** Watches both connections of the server. */
  constructor(store: SqliteStore, charges: Charging, options: WriteHealthOptions) {
    this.#store = store
    this.#charges = charges
    this.#options = options
    this.#triedAt = options.now()
    for (const each of [store.file, charges]) each.watchWrites((failure) => this.#note(failure))
  }

  /** Tries a small durable write first when none was tried in the last two seconds. */
  async isWritable(): Promise<boolean> {
    if (this.#options.now() - this.#triedAt >= probeIntervalMs) await this.#probe()
    return !this.#isFailing
  }

  async #probe(): Promise<void> {
    try {
      await this.#charges.repairLog()
      await rewriteFirstPage(this.#store)
    } catch (cause) {
      // `#note` has the failure already.
      if (!(cause instanceof ServiceError)) throw cause
    }
  }

  #note(failure: ServiceError | undefined): void {
    const now = this.#options.now()
    this.#triedAt = now
    // A success of the other connection does not repair the log.
    if (failure === undefined && this.#charges.isSuspect) return
    if (isLocked(failure)) {
      this.#lockedSince ??= now
      if (now - this.#lockedSince < lockPatienceMs) return
    } else {
      this.#lockedSince = undefined
    }
    const isFailing = failure !== undefined
    if (isFailing !== this.#isFailing) this.#options.report(failure)
    this.#isFailing = isFailing
  }
}

/** The smallest durable write: sets a number in the header to its own value. */
async function rewriteFirstPage(store: SqliteStore): Promise<void> {
  const { file } = store
  await store.alone(() => {
    file.write(() => file.db.pragma(`user_version = ${file.schemaVersion}`))
  })
}
