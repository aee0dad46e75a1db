import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../../clock.js'
import { removeConnections } from '../../control/connections/remove-connections.js'
import type { Jobs } from '../../control/jobs.js'
import type { ControlStore } from '../../control/store/store.js'

interface CleanerParts {
  readonly control: ControlStore
  readonly jobs: Jobs
  readonly clock: Clock
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
}

const cleanEveryMs = 60_000

/** Removes what is left of agents' connections, every minute. */
export class ConnectionCleaner {
  readonly #parts: CleanerParts
  readonly #stop: () => void

  constructor(parts: CleanerParts) {
    this.#parts = parts
    this.#stop = parts.clock.every(cleanEveryMs, () => {
      void this.clean()
    })
  }

  /** Removes up to 1000 rows of each kind. Never throws: the next round tries again. */
  async clean(): Promise<void> {
    const { control, jobs, clock, logger } = this.#parts
    try {
      if (!(await jobs.tryTake('connections'))) return
      await removeConnections(control, clock.now())
    } catch (cause) {
      logger.warn({ err: cause }, "what is left of agents' connections is not removed for now")
    }
  }

  close(): void {
    this.#stop()
  }
}
