import type { FastifyBaseLogger } from 'fastify'
import type { LiveCatalog } from '../catalog/live/live-catalog.js'
import type { Clock } from '../clock.js'
import type { Jobs } from '../control/jobs.js'
import type { DiskSpace } from '../versions/disk-space.js'
import { draftOf } from '../versions/packing/packer.js'
import type { PackFiles, PackOrder, PackProgress } from '../versions/packing/packer.js'
import type { AuditTrail } from './records/audit-trail.js'

interface AutoPackerParts {
  readonly live: LiveCatalog
  readonly packFiles: PackFiles
  /** What packed copies may take of the disk. */
  readonly space: DiskSpace
  /** Of several servers, one packs at a time. */
  readonly jobs: Jobs
  readonly trail: Pick<AuditTrail, 'record'>
  readonly logger: FastifyBaseLogger
  readonly clock: Clock
  /** Called when a dataset's packing makes progress, succeeds or fails. */
  readonly changed: () => void
  /** Takes changes on the disk, such as a packed copy. */
  readonly reload: () => Promise<void>
}

interface Job {
  readonly order: PackOrder
  readonly stop: AbortController
  readonly done: Promise<void>
  progress: PackProgress | null
}

const reportEveryMs = 5000

/**
 * Packs the versions of datasets with `pack: auto`, one at a time, in the background. The original
 * files are served until the packed ones are verified. A job ends early when another version
 * replaces its own; that version is packed next.
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

  /** The state of a dataset's packing, for the operator; null when there is nothing to report. */
  textOf(dataset: string): string | null {
    const failure = this.#parts.live.packFailure(dataset)
    if (failure !== null) return `not packed: ${failure}`
    if (this.#job?.order.dataset !== dataset) return null
    const { progress } = this.#job
    if (!progress) return 'packing'
    const share = Math.floor((100 * progress.rowsDone) / Math.max(progress.rows, 1))
    return `packing: ${progress.stage}, ${share} %`
  }

  /** Ends the job; the next server continues it. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#job?.stop.abort(new Error('the service is stopping'))
    await this.#job?.done
  }

  /** False while another server packs: it is tried again in a minute. */
  async #packInTurn(order: PackOrder, signal: AbortSignal): Promise<boolean> {
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

  async #pack(order: PackOrder, signal: AbortSignal): Promise<void> {
    const { live, packFiles, space, trail, logger, reload } = this.#parts
    const { dataset } = order
    const start = this.#parts.clock.monotonicMs()
    try {
      // A packed copy takes about as much as the files.
      const bytes = live.serving.catalog.datasets.get(dataset)?.version?.bytes ?? 0
      const packed = await space.during(bytes, draftOf(order.target), () => {
        logger.info({ dataset }, 'packing')
        return packFiles(order, { signal, report: this.#report })
      })
      await reload()
      if (live.isWanted(order)) throw new Error('the packed copy is not served')
      const seconds = Math.round((this.#parts.clock.monotonicMs() - start) / 1000)
      const facts = { files: packed.length, seconds }
      logger.info({ dataset, ...facts }, 'packed')
      trail.record('pack.made', dataset, facts)
    } catch (cause) {
      if (!signal.aborted) {
        await live.notPacked(order, cause)
        logger.error({ dataset, err: cause }, 'packing failed, the original files are served')
        trail.record('pack.failed', dataset, { reason: live.packFailure(dataset) })
      }
    }
  }

  readonly #report = (progress: PackProgress): void => {
    if (this.#job) this.#job.progress = progress
    if (this.#parts.clock.monotonicMs() - this.#reportedAt < reportEveryMs) return
    this.#reportedAt = this.#parts.clock.monotonicMs()
    this.#parts.changed()
  }
}
