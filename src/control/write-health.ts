import { ServiceError } from '../errors.js'
import type { ChargeStore } from './charge-store.js'
import { isLocked } from './store/failures.js'
import type { ControlStore } from './store/store.js'

/** How old the last write may be before readiness asks for another. */
const probeIntervalMs = 2000

/** Less than charges wait for a lock (`access/charge-queue.ts`): readiness goes before they fail. */
const lockPatienceMs = 4000

type Charging = Pick<ChargeStore, 'watchWrites' | 'isSuspect' | 'mend'>

interface WriteHealthOptions {
  /** Milliseconds of a clock that never steps back. */
  readonly now: () => number
  /** Is told once when writes begin to fail, and once, without a failure, when one succeeds. */
  readonly report: (failure: ServiceError | undefined) => void
}

/**
 * Whether the store takes durable writes, judged by the last one that was tried, whoever made it.
 * Another process's lock counts as a failure only after some seconds: it usually ends by itself.
 */
export class WriteHealth {
  readonly #store: ControlStore
  readonly #charges: Charging
  readonly #options: WriteHealthOptions
  #triedAt: number
  #lockedSince: number | undefined
  #isFailing = false

  /** Watches both of the server's connections. */
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
      this.#charges.mend()
      rewriteFirstPage(this.#store)
    } catch (cause) {
      // What the store could not do is noted already.
      if (!(cause instanceof ServiceError)) throw cause
    }
  }

  #note(failure: ServiceError | undefined): void {
    const now = this.#options.now()
    this.#triedAt = now
    // Another connection's success says nothing of a log with a hole in it.
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

/** The least that goes all the way to the disk: a number in the header set to what it is. */
function rewriteFirstPage(store: ControlStore): void {
  store.write(() => {
    const version = Number(store.db.pragma('user_version', { simple: true }))
    store.db.pragma(`user_version = ${version}`)
  })
}
