import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { LiveCatalog } from '../catalog/live/live-catalog.js'
import type { Clock } from '../clock.js'
import type { Jobs } from '../control/jobs.js'
import type { DiskSpace } from '../versions/disk-space.js'
import type { CopyOptions, FetchedCopy } from '../versions/packing/fetch-copy.js'
import { draftOf } from '../versions/packing/packer.js'
import type { PackFiles, PackOrder, PackProgress } from '../versions/packing/packer.js'
import type { AuditTrail } from './records/audit-trail.js'
import type { SharedCopies } from './shared-copies.js'

interface AutoPackerParts {
  readonly live: LiveCatalog
  readonly packFiles: PackFiles
  /** What packed copies may take of the disk. */
  readonly space: DiskSpace
  /** Copies that another server may have made. */
  readonly copies: SharedCopies
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

type JobProgress = Omit<PackProgress, 'stage'> & {
  readonly stage: PackProgress['stage'] | 'fetching' | 'uploading'
}

interface Job {
  readonly order: PackOrder
  readonly stop: AbortController
  readonly done: Promise<void>
  progress: JobProgress | null
}

const reportEveryMs = 5000

/**
 * Packs the versions of datasets with `pack: auto`, one at a time, in the background. The original
 * files are served until the packed ones are verified. A job ends early when another version
 * replaces its own; that version is packed next. With `pack_to`, a copy that another server has
 * uploaded is verified and not written again, and a new one is uploaded once it is served.
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
    if (this.#job && !this.#isNeeded(this.#job.order)) {
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
    const { live, copies, trail, logger, reload } = this.#parts
    const { dataset } = order
    const start = this.#parts.clock.monotonicMs()
    const isNew = !existsSync(order.target)
    try {
      const fetched = isNew
        ? await copies.fetch(order, this.#copying(order, signal, 'fetching'))
        : null
      const packed = await this.#make(order, fetched, signal)
      await reload()
      if (live.isWanted(order)) throw new Error('the packed copy is not served')
      const seconds = Math.round((this.#parts.clock.monotonicMs() - start) / 1000)
      const kept = fetched ? await copies.kept(order, fetched) : 0
      const facts = { files: packed.length, seconds, ...(kept > 0 && { fetched: kept }) }
      logger.info({ dataset, ...facts }, 'packed')
      trail.record('pack.made', dataset, facts)
      const isShared = !isNew || kept === packed.length
      if (!isShared) await copies.upload(order, this.#copying(order, signal, 'uploading'))
    } catch (cause) {
      if (!signal.aborted) {
        await live.notPacked(order, cause)
        logger.error({ dataset, err: cause }, 'packing failed, the original files are served')
        trail.record('pack.failed', dataset, { reason: live.packFailure(dataset) })
      }
    }
  }

  /** Packs; a fetched copy that turns out to be unsound is refused, and the files are packed. */
  async #make(order: PackOrder, fetched: FetchedCopy | null, signal: AbortSignal) {
    const { live, packFiles, space, copies, logger } = this.#parts
    const { dataset } = order
    const report = this.#report
    // A packed copy takes about as much as the files.
    const bytes = live.serving.catalog.datasets.get(dataset)?.version?.bytes ?? 0
    return space.during(bytes, draftOf(order.target), async () => {
      logger.info({ dataset }, fetched ? 'verifying the packed copy' : 'packing')
      if (!fetched) return packFiles(order, { signal, report })
      try {
        return await packFiles(order, { signal, report })
      } catch (cause) {
        signal.throwIfAborted()
        await copies.refuse(order, cause)
        return packFiles(order, { signal, report })
      }
    })
  }

  #copying(order: PackOrder, signal: AbortSignal, stage: JobProgress['stage']): CopyOptions {
    const rows = order.files.reduce((sum, file) => sum + file.rows, 0)
    return { signal, report: (rowsDone) => this.#report({ stage, rowsDone, rows }) }
  }

  readonly #report = (progress: JobProgress): void => {
    if (this.#job) this.#job.progress = progress
    if (this.#parts.clock.monotonicMs() - this.#reportedAt < reportEveryMs) return
    this.#reportedAt = this.#parts.clock.monotonicMs()
    this.#parts.changed()
  }

  /** Whether the copy is needed; one that is served is uploaded for other servers. */
  #isNeeded(order: PackOrder): boolean {
    const { live } = this.#parts
    const version = live.serving.catalog.datasets.get(order.dataset)?.version
    const isServed = version?.files.some(({ path }) => dirname(path) === order.target)
    return live.isWanted(order) || isServed === true
  }
}
