import { createHmac, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import type { Catalog } from '../catalog.js'
import { ServiceError } from '../errors.js'
import type { Principal, Subscriber } from './principal.js'

/** Requests of one client in the current one-minute window. */
export interface RateStatus {
  readonly limit: number
  /** Includes refused requests. */
  readonly requests: number
  /** Free requests have a separate budget. */
  readonly isFree: boolean
  readonly remaining: number
  /** Until the window ends. */
  readonly resetSeconds: number
  readonly exceeded: boolean
}

interface Window {
  readonly endsMs: number
  requests: number
}

const windowMs = 60_000
const defaultPerMinute = 120
/** People and agents need far fewer lists of tools, pages and documents. */
const freePerMinute = 600
/** All addresses share this many counters, so memory is bounded. */
const addressBuckets = 65_536

/**
 * Counts requests a minute, in memory: by id for a subscription, by address for other clients. Free
 * requests have a separate count. A window begins with its first request. A restart clears the
 * counts.
 */
export class RateLimits {
  readonly #monotonicMs: () => number
  /** All windows have the same length, so they end in the order of insertion. */
  readonly #windows = new Map<string, Window>()
  readonly #salt = randomBytes(16)

  /** `monotonicMs` never goes back, even if the machine's clock does. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
  }

  /** The number of windows: one or two for each client of the last minute. */
  get size(): number {
    return this.#windows.size
  }

  /**
   * Takes requests, or none, from the budget of a known caller; always takes one from an address
   * without a valid token.
   */
  take(
    principal: Principal | undefined,
    address: string,
    catalog: Catalog,
    requests: 0 | 1,
  ): RateStatus {
    if (!principal) return this.#count(`anonymous ${this.#bucket(address)}`, defaultPerMinute, 1)
    const [key, limit] = this.#budget(principal, address, catalog)
    return this.#count(key, limit, requests)
  }

  /** Takes one free request from a subscription or an address. */
  takeFree(principal: Principal | undefined, address: string): RateStatus {
    return this.#count(this.#freeKey(principal, address), freePerMinute, 1, true)
  }

  /**
   * Takes no request. Reports exceeded if a client has sent as many requests, including refused
   * ones, as both its budgets hold: the next request can be refused unread.
   */
  overall(principal: Principal, address: string, catalog: Catalog): RateStatus {
    const [key, limit] = this.#budget(principal, address, catalog)
    const rate = this.#count(key, limit, 0)
    const free = this.#count(this.#freeKey(principal, address), freePerMinute, 0, true)
    const exceeded = rate.requests + free.requests >= rate.limit + free.limit
    return { ...(free.remaining === 0 ? free : rate), exceeded }
  }

  #budget(principal: Principal, address: string, catalog: Catalog): [key: string, limit: number] {
    if (principal.kind === 'subscriber') return [principal.id, planRate(principal, catalog)]
    return [`demo ${this.#bucket(address)}`, catalog.demo?.ratePerMinute ?? defaultPerMinute]
  }

  #freeKey(principal: Principal | undefined, address: string): string {
    return `free ${principal?.kind === 'subscriber' ? principal.id : this.#bucket(address)}`
  }

  #count(key: string, limit: number, requests: 0 | 1, isFree = false): RateStatus {
    // Whole milliseconds avoid rounding errors: a new window is never longer than 60,000 ms.
    const nowMs = Math.floor(this.#monotonicMs())
    this.#forgetEnded(nowMs)
    const window = this.#windows.get(key) ?? { endsMs: nowMs + windowMs, requests: 0 }
    window.requests += requests
    if (requests > 0) this.#windows.set(key, window)
    return {
      limit,
      requests: window.requests,
      isFree,
      remaining: Math.max(0, limit - window.requests),
      resetSeconds: Math.ceil((window.endsMs - nowMs) / 1000),
      exceeded: requests > 0 && window.requests > limit,
    }
  }

  #forgetEnded(nowMs: number): void {
    for (const [key, { endsMs }] of this.#windows) {
      if (endsMs > nowMs) return
      this.#windows.delete(key)
    }
  }

  /** The hash is salted: a client can't choose an address that shares another client's counter. */
  #bucket(address: string): number {
    const digest = createHmac('sha256', this.#salt).update(networkOf(address)).digest()
    return digest.readUInt32BE(0) % addressBuckets
  }
}

/** @throws rate_limit_exceeded */
export function requireRate(rate: RateStatus): void {
  if (!rate.exceeded) return
  const what = rate.isFree ? 'free requests' : 'requests'
  throw new ServiceError(
    'rate_limit_exceeded',
    `Only ${rate.limit} ${what} a minute are allowed. Wait ${rate.resetSeconds} s.`,
    { retryAfterSeconds: rate.resetSeconds },
  )
}

/** Requests a minute; a token with several plans gets the highest of their rates. */
function planRate(principal: Subscriber, catalog: Catalog): number {
  const rates = [...principal.grants].flatMap(([dataset, plan]) => {
    const found = catalog.datasets.get(dataset)?.plans.get(plan)
    return found ? [found.ratePerMinute] : []
  })
  return rates.length === 0 ? defaultPerMinute : Math.max(...rates)
}

/** An IPv6 /64 counts as one address: one household or server has a whole /64. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (isIP(address) !== 6) return address
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - front.length - back.length
  const groups = [...front, ...Array<string>(Math.max(0, zeros)).fill('0'), ...back]
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, '').toLowerCase())
    .join(':')
}
