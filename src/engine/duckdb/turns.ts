import { ServiceError } from '../../errors.js'

export interface TurnsOptions {
  /** How many may run at once. */
  readonly slots: number
  /** How many may wait, over all clients. */
  readonly queueMax: number
  /** How long one may wait. */
  readonly waitMaxMs: number
}

interface Waiter {
  readonly start: () => void
  readonly refuse: (reason: unknown) => void
}

/**
 * A fixed number of places, and a bounded queue that is fair: clients take turns, so one with many
 * requests fills idle places but never makes another wait behind all of them. When the queue is
 * full, the last request of whoever has the most waiting gives way.
 */
export class Turns {
  readonly #options: TurnsOptions
  #running = 0
  #waiting = 0
  /** In order of turn: the client served is put back at the end. */
  readonly #queues = new Map<string, Waiter[]>()

  constructor(options: TurnsOptions) {
    this.#options = options
  }

  /**
   * Runs `work` when a place is free.
   * @throws service_unavailable when the queue is full or the wait too long; the signal's reason
   *   when it aborts the wait
   */
  async run<T>(client: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    if (this.#running < this.#options.slots) this.#running += 1
    else await this.#wait(client, signal)
    try {
      return await work()
    } finally {
      this.#next()
    }
  }

  #wait(client: string, signal: AbortSignal): Promise<void> {
    if (this.#waiting >= this.#options.queueMax) this.#makeRoom(client)
    return new Promise((resolve, reject) => {
      const forget = () => {
        signal.removeEventListener('abort', leave)
        clearTimeout(timer)
      }
      const waiter: Waiter = {
        start: () => {
          forget()
          resolve()
        },
        refuse: (reason) => {
          forget()
          this.#remove(client, waiter)
          reject(reason)
        },
      }
      const leave = () => waiter.refuse(signal.reason)
      const timer = setTimeout(() => waiter.refuse(busy()), this.#options.waitMaxMs)
      signal.addEventListener('abort', leave, { once: true })
      const queue = this.#queues.get(client)
      if (queue) queue.push(waiter)
      else this.#queues.set(client, [waiter])
      this.#waiting += 1
    })
  }

  #makeRoom(client: string): void {
    let longest = client
    for (const [other, queue] of this.#queues) {
      if (queue.length > this.#length(longest)) longest = other
    }
    const last = this.#queues.get(longest)?.at(-1)
    if (this.#length(longest) <= this.#length(client) + 1 || !last) throw busy()
    last.refuse(busy())
  }

  #length(client: string): number {
    return this.#queues.get(client)?.length ?? 0
  }

  #remove(client: string, waiter: Waiter): void {
    const queue = this.#queues.get(client)
    const index = queue?.indexOf(waiter) ?? -1
    if (!queue || index < 0) return
    queue.splice(index, 1)
    if (queue.length === 0) this.#queues.delete(client)
    this.#waiting -= 1
  }

  #next(): void {
    for (const [client, queue] of this.#queues) {
      const waiter = queue.shift()
      this.#queues.delete(client)
      if (queue.length > 0) this.#queues.set(client, queue)
      if (!waiter) continue
      this.#waiting -= 1
      waiter.start()
      return
    }
    this.#running -= 1
  }
}

function busy(): ServiceError {
  const detail = 'Too many queries are waiting. Try again shortly.'
  return new ServiceError('service_unavailable', detail, { retryAfterSeconds: 1 })
}
