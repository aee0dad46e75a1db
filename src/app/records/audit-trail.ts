import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../../clock.js'
import { recordAction } from '../../control/audit.js'
import type { AuditAction, AuditDetails, AuditedAction } from '../../control/audit.js'
import type { ControlStore } from '../../control/store/store.js'
import { Rounds } from '../../rounds.js'

/** What works over the control store by itself, beside requests. */
interface RoundParts {
  readonly control: ControlStore
  readonly clock: Clock
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
  readonly #parts: RoundParts
  readonly #rounds: Rounds
  #waiting: AuditedAction[] = []
  /** The log says that entries wait. */
  #isReported = false

  constructor(parts: RoundParts) {
    this.#parts = parts
    this.#rounds = new Rounds({
      every: parts.clock.every,
      everyMs: retryEveryMs,
      work: () => this.#write(),
      report: (cause) => {
        this.#reportOnce(cause)
      },
    })
  }

  /** Tries again every ten seconds. */
  start(): void {
    void this.#rounds.start()
  }

  /** Records an action with the present time. Never throws. */
  record(action: AuditAction, subject: string, details: AuditDetails = {}): void {
    this.add([{ action, subject, details, now: this.#parts.clock.now() }])
  }

  /** Records actions. Never throws. */
  add(actions: readonly AuditedAction[]): void {
    for (const { action, subject, details = {}, now } of actions) {
      if (this.#waiting.length < waitingMax) this.#waiting.push({ action, subject, details, now })
      else {
        const { logger } = this.#parts
        logger.error({ action, subject, details }, 'not in the audit trail: too many entries wait')
      }
    }
    void this.flush()
  }

  /** Writes what waits, all or nothing; what is recorded meanwhile, after it. Never rejects. */
  flush(): Promise<void> {
    return this.#rounds.runAgain()
  }

  async close(): Promise<void> {
    await this.flush()
    await this.#rounds.close()
  }

  async #write(): Promise<void> {
    const actions = [...this.#waiting]
    if (actions.length === 0) return
    await this.#parts.control.write(async (tx) => {
      for (const action of actions) await recordAction(tx, action)
    })
    this.#waiting = this.#waiting.slice(actions.length)
    this.#isReported = false
  }

  #reportOnce(cause: unknown): void {
    if (!this.#isReported) {
      const text = 'the audit trail is not written for now; its entries wait'
      this.#parts.logger.warn({ err: cause }, text)
    }
    this.#isReported = true
  }
}
