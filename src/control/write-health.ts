import { ServiceError } from '../errors.js'
import type { ChargeStore } from './charge-store.js'
import { isLocked } from './store/failures.js'
import type { ControlStore } from './store/store.js'

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
  readonly #store: ControlStore
  readonly #charges: Charging
  readonly #options: WriteHealthOptions
  #triedAt: number
  #lockedSince: number | undefined
  #isFailing = false

  /** Watches both connections of the server. */
  constructor(store: ControlStore, charges: Charging, options: WriteHealthOptions) {
    this.#store = store
    this.#charges = charges
    this.#options = options
    this.#triedAt = options.now()
    for (const each of [store, charges]) each.watchWrites((failure) => this.#note(failure))
  }

  /** Tries a small durable write first when none was tried in the last two seconds. */
  isWritable(): boolean {
    if (this.#options.now() - this.#triedAt >= probeIntervalMs) this.#probe()
    return !this.#isFailing
  }

  #probe(): void {
    try {
      this.#charges.repairLog()
      rewriteFirstPage(this.#store)
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
function rewriteFirstPage(store: ControlStore): void {
  store.write(() => {
    const version = Number(store.db.pragma('user_version', { simple: true }))
    store.db.pragma(`user_version = ${version}`)
  })
}
