import { queueReminders } from '../control/letters.js'
import type { LetterState } from '../control/letters.js'
import { deliverDue } from './outbox.js'
import type { Delivery, OutboxParts } from './outbox.js'

type Log = (fields: Readonly<Record<string, unknown>>, message: string) => void

interface LetterSenderParts extends OutboxParts {
  /** Called after each attempt. */
  readonly onAttempt?: (end: LetterState) => void
  readonly logger: { readonly info: Log; readonly warn: Log; readonly error: Log }
}

const roundMs = 60_000
const remindAheadMs = 7 * 24 * 3_600_000
/** Time for the running attempt at a stop; then it is aborted, and the letter waits. */
const finishMs = 5000

/**
 * Sends the letters of a server: every minute it queues reminders for subscriptions that end within
 * seven days, and sends all due letters. Rounds never overlap.
 */
export class LetterSender {
  readonly #parts: LetterSenderParts
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #round: Promise<void> = Promise.resolve()
  #isBusy = false
  #isClosed = false

  constructor(parts: LetterSenderParts) {
    this.#parts = parts
  }

  /** Starts a round now and every minute; the timer does not keep the process alive. */
  start(): void {
    if (this.#isClosed || this.#timer !== undefined) return
    this.#timer = setInterval(() => {
      void this.round()
    }, roundMs).unref()
    void this.round()
  }

  /** Starts a round, or returns the running one. Never throws: a fault is logged. */
  round(): Promise<void> {
    if (!this.#isBusy && !this.#isClosed) {
      this.#isBusy = true
      this.#round = this.#deliver().finally(() => {
        this.#isBusy = false
      })
    }
    return this.#round
  }

  /** Starts no further letter, and waits for the running attempt, five seconds at most. */
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
      logger.error({ err: cause }, 'sending letters failed; the next round tries again')
    }
  }

  #report({ letterId, kind, subscriptionId, end }: Delivery): void {
    const { logger, onAttempt } = this.#parts
    onAttempt?.(end.state)
    const fields = { letter: letterId, kind, subscription: subscriptionId }
    switch (end.state) {
      case 'sent':
        logger.info(fields, 'letter sent')
        break
      case 'dropped':
        logger.info({ ...fields, reason: end.reason }, 'letter dropped: no longer true')
        break
      case 'failed':
        logger.error({ ...fields, reason: end.reason }, 'letter given up')
        break
      case 'waiting': {
        const nextAttempt = new Date(end.nextAttemptAt).toISOString()
        logger.warn({ ...fields, reason: end.reason, nextAttempt }, 'letter not sent yet')
      }
    }
  }
}
