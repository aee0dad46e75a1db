import { ServiceError } from '../errors.js'
import { isLocked } from './failures.js'
import type { ControlStore } from './store.js'

/** How old the last write may be before readiness asks for another. */
const probeIntervalMs = 2000

/** Less than charges wait for a lock (`access/charge-queue.ts`): readiness goes before they fail. */
const lockPatienceMs = 4000

type Watched = Pick<ControlStore, 'watchWrites'>

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
  readonly #options: WriteHealthOptions
  #triedAt: number
  #lockedSince: number | undefined
  #isFailing = false

  /** Watches both of the server's connections; the first one is what it tries writes with. */
  constructor(stores: readonly [ControlStore, ...Watched[]], options: WriteHealthOptions) {
    this.#store = stores[0]
    this.#options = options
    this.#triedAt = options.now()
    for (const store of stores) store.watchWrites((failure) => this.#note(failure))
  }

  /** Tries a small durable write first when none was tried in the last two seconds. */
  isWritable(): boolean {
    if (this.#options.now() - this.#triedAt >= probeIntervalMs) this.#probe()
    return !this.#isFailing
  }

  #probe(): void {
    try {
      rewriteFirstPage(this.#store)
    } catch (cause) {
      // What the store could not do is noted already.
      if (!(cause instanceof ServiceError)) throw cause
    }
  }

  #note(failure: ServiceError | undefined): void {
    const now = this.#options.now()
    this.#triedAt = now
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
