import type { FastifyBaseLogger } from 'fastify'
import type { ControlStore } from '../control/store/store.js'
import { newestPeriod, periodOf } from '../control/usage.js'

const lookEveryMs = 10_000

/** More than what time servers correct at once on a machine that keeps time. */
const stepMsMin = 60_000

interface ClockParts {
  readonly control: ControlStore
  /** Milliseconds since 1970, by the clock of the machine, which can be set. */
  readonly now: () => number
  /** Milliseconds of a clock that nothing sets. */
  readonly monotonicMs: () => number
  readonly logger: Pick<FastifyBaseLogger, 'warn' | 'error'>
}

/**
 * Notices a clock that was set: months are counted by it, so that one which runs ahead opens the
 * quotas of a month to come. Logs each step, and rows that are counted in a month to come, with the
 * remedy.
 */
export class ClockWatch {
  readonly #parts: ClockParts
  readonly #timer: NodeJS.Timeout
  #offsetMs: number

  /** Looks at once, and then every ten seconds, by a timer that keeps no process alive. */
  constructor(parts: ClockParts) {
    this.#parts = parts
    this.#offsetMs = this.#offset()
    this.#reportLaterMonth()
    this.#timer = setInterval(() => this.#lookSafely(), lookEveryMs).unref()
  }

  /** Compares the time that has passed by both clocks since the last look. */
  look(): void {
    const offsetMs = this.#offset()
    const stepMs = offsetMs - this.#offsetMs
    this.#offsetMs = offsetMs
    if (Math.abs(stepMs) < stepMsMin) return
    this.#reportStep(stepMs)
    this.#reportLaterMonth()
  }

  /** Ends the looks. */
  close(): void {
    clearInterval(this.#timer)
  }

  /** What a store that can't be read now has counted, the next step or start says. */
  #lookSafely(): void {
    try {
      this.look()
    } catch (cause) {
      this.#parts.logger.warn({ err: cause }, 'a step of the clock was not examined')
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

  #reportLaterMonth(): void {
    const { control, now, logger } = this.#parts
    const month = periodOf(now())
    const newest = newestPeriod(control)
    if (newest === null || newest <= month) return
    logger.error(
      { newest, month },
      `rows are counted in ${newest}, and by the clock it is ${month}: it ran ahead, or it is behind ` +
        'now. Subscriptions that were charged there stay in that month. Set the clock right, and ' +
        'then run: das usage --repair',
    )
  }
}
