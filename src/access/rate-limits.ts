import { isIP } from 'node:net'
import type { Catalog } from '../catalog.js'
import type { RateWindow, RateWindows } from '../control/rate-windows.js'
import { ServiceError } from '../errors.js'
import type { Random } from '../random.js'
import { signatureOf } from '../signature.js'
import { MemoryWindows } from './memory-windows.js'
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

const defaultPerMinute = 120
/** People and agents need far fewer lists of tools, pages and documents. */
const freePerMinute = 600
/** All addresses share this many counters, so memory is bounded. */
const addressBuckets = 65_536

/**
 * Limits requests a minute: by id for a subscription, by address for other clients. Free requests
 * have a separate count.
 */
export class RateLimits {
  readonly #windows: RateWindows
  readonly #visitors: MemoryWindows
  readonly #salt: Uint8Array

  /**
   * Servers that share `windows` need the same `salt` of addresses. Each counts `visitors`, the
   * free requests of addresses, by itself: pages are served without a database.
   */
  constructor(windows: RateWindows, visitors: MemoryWindows, salt: Uint8Array) {
    this.#windows = windows
    this.#visitors = visitors
    this.#salt = salt
  }

  /** Limits of one server alone; `monotonicMs` never goes back. */
  static inMemory(monotonicMs: () => number, random: Random): RateLimits {
    const windows = new MemoryWindows(monotonicMs)
    return new RateLimits(windows, windows, random.bytes(16))
  }

  /**
   * Takes requests, or none, from the budget of a known caller; always takes one from an address
   * without a valid token.
   */
  async take(
    principal: Principal | undefined,
    address: string,
    catalog: Catalog,
    requests: 0 | 1,
  ): Promise<RateStatus> {
    if (!principal) {
      return await this.#count(`anonymous ${this.#bucket(address)}`, defaultPerMinute, 1)
    }
    const [key, limit] = this.#budget(principal, address, catalog)
    return await this.#count(key, limit, requests)
  }

  /** Takes one free request from an address without a token. */
  takeVisit(address: string): RateStatus {
    const window = this.#visitors.addNow(`free ${this.#bucket(address)}`, 1)
    return statusOf(window, freePerMinute, { isTaken: true, isFree: true })
  }

  /** Takes one free request from a subscription, or from the address of a demo. */
  takeFree(principal: Principal, address: string): Promise<RateStatus> {
    return this.#countFree(principal, address, 1)
  }

  /**
   * Takes no request. Reports exceeded if a client has sent as many requests, including refused
   * ones, as both its budgets hold: the next request can be refused unread.
   */
  async overall(principal: Principal, address: string, catalog: Catalog): Promise<RateStatus> {
    const [key, limit] = this.#budget(principal, address, catalog)
    const rate = await this.#count(key, limit, 0)
    const free = await this.#countFree(principal, address, 0)
    const exceeded = rate.requests + free.requests >= rate.limit + free.limit
    return { ...(free.remaining === 0 ? free : rate), exceeded }
  }

  #budget(principal: Principal, address: string, catalog: Catalog): [key: string, limit: number] {
    if (principal.kind === 'subscriber') return [principal.id, planRate(principal, catalog)]
    // Many people's agents share the few addresses of one vendor.
    const client = principal.connectionId ?? this.#bucket(address)
    return [`demo ${client}`, catalog.demo?.ratePerMinute ?? defaultPerMinute]
  }

  /** The demo of an address shares the free requests of its pages. */
  async #countFree(principal: Principal, address: string, requests: 0 | 1): Promise<RateStatus> {
    const client = principal.kind === 'subscriber' ? principal.id : principal.connectionId
    const window =
      client === undefined
        ? this.#visitors.addNow(`free ${this.#bucket(address)}`, requests)
        : await this.#windows.add(`free ${client}`, requests)
    return statusOf(window, freePerMinute, { isTaken: requests > 0, isFree: true })
  }

  async #count(key: string, limit: number, requests: 0 | 1): Promise<RateStatus> {
    const window = await this.#windows.add(key, requests)
    return statusOf(window, limit, { isTaken: requests > 0, isFree: false })
  }

  /** The hash is salted: a client can't choose an address that shares another client's counter. */
  #bucket(address: string): number {
    return signatureOf(this.#salt, networkOf(address)).readUInt32BE(0) % addressBuckets
  }
}

function statusOf(
  { requests, endsInMs }: RateWindow,
  limit: number,
  { isTaken, isFree }: { readonly isTaken: boolean; readonly isFree: boolean },
): RateStatus {
  return {
    limit,
    requests,
    isFree,
    remaining: Math.max(0, limit - requests),
    resetSeconds: Math.ceil(endsInMs / 1000),
    exceeded: isTaken && requests > limit,
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
