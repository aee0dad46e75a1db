import type { Clock } from '../../clock.js'
import type { Jobs } from '../../control/jobs.js'
import type { ControlStore } from '../../control/store/store.js'
import { tidyShop } from '../../sales/orders/tidy-shop.js'

interface UpkeepParts {
  readonly store: ControlStore
  readonly jobs: Jobs
  readonly clock: Clock
  readonly logger: { readonly error: (fields: object, message: string) => void }
}

const roundMs = 60_000

/** Tidies the shop at start and every minute: see `tidyShop`. */
export class ShopUpkeep {
  readonly #parts: UpkeepParts
  #stop: (() => void) | undefined

  constructor(parts: UpkeepParts) {
    this.#parts = parts
  }

  /** Starts a round now and every minute. */
  async start(): Promise<void> {
    this.#stop ??= this.#parts.clock.every(roundMs, () => {
      void this.#tidy()
    })
    await this.#tidy()
  }

  close(): void {
    this.#stop?.()
  }

  async #tidy(): Promise<void> {
    try {
      const { store, jobs, clock } = this.#parts
      if (await jobs.tryTake('orders')) await tidyShop({ store, now: clock.now })
    } catch (cause) {
      this.#parts.logger.error({ err: cause }, 'tidying orders failed; the next round tries again')
    }
  }
}
