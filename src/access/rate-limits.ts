import { createHmac, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Catalog } from '../catalog/catalog.js'
import type { Principal } from './principal.js'

/** Requests of one client in the current window of a minute. */
export interface RateStatus {
  readonly limit: number
  readonly remaining: number
  /** Until the window ends. */
  readonly resetSeconds: number
  readonly exceeded: boolean
}

const windowSeconds = 60
const defaultPerMinute = 120
/** Addresses share this many counters, so that no number of them can fill the memory. */
const addressBuckets = 65_536

/**
 * Counts requests a minute, in memory: a subscription's by its id, everyone else's by address. A
 * restart forgets the current minute.
 */
export class RateLimits {
  readonly #limiters = new Map<number, RateLimiterMemory>()
  readonly #salt = randomBytes(16)

  /** Takes one request from the budget of a known caller, or of an address with no valid token. */
  take(principal: Principal | null, address: string, catalog: Catalog): Promise<RateStatus> {
    if (principal?.kind === 'subscriber') {
      return this.#consume(principal.id, planRate(principal, catalog))
    }
    const kind = principal === null ? 'anonymous' : 'demo'
    const limit = principal === null ? defaultPerMinute : (catalog.demo?.ratePerMinute ?? 1)
    return this.#consume(`${kind} ${this.#bucket(address)}`, limit)
  }

  async #consume(key: string, limit: number): Promise<RateStatus> {
    try {
      return statusOf(limit, await this.#limiter(limit).consume(key), false)
    } catch (cause) {
      if (!(cause instanceof RateLimiterRes)) throw cause
      return statusOf(limit, cause, true)
    }
  }

  /** One limiter for each rate that the registry names. */
  #limiter(limit: number): RateLimiterMemory {
    let limiter = this.#limiters.get(limit)
    if (!limiter) {
      limiter = new RateLimiterMemory({ points: limit, duration: windowSeconds })
      this.#limiters.set(limit, limiter)
    }
    return limiter
  }

  /** Salted, so that nobody can choose an address that shares another's counter. */
  #bucket(address: string): number {
    const digest = createHmac('sha256', this.#salt).update(networkOf(address)).digest()
    return digest.readUInt32BE(0) % addressBuckets
  }
}

/** A token with several plans has the highest of their rates. */
export function planRate(principal: Principal & { kind: 'subscriber' }, catalog: Catalog): number {
  const rates = [...principal.grants].flatMap(([dataset, plan]) => {
    const found = catalog.datasets.get(dataset)?.plans.get(plan)
    return found ? [found.ratePerMinute] : []
  })
  return rates.length === 0 ? defaultPerMinute : Math.max(...rates)
}

function statusOf(limit: number, result: RateLimiterRes, exceeded: boolean): RateStatus {
  return {
    limit,
    remaining: Math.max(0, result.remainingPoints),
    resetSeconds: Math.max(1, Math.ceil(result.msBeforeNext / 1000)),
    exceeded,
  }
}

/** One household or server has a whole IPv6 /64: it counts as one address. */
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
