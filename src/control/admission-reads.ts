import { Cache } from '../cache.js'
import type { ChargeStore } from './charge-store.js'
import type { ControlStore } from './store/store.js'
import { findToken } from './tokens/tokens.js'
import type { TokenRecord } from './tokens/tokens.js'
import { readUsage } from './usage.js'
import type { Usage } from './usage.js'

/** What is read of the store to admit a request. Rejects with service_unavailable. */
export interface AdmissionReads {
  /** As `findToken` returns it. */
  readonly token: (hash: Uint8Array) => Promise<TokenRecord | undefined>
  /** As `readUsage` returns it. */
  readonly usage: (subscriptionId: string, period: string) => Promise<Usage>
}

/** Of tokens, and of subscriptions; a hundred bytes each, and as many again for each grant. */
const keptMax = 10_000

/** Reads the store for each request. */
export function readsOf(store: ControlStore): AdmissionReads {
  return {
    token: (hash) => findToken(store, hash),
    usage: (subscriptionId, period) => readUsage(store, subscriptionId, period),
  }
}

/**
 * Reads control.db again only after something was written to it, by this process or another: the
 * connection for charges is asked each time. So a revocation takes effect with the next request. A
 * batch of charges says itself what it changed.
 */
export function keptReads(store: ControlStore, charges: ChargeStore): AdmissionReads {
  const { token, usage } = readsOf(store)
  const others = () => charges.commitsOfOthers()
  const tokens = new KeptReads<TokenRecord>(others)
  const usages = new KeptReads<Usage>(others)
  charges.watchCharges((charged) => {
    const { batches } = charges
    const [asked = ''] = [...charged.values()].map((each) => each.asked)
    if ([...charged.values()].some((each) => each.asked !== asked)) return
    const changed = [...charged].map(([id, each]) => [id, each.usage] as const)
    usages.follow(`${batches} ${asked}`, `${batches + 1} ${asked}`, changed)
  })
  return {
    token: (hash) =>
      tokens.get(
        Buffer.from(hash).toString('latin1'),
        () => '',
        () => token(hash),
      ),
    usage: (subscriptionId, period) =>
      usages.get(
        subscriptionId,
        () => `${charges.batches} ${period}`,
        () => usage(subscriptionId, period),
      ),
  }
}

/** What was read of one state of the file. */
class KeptReads<T> {
  readonly #others: () => number
  #known: { readonly others: number; readonly own: string } | null = null
  #values = new Cache<T>(keptMax)

  /** `others` tells the states of the file apart that others left. */
  constructor(others: () => number) {
    this.#others = others
  }

  /** `own` tells apart the states that this process's charges left, and what was asked for. */
  async get<Found extends T | undefined>(
    key: string,
    own: () => string,
    read: () => Promise<Found>,
  ): Promise<T | Found> {
    const [others, mine] = [this.#others(), own()]
    if (others !== this.#known?.others || mine !== this.#known.own) {
      this.#known = { others, own: mine }
      this.#values = new Cache(keptMax)
    }
    const state = this.#known
    const kept = this.#values.find(key)
    if (kept !== undefined) return kept
    const found = await read()
    // What was written meanwhile may be in it or not. A state never comes back.
    const isSame = this.#known === state && this.#others() === others && own() === mine
    if (found !== undefined && isSame) this.#values.keep(key, found)
    return found
  }

  /** Goes on to the next own state, which differs in these values; others' are checked later. */
  follow(from: string, to: string, changed: readonly (readonly [key: string, value: T])[]): void {
    if (this.#known?.own !== from) return
    this.#known = { ...this.#known, own: to }
    for (const [key, value] of changed) this.#values.keep(key, value)
  }
}
