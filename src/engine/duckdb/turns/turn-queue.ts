import type { Turn } from './turn.js'

/** A turn that waits for a slot. */
export interface Waiter {
  readonly turn: Turn
  readonly start: () => void
  readonly refuse: (reason: unknown) => void
}

/**
 * The waiting queries, in fair order: clients take turns, so many requests of one client delay
 * another client by one. Turns for which `goesLast` is true come after all others.
 */
export class TurnQueue {
  readonly #goesLast: (turn: Turn) => boolean
  /** In order of turn; a served client moves to the end. */
  readonly #queues = new Map<string, Waiter[]>()
  #length = 0

  constructor(goesLast: (turn: Turn) => boolean) {
    this.#goesLast = goesLast
  }

  get length(): number {
    return this.#length
  }

  add(waiter: Waiter): void {
    const { client } = waiter.turn
    const queue = this.#queues.get(client)
    if (queue) queue.push(waiter)
    else this.#queues.set(client, [waiter])
    this.#length += 1
  }

  /** Does nothing if the waiter is not in the queue. */
  remove(waiter: Waiter): void {
    const { client } = waiter.turn
    const queue = this.#queues.get(client)
    const index = queue?.indexOf(waiter) ?? -1
    if (!queue || index < 0) return
    queue.splice(index, 1)
    if (queue.length === 0) this.#queues.delete(client)
    this.#length -= 1
  }

  /** Removes and returns the first turn that may start, and moves its client to the end. */
  take(mayStart: (turn: Turn) => boolean): Waiter | undefined {
    let late: Waiter | undefined
    const first = this.#find((waiter) => {
      if (!mayStart(waiter.turn)) return false
      if (!this.#goesLast(waiter.turn)) return true
      late ??= waiter
      return false
    })
    const waiter = first ?? late
    if (!waiter) return undefined
    this.remove(waiter)
    const { client } = waiter.turn
    const queue = this.#queues.get(client)
    if (queue) {
      this.#queues.delete(client)
      this.#queues.set(client, queue)
    }
    return waiter
  }

  some(test: (turn: Turn) => boolean): boolean {
    return this.#find(({ turn }) => test(turn)) !== undefined
  }

  /**
   * The last request of the client with the most waiting requests, if it has more than `client`.
   */
  lastOfLongest(client: string): Waiter | undefined {
    let longest = this.#queues.get(client) ?? []
    const least = longest.length + 2
    for (const queue of this.#queues.values()) if (queue.length > longest.length) longest = queue
    return longest.length >= least ? longest.at(-1) : undefined
  }

  /** How many turns for which `competes` is true would start before this one if it joined last. */
  ahead(turn: Turn, competes: (other: Turn) => boolean): number {
    const isLast = this.#goesLast(turn)
    const own = this.#count(turn.client, competes)
    let ahead = own
    for (const [client, queue] of this.#queues) {
      const other = queue.find((each) => competes(each.turn))
      if (client === turn.client || !other) continue
      const isOtherLast = this.#goesLast(other.turn)
      const length = this.#count(client, competes)
      if (isOtherLast === isLast) ahead += Math.min(length, own + 1)
      else if (isLast) ahead += length
    }
    return ahead
  }

  #count(client: string, test: (turn: Turn) => boolean): number {
    return this.#queues.get(client)?.filter(({ turn }) => test(turn)).length ?? 0
  }

  #find(test: (waiter: Waiter) => boolean): Waiter | undefined {
    for (const queue of this.#queues.values()) {
      const found = queue.find(test)
      if (found) return found
    }
    return undefined
  }
}
