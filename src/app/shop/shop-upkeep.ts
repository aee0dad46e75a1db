import type { Jobs } from '../../control/jobs.js'
import type { ControlStore } from '../../control/store/store.js'
import { tidyShop } from '../../shop/tidy-shop.js'

interface UpkeepParts {
  readonly store: ControlStore
  readonly jobs: Jobs
  readonly now: () => number
  readonly logger: { readonly error: (fields: object, message: string) => void }
}

const roundMs = 60_000

/** Tidies the shop at start and every minute: see `tidyShop`. */
export class ShopUpkeep {
  readonly #parts: UpkeepParts
  #timer: NodeJS.Timeout | undefined

  constructor(parts: UpkeepParts) {
    this.#parts = parts
  }

  /** Starts a round now and every minute; the timer does not keep the process alive. */
  async start(): Promise<void> {
    this.#timer ??= setInterval(() => {
      void this.#tidy()
    }, roundMs).unref()
    await this.#tidy()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #tidy(): Promise<void> {
    try {
      if (await this.#parts.jobs.tryTake('orders')) await tidyShop(this.#parts)
    } catch (cause) {
      this.#parts.logger.error({ err: cause }, 'tidying orders failed; the next round tries again')
    }
  }
}
