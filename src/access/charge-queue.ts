import { ServiceError } from '../errors.js'
import { chargeAll } from '../control/usage.js'
import type { Charge, ChargeResult } from '../control/usage.js'
import type { ControlStore } from '../control/store.js'

interface Waiting {
  readonly charge: Charge
  readonly resolve: (result: ChargeResult) => void
  readonly reject: (cause: unknown) => void
}

/**
 * Group commit: the charges that arrive in one turn of the event loop are written in one durable
 * transaction, one fsync for all. A failed write fails each of them: nothing is sent unpaid.
 */
export class ChargeQueue {
  readonly #control: ControlStore
  #waiting: Waiting[] = []

  constructor(control: ControlStore) {
    this.#control = control
  }

  /** Resolves when the charge is on disk. */
  charge(charge: Charge): Promise<ChargeResult> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#flush())
      this.#waiting.push({ charge, resolve, reject })
    })
  }

  #flush(): void {
    const batch = this.#waiting
    this.#waiting = []
    try {
      const results = chargeAll(
        this.#control,
        batch.map(({ charge }) => charge),
      )
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index]
        if (result) resolve(result)
        else reject(new ServiceError('internal_error', 'The charge was not recorded.'))
      }
    } catch (cause) {
      for (const { reject } of batch) reject(cause)
    }
  }
}
