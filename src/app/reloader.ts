import type { FastifyBaseLogger } from 'fastify'
import type { Dataset } from '../catalog/dataset.js'
import type { FormState } from '../catalog/live/live-forms.js'
import type { LiveCatalog, Serving } from '../catalog/live/live-catalog.js'
import type { Force, UpdateResult } from '../catalog/live/update.js'
import { Watcher } from '../catalog/live/watcher.js'
import type { Clock } from '../clock.js'
import type { AuditedAction } from '../control/audit.js'
import { saveDatasetStates } from '../control/dataset-state.js'
import type { ReportedState } from '../control/dataset-state.js'
import { finishReload, returnReload, takeReload } from '../control/reload-requests.js'
import type { ReloadRequest } from '../control/reload-requests.js'
import { OneAtATime } from '../one-at-a-time.js'
import { listOf } from '../registry/registry.js'
import type { Registry } from '../registry/registry.js'
import type { ControlStore } from '../control/store/store.js'
import { Rounds } from '../rounds.js'
import { isObjectUrl } from '../versions/objects/object-pattern.js'
import type { ObjectFiles } from '../versions/objects/object-files.js'
import { logChanges } from './log-changes.js'
import type { OnReload } from './log-changes.js'
import type { AuditTrail } from './records/audit-trail.js'

interface ReloaderParts {
  readonly live: LiveCatalog
  /** Files in object storage, which send no event: they are listed again and again. */
  readonly objects: Pick<ObjectFiles, 'refresh' | 'retain' | 'start'>
  /** The pause between two listings, in seconds. */
  readonly objectPollSeconds: number
  /** Holds the states of datasets, and the requests of commands. */
  readonly local: ControlStore
  readonly trail: Pick<AuditTrail, 'record'>
  /** Takes the actions that the audit trail of `local` has now. */
  readonly shareActions: (actions: readonly AuditedAction[]) => void
  readonly logger: FastifyBaseLogger
  readonly clock: Clock
  /** Called when something new is served. */
  readonly changed: () => void
  /** Called once a minute: work that was postponed may be tried again. */
  readonly later: () => void
  /** The states of a dataset's forms. */
  readonly formsOf: (dataset: string) => readonly FormState[]
  /** Called when a version is served or files are refused. */
  readonly onReload: OnReload
}

/** A dataset's state in control.db, by what it was made from. */
interface SavedState {
  readonly dataset: Dataset
  readonly damage: string | null
  readonly packing: string | null
}

const requestsEveryMs = 500
const expireEveryMs = 60_000
/** The pause between two checks of a file that is being written. */
const settleMs = 250
const settleChecksMax = 200

/**
 * Keeps a server's catalog up to date: watches the disk, takes reload requests of the command line,
 * and reports the state of each dataset to the log and control.db.
 */
export class Reloader {
  readonly #parts: ReloaderParts
  #reported: Serving | null = null
  #saved: ReadonlyMap<string, SavedState> = new Map()
  /** The state was not written to control.db yet. */
  #isUnsaved = false
  #watcher: Watcher | null = null
  readonly #requests: Rounds
  #isUnread = false
  #expiredAt = 0
  readonly #checks = new OneAtATime()
  /** When a file was last found to be in writing, by the monotonic clock. */
  #unsettledAt = -Infinity
  #isClosed = false

  constructor(parts: ReloaderParts) {
    this.#parts = parts
    this.#requests = new Rounds({
      every: parts.clock.every,
      everyMs: requestsEveryMs,
      work: () => this.#takeRequest(),
      report: (cause) => {
        this.#reportUnread(cause)
      },
    })
  }

  start(): void {
    const { live, objects, objectPollSeconds, logger, clock } = this.#parts
    objects.start(objectPollSeconds * 1000)
    this.#watcher = new Watcher({
      clock,
      check: () => this.#check(),
      folders: () => live.watchedFolders,
      checkMs: () => live.checkMs,
      report: (cause) => {
        logger.error({ err: cause }, 'the check for changed files failed')
      },
    })
    void this.#requests.start()
  }

  /** Checks soon, for a change that causes no file event. */
  trigger(): void {
    this.#watcher?.trigger()
  }

  /** Applies the changes on the disk now; waits a while for a file that is being written. */
  async reload(force: Force = false): Promise<void> {
    await Promise.all([this.#parts.objects.refresh(), this.#parts.live.readAgain()])
    for (let checks = 0; checks < settleChecksMax && !this.#isClosed; checks++) {
      if ((await this.#check(force)) !== 'unsettled') return
    }
  }

  /** Reports what is served to log and control.db if it changed, or if `isChanged` says so. */
  async report(isChanged = false): Promise<void> {
    const { live, objects, trail, logger, changed } = this.#parts
    const { serving } = live
    const before = this.#reported
    if (serving !== before) {
      this.#reported = serving
      if (serving.registry !== before?.registry) objects.retain(objectPatterns(serving.registry))
      this.#isUnsaved = true
      logChanges(logger, before, serving, this.#parts.onReload)
      if (before) changed()
      if (before && serving.registry !== before.registry) {
        const datasets = serving.registry.datasets.size
        trail.record('registry.loaded', 'registry.yaml', { datasets })
      }
    }
    this.#isUnsaved ||= isChanged
    if (!this.#isUnsaved) return
    try {
      await this.#save(serving)
      if (serving === live.serving) this.#isUnsaved = false
    } catch (cause) {
      logger.warn({ err: cause }, 'the state of datasets was not saved; it is tried again')
    }
  }

  /** Reports everything to another control.db. */
  async reportAll(): Promise<void> {
    this.#saved = new Map()
    await this.report(true)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([this.#watcher?.close(), this.#requests.close()])
    await this.#parts.live.close()
  }

  #check(force: Force = false): Promise<UpdateResult> {
    return this.#checks.run(() => this.#checkNow(force))
  }

  /** Two checks prove that a file is complete only when time has passed between them. */
  async #checkNow(force: Force): Promise<UpdateResult> {
    const { live, clock, later } = this.#parts
    const { now, monotonicMs } = clock
    const waitMs = this.#unsettledAt + settleMs - monotonicMs()
    if (waitMs > 0) await clock.sleep(waitMs)
    const result = await live.update(force)
    if (result === 'unsettled') this.#unsettledAt = monotonicMs()
    const sinceMs = now() - this.#expiredAt
    // Negative when the clock was set back.
    if (sinceMs >= expireEveryMs || sinceMs < 0) {
      this.#expiredAt = now()
      await live.expire()
      later()
    }
    await this.report()
    return result
  }

  async #takeRequest(): Promise<void> {
    const { local, clock } = this.#parts
    const request = await takeReload(local, clock.now())
    this.#isUnread = false
    if (request) await this.#carryOut(request)
  }

  /** While they can't be read, requests wait; the log says so once. */
  #reportUnread(cause: unknown): void {
    const { logger } = this.#parts
    if (!this.#isUnread) logger.warn({ err: cause }, "reload requests can't be read; they wait")
    this.#isUnread = true
  }

  /**
   * Tries until it succeeds: a finished request means that the saved states are its result. At a
   * stop, the request waits for the next server.
   */
  async #carryOut({ id, force, dataset }: ReloadRequest): Promise<void> {
    const { local, clock, logger } = this.#parts
    for (let tries = 1; !this.#isClosed; tries++) {
      try {
        await this.reload(force && (dataset ?? true))
        await finishReload(local, id, clock.now())
        return
      } catch (cause) {
        if (tries === 1) logger.error({ err: cause }, 'reload failed; it is tried again')
      }
      await clock.sleep(requestsEveryMs)
    }
    await returnReload(local, id)
  }

  /** Saves the states that are not what was saved last. */
  async #save(serving: Serving): Promise<void> {
    const { catalog, registryReason } = serving
    const { live, local, clock, formsOf, shareActions } = this.#parts
    const updatedAt = clock.now()
    const saved = new Map<string, SavedState>()
    const changed: ReportedState[] = []
    for (const [name, dataset] of catalog.datasets) {
      const known = this.#saved.get(name)
      const forms = formsOf(name)
      const packing = forms.length === 0 ? null : JSON.stringify(forms)
      const damage = live.damageOf(name)
      saved.set(name, { dataset, damage, packing })
      const isSame = known?.dataset === dataset && known.damage === damage
      if (isSame && known.packing === packing) continue
      const storage = await live.storage(name)
      changed.push({
        ...stateOf(dataset),
        reason: dataset.reason ?? damage,
        stored: storage?.stored ?? null,
        packing,
        diskBytes: storage?.diskBytes ?? 0,
        updatedAt,
      })
    }
    // A newer state has a report of its own, which this one must not overwrite.
    if (serving !== live.serving) return
    const names = [...catalog.datasets.keys()]
    const registry = { reason: registryReason, updatedAt }
    shareActions(await saveDatasetStates(local, names, changed, registry))
    this.#saved = saved
  }
}

function objectPatterns({ datasets }: Registry): ReadonlySet<string> {
  return new Set([...datasets.values()].flatMap(({ files }) => listOf(files).filter(isObjectUrl)))
}

function stateOf({ name, version, reason, warnings, earlier }: Dataset) {
  const status = !version ? 'unavailable' : reason === null ? 'serving' : 'stale'
  return {
    dataset: name,
    version: version?.id ?? null,
    status,
    reason,
    warnings,
    rows: version?.rows ?? null,
    files: version?.files.length ?? null,
    earlier: earlier.length,
  } as const
}
