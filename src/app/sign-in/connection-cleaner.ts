import type { FastifyBaseLogger } from 'fastify'
import { removeConnections } from '../../control/connections/remove-connections.js'
import type { Jobs } from '../../control/jobs.js'
import type { ControlStore } from '../../control/store/store.js'

interface CleanerParts {
  readonly control: ControlStore
  readonly jobs: Jobs
  /** Ms since the epoch. */
  readonly now: () => number
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
}

const cleanEveryMs = 60_000

/** Removes what is left of agents' connections, every minute. */
export class ConnectionCleaner {
  readonly #parts: CleanerParts
  readonly #timer: NodeJS.Timeout

  /** The timer does not keep the process alive. */
  constructor(parts: CleanerParts) {
    this.#parts = parts
    this.#timer = setInterval(() => {
      void this.clean()
    }, cleanEveryMs).unref()
  }

  /** Removes up to 1000 rows of each kind. Never throws: the next round tries again. */
  async clean(): Promise<void> {
    const { control, jobs, now, logger } = this.#parts
    try {
      if (!(await jobs.tryTake('connections'))) return
      await removeConnections(control, now())
    } catch (cause) {
      logger.warn({ err: cause }, "what is left of agents' connections is not removed for now")
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
