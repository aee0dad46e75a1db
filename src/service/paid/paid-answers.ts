import { Cache } from '../../cache.js'
import type { Clock } from '../../clock.js'
import type { DatasetCaller } from '../caller.js'
import type { PaidMemory, Payment } from '../page.js'

/** How long an answer that was paid is free for the same caller. */
const freeMs = 24 * 3600 * 1000
/** About 100 bytes each. */
const answersMax = 100_000

interface PaidAnswer {
  readonly rows: number
  readonly ms: number
}

/**
 * Remembers which answers were paid, by entity tag: the same question of the same subscription on
 * the same version. It keeps no rows. A restart forgets it: the answer then costs its rows again.
 */
export class PaidAnswers implements PaidMemory {
  readonly #paid = new Cache<PaidAnswer>(answersMax)
  readonly #clock: Pick<Clock, 'now'>

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /**
   * Pays, with what `open` opens, only for rows beyond those that were paid.
   * @throws row_quota_exceeded if no rows are left, and none were paid
   */
  payment({ limits }: Pick<DatasetCaller, 'limits'>, tag: string, open: () => Payment): Payment {
    const known = this.#find(tag)
    if (!known) return this.#remembering(tag, 0, open())
    let opened: Payment | null = null
    return {
      cost: () => opened?.cost() ?? { charged: 0, quota: undefined },
      pay: async (rows, allOrNone, signal) => {
        if (rows <= known.rows) return rows
        if (limits.quota?.remaining === 0) return allOrNone ? 0 : known.rows
        opened ??= this.#remembering(tag, known.rows, open())
        const more = await opened.pay(rows - known.rows, allOrNone, signal)
        return more === 0 && allOrNone ? 0 : known.rows + more
      },
    }
  }

  #find(tag: string): PaidAnswer | null {
    const known = this.#paid.find(tag)
    return known && this.#clock.now() - known.ms < freeMs ? known : null
  }

  #remembering(tag: string, before: number, { pay, cost }: Payment): Payment {
    return {
      cost,
      pay: async (...asked) => {
        const rows = await pay(...asked)
        const { charged } = cost()
        if (charged > 0) this.#paid.keep(tag, { rows: before + charged, ms: this.#clock.now() })
        return rows
      },
    }
  }
}
