import type { FastifyBaseLogger } from 'fastify'
import type { ControlStore } from '../../control/store/store.js'
import { newestPeriod, periodOf } from '../../control/usage.js'

const checkEveryMs = 10_000

/** Time servers correct less than this in one step. */
const stepMsMin = 60_000

interface ClockParts {
  readonly control: ControlStore
  /** Milliseconds since 1970, by the clock of the machine, which can be set. */
  readonly now: () => number
  /** Milliseconds of a clock that can't be set. */
  readonly monotonicMs: () => number
  readonly logger: Pick<FastifyBaseLogger, 'warn' | 'error'>
}

/**
 * Logs when the machine's clock is set. Quotas depend on it: a clock that runs ahead opens the
 * quotas of a later month. Also logs rows that are counted in a later month, with the remedy.
 */
export class ClockWatch {
  readonly #parts: ClockParts
  readonly #timer: NodeJS.Timeout
  #offsetMs: number

  /** Checks every ten seconds; the timer does not keep the process alive. */
  constructor(parts: ClockParts) {
    this.#parts = parts
    this.#offsetMs = this.#offset()
    this.#timer = setInterval(() => {
      void this.#safely(this.check())
    }, checkEveryMs).unref()
  }

  /** Checks at a start. */
  start(): Promise<void> {
    return this.#safely(this.#reportLaterMonth())
  }

  /** Compares how far both clocks moved since the last check. */
  async check(): Promise<void> {
    const offsetMs = this.#offset()
    const stepMs = offsetMs - this.#offsetMs
    this.#offsetMs = offsetMs
    if (Math.abs(stepMs) < stepMsMin) return
    this.#reportStep(stepMs)
    await this.#reportLaterMonth()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** A store that can't be read now is checked at the next step or start. */
  async #safely(check: Promise<void>): Promise<void> {
    try {
      await check
    } catch (cause) {
      this.#parts.logger.warn({ err: cause }, 'the clock was not checked')
    }
  }

  #offset(): number {
    return this.#parts.now() - this.#parts.monotonicMs()
  }

  #reportStep(stepMs: number): void {
    const { now, logger } = this.#parts
    const seconds = Math.round(Math.abs(stepMs) / 1000)
    const [before, month] = [periodOf(now() - stepMs), periodOf(now())]
    if (stepMs < 0) {
      logger.warn({ seconds, before, month }, 'the clock was set back')
      return
    }
    const opened = month > before ? `: the quotas of ${month} are open` : ''
    logger.warn(
      { seconds, before, month },
      `the clock was set ahead, or the machine slept${opened}. If it is wrong now, set it right, ` +
        'and then run: das usage --repair',
    )
  }

  async #reportLaterMonth(): Promise<void> {
    const { control, now, logger } = this.#parts
    const month = periodOf(now())
    const newest = await newestPeriod(control)
    if (newest === null || newest <= month) return
    logger.error(
      { newest, month },
      `rows are counted in ${newest}, and by the clock it is ${month}: it ran ahead, or it is ` +
        'behind now. Subscriptions that were charged there stay in that month. Set the clock ' +
        'right, and then run: das usage --repair',
    )
  }
}
