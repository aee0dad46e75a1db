import type { Jobs } from '../../control/jobs.js'
import { letterFacts, queueReminders } from '../../control/letters.js'
import type { LetterState } from '../../control/letters.js'
import { Rounds, Seldom } from '../../rounds.js'
import { deliverDue } from './outbox.js'
import type { Delivery, OutboxParts } from './outbox.js'

type Log = (fields: Readonly<Record<string, unknown>>, message: string) => void

interface LetterSenderParts extends OutboxParts {
  /** Called after each attempt. */
  readonly onAttempt?: (end: LetterState) => void
  readonly jobs: Jobs
  readonly logger: { readonly info: Log; readonly warn: Log; readonly error: Log }
}

/** Commands queue letters too, and their readers wait. */
const roundMs = 5000
const remindEveryMs = 60_000
/** Subscribers hear of the end of a subscription so long before it. */
export const remindAheadMs = 7 * 24 * 3_600_000
/** Time for the running attempt at a stop; then it is aborted, and the letter waits. */
const finishMs = 5000

/**
 * Sends the letters of a server: every five seconds all due letters, also those that commands
 * queued. Every minute it queues reminders for subscriptions that end within seven days.
 */
export class LetterSender {
  readonly #parts: LetterSenderParts
  readonly #rounds: Rounds
  readonly #stopping = new AbortController()
  readonly #reminding: Seldom

  constructor(parts: LetterSenderParts) {
    this.#parts = parts
    this.#reminding = new Seldom(remindEveryMs, parts.clock.now)
    this.#rounds = new Rounds({
      every: parts.clock.every,
      everyMs: roundMs,
      work: () => this.#deliver(),
      report: (cause) => {
        parts.logger.error({ err: cause }, 'sending letters failed; the next round tries again')
      },
    })
  }

  /** Starts a round now and every five seconds. */
  start(): void {
    void this.#rounds.start()
  }

  /** Starts a round, or waits for the running one. Never rejects: a fault is logged. */
  round(): Promise<void> {
    return this.#rounds.run()
  }

  /** Sends letters that were just queued: now, or in a round right after the running one. */
  send(): void {
    void this.#rounds.runAgain()
  }

  /** Starts no further letter, and waits for the running attempt, five seconds at most. */
  async close(): Promise<void> {
    const cancel = this.#parts.clock.after(finishMs, () => this.#stopping.abort())
    await this.#rounds.close()
    cancel()
  }

  async #deliver(): Promise<void> {
    if (!(await this.#parts.jobs.tryTake('letters'))) return
    const { store } = this.#parts
    await this.#reminding.run((now) => queueReminders(store, { now, aheadMs: remindAheadMs }))
    const options = { signal: this.#stopping.signal }
    for await (const delivery of deliverDue(this.#parts, options)) {
      this.#report(delivery)
      if (this.#rounds.isClosed) return
    }
  }

  #report({ end, ...letter }: Delivery): void {
    const { logger, onAttempt } = this.#parts
    onAttempt?.(end.state)
    const fields = { letter: letter.letterId, ...letterFacts(letter) }
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
