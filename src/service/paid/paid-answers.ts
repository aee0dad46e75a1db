import { Cache } from '../../cache.js'
import type { Clock } from '../../clock.js'
import { OneAtATime } from '../../one-at-a-time.js'
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
  /** By tag, while there are any. */
  readonly #paying = new Map<string, { readonly payments: OneAtATime; waiting: number }>()
  readonly #clock: Pick<Clock, 'now'>

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /**
   * Pays, with what `open` opens, only for rows beyond those that were paid. Payments of one tag
   * wait for one another: the same page may be opened twice at once.
   * @throws row_quota_exceeded if no rows are left, and none were paid
   */
  payment({ limits }: Pick<DatasetCaller, 'limits'>, tag: string, open: () => Payment): Payment {
    let opened = this.#rowsOf(tag) === 0 ? open() : null
    let known: number | null = null
    const pay: Payment['pay'] = async (rows, allOrNone, signal) => {
      known ??= this.#rowsOf(tag)
      if (rows <= known) return rows
      if (known > 0 && limits.quota?.remaining === 0) return allOrNone ? 0 : known
      opened ??= open()
      const more = await opened.pay(rows - known, allOrNone, signal)
      const { charged } = opened.cost()
      if (charged > 0) this.#paid.keep(tag, { rows: known + charged, ms: this.#clock.now() })
      return more === 0 && allOrNone ? 0 : known + more
    }
    return {
      cost: () => opened?.cost() ?? { charged: 0, quota: undefined },
      pay: (...asked) => this.#afterOthers(tag, () => pay(...asked)),
    }
  }

  #rowsOf(tag: string): number {
    const known = this.#paid.find(tag)
    return known && this.#clock.now() - known.ms < freeMs ? known.rows : 0
  }

  async #afterOthers(tag: string, work: () => Promise<number>): Promise<number> {
    const queue = this.#paying.get(tag) ?? { payments: new OneAtATime(), waiting: 0 }
    this.#paying.set(tag, queue)
    queue.waiting += 1
    try {
      return await queue.payments.run(work)
    } finally {
      queue.waiting -= 1
      if (queue.waiting === 0) this.#paying.delete(tag)
    }
  }
}
