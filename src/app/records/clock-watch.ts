import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../../clock.js'
import type { ControlStore } from '../../control/store/store.js'
import { newestPeriod, periodOf } from '../../control/usage.js'

const checkEveryMs = 10_000

/** Time servers correct less than this in one step. */
const stepMsMin = 60_000

interface ClockParts {
  readonly control: ControlStore
  readonly clock: Clock
  readonly logger: Pick<FastifyBaseLogger, 'warn' | 'error'>
}

/**
 * Logs when the machine's clock is set. Quotas depend on it: a clock that runs ahead opens the
 * quotas of a later month. Also logs rows that are counted in a later month, with the remedy.
 */
export class ClockWatch {
  readonly #parts: ClockParts
  readonly #stop: () => void
  #offsetMs: number

  /** Checks every ten seconds. */
  constructor(parts: ClockParts) {
    this.#parts = parts
    this.#offsetMs = this.#offset()
    this.#stop = parts.clock.every(checkEveryMs, () => {
      void this.#safely(this.check())
    })
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
    this.#stop()
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
    const { now, monotonicMs } = this.#parts.clock
    return now() - monotonicMs()
  }

  #reportStep(stepMs: number): void {
    const { clock, logger } = this.#parts
    const { now } = clock
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
    const { control, clock, logger } = this.#parts
    const month = periodOf(clock.now())
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
