import type { Clock } from '../clock.js'
import { isLocked } from '../control/store/failures.js'
import type { Charge, ChargeResult } from '../control/usage.js'
import { ServiceError, unavailable } from '../errors.js'

/** How long a charge waits for another process's lock; after that its rows are not sent. */
const lockWaitMs = 5000
const retryPauseMs = 150

/** The most charges that wait for a lock or the disk; each keeps a page of rows in memory. */
const waitingMax = 256

/** Charges for rows. */
export interface Charges {
  /**
   * Resolves when the charge is on disk. If it rejects, the caller must send no rows, and nothing
   * is charged unless the disk failed halfway. If the signal aborts before the write, the charge is
   * dropped and rejects with the signal's reason.
   * @throws service_unavailable
   */
  readonly charge: (charge: Charge, signal: AbortSignal) => Promise<ChargeResult>
}

/** Where charges are stored. */
export interface DurableCharges {
  /** Stores a batch, all or none of it. @throws service_unavailable */
  readonly chargeAll: (charges: readonly Charge[]) => Promise<readonly ChargeResult[]>
  /** Resolves when what was stored survives a power cut. @throws service_unavailable */
  readonly synced: () => Promise<void>
  readonly close: () => Promise<void>
}

interface Waiting {
  readonly charge: Charge
  readonly signal: AbortSignal
  readonly waitsUntil: number
  readonly resolve: (result: ChargeResult) => void
  readonly reject: (cause: unknown) => void
}

/**
 * Group commit: charges that arrive in one turn of the event loop share one transaction, in order
 * of arrival. Transactions that end while the disk is busy share one sync. A failure fails all of
 * them, so no rows are sent unpaid. If another process holds the lock, the queue retries them,
 * together with newer charges, until each charge has waited for the full time.
 */
export class ChargeQueue implements Charges {
  readonly #store: DurableCharges
  readonly #clock: Clock
  #waiting: Waiting[] = []
  /** Taken, but not yet on disk. */
  #unsynced = 0
  /** Settles when all batches that were taken have ended. */
  #flushes: Promise<void> = Promise.resolve()
  #cancelRetry: (() => void) | undefined
  #isCharging = false
  #isClosed = false

  constructor(store: DurableCharges, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  readonly #write = (): void => {
    const ended = Promise.allSettled([this.#flushes, this.#flush()])
    // Without their results, which would hold those of every batch before.
    this.#flushes = ended.then(() => undefined)
  }

  charge(charge: Charge, signal: AbortSignal): Promise<ChargeResult> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.length + this.#unsynced
      if (this.#isClosed || waiting >= waitingMax) return reject(tooMany())
      if (this.#waiting.length === 0) setImmediate(this.#write)
      const waitsUntil = this.#clock.monotonicMs() + lockWaitMs
      this.#waiting.push({ charge, signal, waitsUntil, resolve, reject })
    })
  }

  /** Writes or fails the waiting charges, waits for the disk, and closes the store. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRetry?.()
    while (this.#waiting.length + this.#unsynced > 0) {
      this.#write()
      await this.#flushes
    }
    await Promise.allSettled([this.#store.synced()])
    await this.#store.close()
  }

  /** One batch at a time: who comes meanwhile waits behind it. */
  async #flush(): Promise<void> {
    if (this.#isCharging) return
    const batch = this.#takeWanted()
    if (batch.length === 0) return
    this.#unsynced += batch.length
    const results = await this.#charge(batch).finally(() => {
      this.#unsynced -= batch.length
    })
    if (results === undefined) return
    for (const [index, { resolve, reject }] of batch.entries()) {
      const result = results[index]
      if (result) resolve(result)
      else reject(new ServiceError('internal_error', 'The charge was not recorded.'))
    }
  }

  /** Undefined if the charges failed, or wait for another attempt. */
  async #charge(batch: readonly Waiting[]): Promise<readonly ChargeResult[] | undefined> {
    let results: readonly ChargeResult[]
    this.#isCharging = true
    try {
      results = await this.#store.chargeAll(batch.map(({ charge }) => charge))
    } catch (cause) {
      this.#fail(batch, cause)
      return undefined
    } finally {
      this.#isCharging = false
    }
    if (this.#waiting.length > 0) setImmediate(this.#write)
    try {
      await this.#store.synced()
      return results
    } catch (cause) {
      for (const { reject } of batch) reject(cause)
      return undefined
    }
  }

  /** The waiting charges, without those of disconnected clients, which are not charged. */
  #takeWanted(): readonly Waiting[] {
    const batch = this.#waiting
    this.#waiting = []
    for (const { signal, reject } of batch) if (signal.aborted) reject(signal.reason)
    return batch.filter(({ signal }) => !signal.aborted)
  }

  #fail(batch: readonly Waiting[], cause: unknown): void {
    const now = this.#clock.monotonicMs()
    const canWait = isLocked(cause) && !this.#isClosed
    const again = canWait ? batch.filter(({ waitsUntil }) => now < waitsUntil) : []
    for (const each of batch) if (!again.includes(each)) each.reject(cause)
    this.#waiting = [...again, ...this.#waiting]
    if (this.#waiting.length === 0) return
    this.#cancelRetry = this.#clock.after(retryPauseMs, this.#write)
  }
}

function tooMany(): ServiceError {
  return unavailable('Too many requests wait for their rows to be counted. Try again shortly.', 5)
}
