import { newestPeriod, periodOf } from '../../control/usage.js'
import { Rounds } from '../../rounds.js'
import type { RoundParts } from './audit-trail.js'

const checkEveryMs = 10_000

/** Time servers correct less than this in one step. */
const stepMsMin = 60_000

/**
 * Logs when the machine's clock is set. Quotas depend on it: a clock that runs ahead opens the
 * quotas of a later month. Also logs rows that are counted in a later month, with the remedy.
 */
export class ClockWatch {
  readonly #parts: RoundParts
  readonly #rounds: Rounds
  /** How far the clock was ahead of the monotonic one at the last check; null before the first. */
  #offsetMs: number | null = null

  constructor(parts: RoundParts) {
    this.#parts = parts
    this.#rounds = new Rounds({
      every: parts.clock.every,
      everyMs: checkEveryMs,
      work: () => this.#check(),
      report: (cause) => {
        parts.logger.warn({ err: cause }, 'the clock was not checked')
      },
    })
  }

  /** Checks now and every ten seconds. */
  start(): Promise<void> {
    return this.#rounds.start()
  }

  close(): Promise<void> {
    return this.#rounds.close()
  }

  /** Compares how far both clocks moved since the last check. */
  async #check(): Promise<void> {
    const { now, monotonicMs } = this.#parts.clock
    const before = this.#offsetMs
    const offsetMs = now() - monotonicMs()
    this.#offsetMs = offsetMs
    if (before !== null) {
      if (Math.abs(offsetMs - before) < stepMsMin) return
      this.#reportStep(offsetMs - before)
    }
    // A store that can't be read now is read after the next step.
    await this.#reportLaterMonth()
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
