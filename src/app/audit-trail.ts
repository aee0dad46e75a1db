import type { FastifyBaseLogger } from 'fastify'
import { recordAction } from '../control/audit.js'
import type { AuditAction, AuditDetails, AuditedAction } from '../control/audit.js'
import type { ControlStore } from '../control/store/store.js'

interface TrailParts {
  readonly control: ControlStore
  /** Ms since the epoch. */
  readonly now: () => number
  readonly logger: Pick<FastifyBaseLogger, 'warn' | 'error'>
}

const waitingMax = 1000
const retryEveryMs = 10_000

/**
 * Records what a server does outside control.db, such as packing. An action that can't be written,
 * because control.db is locked or broken, waits and is tried again every ten seconds and at a stop;
 * the log says so.
 */
export class AuditTrail {
  readonly #parts: TrailParts
  readonly #timer: NodeJS.Timeout
  #waiting: AuditedAction[] = []
  /** The log says that entries wait. */
  #isReported = false

  /** The timer does not keep the process alive. */
  constructor(parts: TrailParts) {
    this.#parts = parts
    this.#timer = setInterval(() => this.flush(), retryEveryMs).unref()
  }

  /** Records an action with the present time. Never throws. */
  record(action: AuditAction, subject: string, details: AuditDetails = {}): void {
    const { now, logger } = this.#parts
    const done = { action, subject, details, now: now() }
    if (this.#waiting.length >= waitingMax) {
      logger.error({ action, subject, details }, 'not in the audit trail: too many entries wait')
      return
    }
    this.#waiting.push(done)
    this.flush()
  }

  /** Writes what waits, all or nothing. Never throws. */
  flush(): void {
    const { control, logger } = this.#parts
    if (this.#waiting.length === 0) return
    try {
      control.write(() => {
        for (const action of this.#waiting) recordAction(control, action)
      })
      this.#waiting = []
      this.#isReported = false
    } catch (cause) {
      if (!this.#isReported) {
        logger.warn({ err: cause }, 'the audit trail is not written for now; its entries wait')
      }
      this.#isReported = true
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.flush()
  }
}
