import type { FastifyBaseLogger } from 'fastify'
import type { LiveCatalog } from '../catalog/live/live-catalog.js'
import type { Clock } from '../clock.js'
import type { Jobs } from '../control/jobs.js'
import type { DiskSpace } from '../versions/disk-space.js'
import type { FormState } from '../catalog/live/live-forms.js'
import type { FormsOrder, FormsProgress, MakeForms } from '../versions/forms/forms-order.js'
import { bytesOfForms, draftsOf } from '../versions/forms/forms-order.js'
import type { AuditTrail } from './records/audit-trail.js'

interface AutoPackerParts {
  readonly live: LiveCatalog
  readonly makeForms: MakeForms
  /** What forms may take of the disk. */
  readonly space: DiskSpace
  /** Of several servers, one packs at a time. */
  readonly jobs: Jobs
  readonly trail: Pick<AuditTrail, 'record'>
  readonly logger: FastifyBaseLogger
  readonly clock: Clock
  /** Called when a dataset's packing makes progress, succeeds or fails. */
  readonly changed: () => void
  /** Takes changes on the disk, such as new forms. */
  readonly reload: () => Promise<void>
}

interface Job {
  readonly order: FormsOrder
  readonly stop: AbortController
  readonly done: Promise<void>
  progress: FormsProgress | null
}

const reportEveryMs = 5000
const notBegun: FormsProgress = { stage: 'writing', rowsDone: 0, rows: 1 }

/**
 * Makes the forms that served versions lack, of one version at a time, in the background. The files
 * answer until the forms are verified. A job ends early when another version replaces its own,
 * whose forms are made next.
 */
export class AutoPacker {
  readonly #parts: AutoPackerParts
  #job: Job | null = null
  #isClosed = false
  /** By the monotonic clock. */
  #reportedAt = 0

  constructor(parts: AutoPackerParts) {
    this.#parts = parts
  }

  /** Starts the next job, if there is one, and ends a job whose version is no longer served. */
  start(): void {
    const { live } = this.#parts
    if (this.#job && !live.isWanted(this.#job.order)) {
      this.#job.stop.abort(new Error('another version is served now'))
    }
    const order = this.#job || this.#isClosed ? null : live.toPack
    if (!order) return
    const stop = new AbortController()
    const done = this.#packInTurn(order, stop.signal).then((isTried) => {
      this.#job = null
      this.#parts.changed()
      if (isTried) this.start()
    })
    this.#job = { order, stop, done, progress: null }
  }

  /** The states of a dataset's forms, for the operator. */
  statesOf(dataset: string): readonly FormState[] {
    const isRunning = this.#job?.order.dataset === dataset
    const progress = isRunning ? (this.#job?.progress ?? notBegun) : null
    return this.#parts.live.formStates(dataset, progress)
  }

  /** Ends the job; the next server makes what is missing. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#job?.stop.abort(new Error('the service is stopping'))
    await this.#job?.done
  }

  /** False while another server packs: it is tried again in a minute. */
  async #packInTurn(order: FormsOrder, signal: AbortSignal): Promise<boolean> {
    const { jobs, logger } = this.#parts
    try {
      if (!(await jobs.tryTake('packing'))) return false
    } catch (cause) {
      logger.warn({ err: cause }, 'packing waits: the other servers were not asked')
      return false
    }
    try {
      await this.#pack(order, signal)
      return true
    } finally {
      await jobs.release('packing')
    }
  }

  async #pack(order: FormsOrder, signal: AbortSignal): Promise<void> {
    const { live, makeForms, space, trail, logger, reload } = this.#parts
    const { dataset } = order
    const start = this.#parts.clock.monotonicMs()
    try {
      await space.during(await bytesOfForms(order), draftsOf(order.folder), () => {
        logger.info({ dataset }, 'packing')
        return makeForms(order, { signal, report: this.#report })
      })
      await reload()
      if (live.isWanted(order)) throw new Error('the forms are not served')
      const seconds = Math.round((this.#parts.clock.monotonicMs() - start) / 1000)
      const facts = { forms: order.forms.length, seconds }
      logger.info({ dataset, ...facts }, 'packed')
      trail.record('pack.made', dataset, facts)
    } catch (cause) {
      if (!signal.aborted) {
        await live.notPacked(order, cause)
        logger.error({ dataset, err: cause }, 'packing failed, the files answer alone')
        trail.record('pack.failed', dataset, { reason: live.packFailure(dataset) })
      }
    }
  }

  readonly #report = (progress: FormsProgress): void => {
    if (this.#job) this.#job.progress = progress
    if (this.#parts.clock.monotonicMs() - this.#reportedAt < reportEveryMs) return
    this.#reportedAt = this.#parts.clock.monotonicMs()
    this.#parts.changed()
  }
}
