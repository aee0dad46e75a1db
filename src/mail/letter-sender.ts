import { queueReminders } from '../control/letters.js'
import { deliverDue } from './outbox.js'
import type { Delivery, OutboxParts } from './outbox.js'

type Say = (facts: Readonly<Record<string, unknown>>, message: string) => void

interface PostmanParts extends OutboxParts {
  readonly logger: { readonly info: Say; readonly warn: Say; readonly error: Say }
}

const roundMs = 60_000
const remindAheadMs = 7 * 24 * 3_600_000
/** For the letter under way at a stop; then its attempt is ended, and it waits on. */
const finishMs = 5000

/**
 * The server's own deliverer: every minute it queues the reminders of subscriptions that end
 * within seven days, and sends all that is due. Rounds never overlap.
 */
export class LetterSender {
  readonly #parts: PostmanParts
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #round: Promise<void> = Promise.resolve()
  #isBusy = false
  #isClosed = false

  constructor(parts: PostmanParts) {
    this.#parts = parts
  }

  /** Begins with a round; a timer that keeps no process alive calls the next ones. */
  start(): void {
    if (this.#isClosed || this.#timer !== undefined) return
    this.#timer = setInterval(() => {
      void this.round()
    }, roundMs).unref()
    void this.round()
  }

  /** One round, or the end of the one under way. Never throws: a fault is logged. */
  round(): Promise<void> {
    if (!this.#isBusy && !this.#isClosed) {
      this.#isBusy = true
      this.#round = this.#deliver().finally(() => {
        this.#isBusy = false
      })
    }
    return this.#round
  }

  /** Begins no further letter, and waits for the one under way, five seconds at most. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    const limit = setTimeout(() => this.#stopping.abort(), finishMs)
    await this.#round
    clearTimeout(limit)
  }

  async #deliver(): Promise<void> {
    const { store, now, logger } = this.#parts
    try {
      queueReminders(store, { now: now(), aheadMs: remindAheadMs })
      const options = { signal: this.#stopping.signal }
      for await (const delivery of deliverDue(this.#parts, options)) {
        this.#report(delivery)
        if (this.#isClosed) return
      }
    } catch (cause) {
      logger.error({ err: cause }, 'mail: a round broke off')
    }
  }

  #report({ letterId, kind, subscriptionId, end }: Delivery): void {
    const { logger } = this.#parts
    const facts = { letter: letterId, kind, subscription: subscriptionId }
    switch (end.state) {
      case 'sent':
        logger.info(facts, 'letter sent')
        break
      case 'dropped':
        logger.info({ ...facts, reason: end.reason }, 'letter dropped: no longer true')
        break
      case 'failed':
        logger.error({ ...facts, reason: end.reason }, 'letter given up')
        break
      case 'waiting': {
        const nextAttempt = new Date(end.nextAttemptAt).toISOString()
        logger.warn({ ...facts, reason: end.reason, nextAttempt }, 'letter not sent yet')
      }
    }
  }
}
