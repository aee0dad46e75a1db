import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Dataset } from '../catalog/dataset.js'
import type { LiveCatalog, Serving } from '../catalog/live/live-catalog.js'
import type { UpdateResult } from '../catalog/live/update.js'
import { Watcher } from '../catalog/live/watcher.js'
import { saveDatasetStates } from '../control/dataset-state.js'
import type { DatasetState } from '../control/dataset-state.js'
import { finishReload, takeReload } from '../control/reload-requests.js'
import type { ControlStore } from '../control/store/store.js'

interface ReloaderParts {
  readonly live: LiveCatalog
  readonly control: ControlStore
  readonly logger: FastifyBaseLogger
  readonly now: () => number
  /** Something else is served than before. */
  readonly changed: () => void
  /** Some time has passed: what was put off may be tried again. */
  readonly later: () => void
  /** What packing is at for a dataset; null where there is nothing to say. */
  readonly packingOf: (dataset: string) => string | null
}

const wishEveryMs = 500
const expireEveryMs = 60_000
/** Between two looks at something that is being written. */
const settleMs = 250
const settleLooksMax = 200

/**
 * Keeps a server's catalog up to date: watches the disk, hears the command line's wishes, and tells
 * the log and control.db what became of each dataset.
 */
export class Reloader {
  readonly #parts: ReloaderParts
  #reported: Serving | null = null
  /** What control.db does not say yet. */
  #isUnsaved = false
  #watcher: Watcher | null = null
  #wishes: NodeJS.Timeout | undefined
  #wish: Promise<void> | null = null
  #isUnread = false
  #expiredAt = 0
  #looking: Promise<unknown> = Promise.resolve()
  /** When something was seen that is being written, by the monotonic clock. */
  #unsettledAt = -Infinity
  #isClosed = false

  constructor(parts: ReloaderParts) {
    this.#parts = parts
  }

  /** Begins to watch. */
  start(): void {
    const { live, logger } = this.#parts
    this.#watcher = new Watcher({
      look: () => this.#look(),
      folders: () => live.places,
      lookMs: () => live.lookMs,
      report: (cause) => {
        logger.error({ err: cause }, 'looking for changed files failed')
      },
    })
    this.#wishes = setInterval(() => {
      this.#wish ??= this.#hear().finally(() => {
        this.#wish = null
      })
    }, wishEveryMs)
    this.#wishes.unref()
  }

  /** Looks soon: something has happened that no event tells. */
  trigger(): void {
    this.#watcher?.trigger()
  }

  /** Takes what lies on the disk now; waits while something is being written, for a while. */
  async reload(force = false): Promise<void> {
    for (let looks = 0; looks < settleLooksMax && !this.#isClosed; looks++) {
      if ((await this.#look(force)) !== 'unsettled') return
    }
  }

  /** Tells log and control.db what is served, where that is news; `isNews` where it looks the same. */
  async report(isNews = false): Promise<void> {
    const { live, logger, changed } = this.#parts
    const { serving } = live
    const before = this.#reported
    if (serving !== before) {
      this.#reported = serving
      this.#isUnsaved = true
      logChanges(logger, before, serving)
      if (before) changed()
    }
    this.#isUnsaved ||= isNews
    if (!this.#isUnsaved) return
    try {
      await this.#save(serving)
      if (serving === live.serving) this.#isUnsaved = false
    } catch (cause) {
      logger.warn({ err: cause }, 'control.db does not say yet what is served')
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#wishes)
    await Promise.all([this.#watcher?.close(), this.#wish])
    await this.#parts.live.close()
  }

  /** One look at a time, whoever wants it. */
  #look(force = false): Promise<UpdateResult> {
    const look = this.#looking.then(() => this.#lookNow(force))
    this.#looking = look.catch(() => undefined)
    return look
  }

  /** Two looks that see the same prove that nobody writes only where they stand apart. */
  async #lookNow(force: boolean): Promise<UpdateResult> {
    const { live, now, later } = this.#parts
    await sleep(Math.max(0, this.#unsettledAt + settleMs - performance.now()))
    const result = await live.update(force)
    if (result === 'unsettled') this.#unsettledAt = performance.now()
    if (now() - this.#expiredAt >= expireEveryMs) {
      this.#expiredAt = now()
      await live.expire()
      later()
    }
    await this.report()
    return result
  }

  /** A request that comes while control.db can't be read is taken later; the log says so once. */
  async #hear(): Promise<void> {
    const { control, now, logger } = this.#parts
    try {
      const wish = takeReload(control, now())
      this.#isUnread = false
      if (!wish) return
      try {
        await this.reload(wish.force)
      } finally {
        finishReload(control, wish.id, now())
      }
    } catch (cause) {
      if (!this.#isUnread) logger.warn({ err: cause }, 'requests to reload are not taken for now')
      this.#isUnread = true
    }
  }

  async #save(serving: Serving): Promise<void> {
    const { catalog, registryReason } = serving
    const { live, control, now, packingOf } = this.#parts
    const updatedAt = now()
    const states: DatasetState[] = []
    for (const dataset of catalog.datasets.values()) {
      const storage = await live.storage(dataset.name)
      states.push({
        ...stateOf(dataset),
        reason: dataset.reason ?? live.damageOf(dataset.name),
        stored: storage?.stored ?? null,
        packing: packingOf(dataset.name),
        diskBytes: storage?.diskBytes ?? 0,
        updatedAt,
      })
    }
    // What is newer by now has a report of its own, which must not be written over.
    if (serving !== live.serving) return
    saveDatasetStates(control, states, { reason: registryReason, updatedAt })
  }
}

function stateOf({ name, version, reason, earlier }: Dataset) {
  const status = !version ? 'unavailable' : reason === null ? 'serving' : 'stale'
  return {
    dataset: name,
    version: version?.id ?? null,
    status,
    reason,
    rows: version?.rows ?? null,
    files: version?.files.length ?? null,
    earlier: earlier.length,
  } as const
}

function logChanges(logger: FastifyBaseLogger, before: Serving | null, now: Serving): void {
  if (now.registryReason !== null && now.registryReason !== before?.registryReason) {
    logger.error({ reason: now.registryReason }, 'registry refused, the last good one goes on')
  }
  for (const [name, { version, reason }] of now.catalog.datasets) {
    const known = before?.catalog.datasets.get(name)
    if (version && version.id !== known?.version?.id) {
      const { id, rows, files } = version
      const replaced = known?.version?.id
      logger.info({ dataset: name, version: id, rows, files: files.length, replaced }, 'serving')
    }
    if (reason === null || reason === known?.reason) continue
    if (version) logger.error({ dataset: name, reason }, 'refused, the last good version goes on')
    else logger.error({ dataset: name, reason }, 'dataset unavailable')
  }
  for (const name of before?.catalog.datasets.keys() ?? []) {
    if (!now.catalog.datasets.has(name)) logger.info({ dataset: name }, 'no longer served')
  }
}
