import type { FastifyBaseLogger } from 'fastify'
import type { LiveCatalog } from '../catalog/live/live-catalog.js'
import type { PackFiles, PackOrder, PackProgress } from '../versions/packing/packer.js'

interface AutoPackerParts {
  readonly live: LiveCatalog
  readonly packFiles: PackFiles
  readonly logger: FastifyBaseLogger
  /** There is news of a dataset: a share done, packed, or failed. */
  readonly changed: () => void
}

interface Job {
  readonly order: PackOrder
  readonly stop: AbortController
  readonly done: Promise<void>
  progress: PackProgress | null
}

/** Between two reports of how far it has come. */
const reportEveryMs = 5000

/**
 * Packs the versions of datasets that say `pack: auto`, one at a time, beside the server. They are
 * served as they were dropped until the packed form is there, verified; a version that is replaced
 * meanwhile is left, and what replaced it packed.
 */
export class AutoPacker {
  readonly #parts: AutoPackerParts
  #job: Job | null = null
  #isClosed = false

  constructor(parts: AutoPackerParts) {
    this.#parts = parts
  }

  /** Looks whether there is something to pack, and whether what is being packed is still wanted. */
  begin(): void {
    const { live } = this.#parts
    if (this.#job && !live.isWanted(this.#job.order)) {
      this.#job.stop.abort(new Error('another version is served by now'))
    }
    const order = this.#job || this.#isClosed ? null : live.toPack
    if (!order) return
    const stop = new AbortController()
    const done = this.#pack(order, stop.signal).finally(() => {
      this.#job = null
      this.begin()
    })
    this.#job = { order, stop, done, progress: null }
  }

  /** What packing is at for a dataset, in words; null where there is nothing to say. */
  textOf(dataset: string): string | null {
    const failure = this.#parts.live.packFailure(dataset)
    if (failure !== null) return `not packed: ${failure}`
    if (this.#job?.order.dataset !== dataset) return null
    const { progress } = this.#job
    if (!progress) return 'packing'
    const share = Math.floor((100 * progress.rowsDone) / Math.max(progress.rows, 1))
    return `packing: ${progress.stage}, ${share} %`
  }

  /** Ends what is being packed; the next server goes on with it. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#job?.stop.abort(new Error('the service is stopping'))
    await this.#job?.done
  }

  async #pack(order: PackOrder, signal: AbortSignal): Promise<void> {
    const { live, packFiles, logger, changed } = this.#parts
    const { dataset } = order
    const start = performance.now()
    let reportedAt = start
    const report = (progress: PackProgress) => {
      if (this.#job) this.#job.progress = progress
      if (performance.now() - reportedAt < reportEveryMs) return
      reportedAt = performance.now()
      changed()
    }
    try {
      logger.info({ dataset }, 'packing')
      const packed = await packFiles(order, { signal, report })
      await live.takePacked(order, packed)
      const seconds = Math.round((performance.now() - start) / 1000)
      logger.info({ dataset, files: packed.length, seconds }, 'packed')
    } catch (cause) {
      if (!signal.aborted) {
        live.notPacked(order, cause)
        logger.error({ dataset, err: cause }, 'not packed, served as it is')
      }
    }
    changed()
  }
}
