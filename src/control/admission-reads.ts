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
 * connection for charges is asked each time. So a revocation takes effect with the next request.
 */
export function keptReads(store: ControlStore, charges: ChargeStore): AdmissionReads {
  const { token, usage } = readsOf(store)
  const tokens = new KeptReads<TokenRecord>(() => charges.commitsOfOthers())
  const usages = new KeptReads<Usage>(() => `${charges.commitsOfOthers()} ${charges.batches}`)
  return {
    token: (hash) => tokens.get(Buffer.from(hash).toString('latin1'), () => token(hash)),
    usage: (subscriptionId, period) =>
      usages.get(`${subscriptionId} ${period}`, () => usage(subscriptionId, period)),
  }
}

/** What was read of one state of the file. */
class KeptReads<T> {
  readonly #state: () => string | number
  #known: string | number = ''
  #values = new Cache<T>(keptMax)

  /** `state` tells the states of the file apart. */
  constructor(state: () => string | number) {
    this.#state = state
  }

  async get<Found extends T | undefined>(
    key: string,
    read: () => Promise<Found>,
  ): Promise<T | Found> {
    const state = this.#state()
    if (state !== this.#known) {
      this.#known = state
      this.#values = new Cache(keptMax)
    }
    const kept = this.#values.find(key)
    if (kept !== undefined) return kept
    const found = await read()
    // What was written meanwhile may be in it or not. A state never comes back.
    if (found !== undefined && this.#state() === state) this.#values.keep(key, found)
    return found
  }
}
