import type { FastifyBaseLogger } from 'fastify'
import type { Dataset } from '../catalog/dataset.js'
import type { LiveCatalog } from '../catalog/live/live-catalog.js'
import { dayMs } from '../clock.js'
import type { Clock } from '../clock.js'
import { historyText } from '../columns/history-value.js'
import {
  forgetVersions,
  listVersions,
  recordChanges,
  recordVersion,
} from '../control/dataset-versions.js'
import type { PublishedVersion } from '../control/dataset-versions.js'
import { noteVersion } from '../control/hooks/events.js'
import type { ControlStore } from '../control/store/store.js'
import { OneAtATime } from '../one-at-a-time.js'
import { keyProblem } from '../versions/changes/change-set.js'
import type { ChangeSet, CompareRows } from '../versions/changes/change-set.js'
import type { ChangeSets, Step } from '../versions/changes/change-sets.js'
import type { Version } from '../versions/version.js'

/** Dataset → its earlier versions that no comparison needs any more. */
export type ComparedVersions = Map<string, Set<string>>

interface ChangeMakerParts {
  readonly live: LiveCatalog
  readonly control: ControlStore
  readonly sets: ChangeSets
  readonly compareRows: CompareRows
  readonly tempFolder: string
  /** Earlier versions stay until they are in it. */
  readonly compared: ComparedVersions
  /** False where other servers may have files that this one lacks. */
  readonly isAlone: boolean
  readonly logger: FastifyBaseLogger
  readonly clock: Clock
}

/** Two kept versions to compare. */
interface Comparison {
  readonly step: Step
  readonly before: Version
  readonly after: Version
}

const keepDays = 90
/** Then it is given up. */
const triesMax = 3
/** Events are kept a little longer: an older version may have been reported and forgotten. */
const newsDays = 29

/**
 * Records the versions that are served, and computes what differs from one to the next, one step at
 * a time, in the background. A restart goes on with the versions that are still kept. A version is
 * reported to webhooks once it is known what it changed, or that this will not be known.
 */
export class ChangeMaker {
  readonly #parts: ChangeMakerParts
  /** Dataset → the version that this server served last. */
  readonly #served = new Map<string, string>()
  readonly #failures = new Map<string, number>()
  /** The steps that are reported. */
  readonly #noted = new Set<string>()
  readonly #records = new OneAtATime()
  /** A comparison may take long: what is served meanwhile is recorded all the same. */
  readonly #comparisons = new OneAtATime()
  readonly #stop = new AbortController()

  constructor(parts: ChangeMakerParts) {
    this.#parts = parts
  }

  /** Follows what is served now. */
  start(): void {
    const datasets = [...this.#parts.live.serving.catalog.datasets.values()]
    for (const { name, version } of datasets) {
      if (version) this.#parts.compared.get(name)?.delete(version.id)
    }
    const recorded = this.#run(this.#records, async () => {
      for (const dataset of datasets) await this.#record(dataset)
    })
    void recorded.then(() => this.#run(this.#comparisons, () => this.#compareNext()))
  }

  /** Never rejects. */
  async #run(turns: OneAtATime, work: () => Promise<void>): Promise<void> {
    await turns.run(async () => {
      if (this.#stop.signal.aborted) return
      try {
        await work()
      } catch (cause) {
        this.#parts.logger.warn({ err: cause }, 'versions were not followed; it is tried again')
      }
    })
  }

  /** Ends the comparison that runs; the next server begins it again. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the service is stopping'))
    await this.#records.run(async () => {})
    await this.#comparisons.run(async () => {})
  }

  async #record({ name, version, asOf }: Dataset): Promise<void> {
    const { control, clock } = this.#parts
    const previous = this.#served.get(name) ?? null
    if (!version || version.id === previous) return
    const { id, history, newestHistory, rows } = version
    const hasNewest = history !== null && newestHistory !== undefined
    const newest = hasNewest ? historyText(history, newestHistory) : null
    const published = { version: id, previous, asOf: asOf ?? newest, rows }
    await recordVersion(control, name, { ...published, publishedAt: clock.now() })
    this.#served.set(name, id)
  }

  /** Compares one pair, and follows again: meanwhile another version may be served. */
  async #compareNext(): Promise<void> {
    const { live, sets } = this.#parts
    await sets.keepDatasets(live.serving.registry.datasets)
    const comparisons: Comparison[] = []
    for (const dataset of live.serving.catalog.datasets.values()) {
      comparisons.push(...(await this.#missing(dataset)))
    }
    const [next] = comparisons
    if (!next) return
    // What failed is tried again in the next minute.
    if (await this.#compare(next)) this.start()
  }

  /** The steps of a dataset that are not known and can be; removes what is kept no longer. */
  async #missing(dataset: Dataset): Promise<readonly Comparison[]> {
    const { live, control, sets, clock, compared } = this.#parts
    const { name, version, earlier } = dataset
    if (!version) return []
    const days = live.serving.registry.datasets.get(name)?.keep_changes_days ?? keepDays
    await forgetVersions(control, name, clock.now() - days * dayMs)
    const entries = await listVersions(control, name)
    const steps = entries.map((entry) => ({ dataset: name, ...entry }))
    await sets.keep(name, steps)
    const newest = steps.findIndex((each) => each.version === version.id)
    if (newest < 0) return []
    const kept = new Map([version, ...earlier.map((each) => each.version)].map((v) => [v.id, v]))
    const problem = keyProblem(version)
    const found: Comparison[] = []
    // Newer ones are those of another server.
    for (const step of steps.slice(newest)) {
      const after = kept.get(step.version)
      const before = kept.get(step.previous ?? '')
      const set = await sets.find(step)
      if (before && after && !problem && !set) found.push({ step, before, after })
      else await this.#report(step, set, problem)
    }
    const needed = new Set(found.flatMap(({ before, after }) => [before.id, after.id]))
    const ids = earlier.map((each) => each.version.id)
    compared.set(name, new Set(ids.filter((id) => !needed.has(id))))
    return found
  }

  /** Records what became of a step that is not to be compared here, and reports it to webhooks. */
  async #report(
    step: Step & PublishedVersion,
    set: ChangeSet | null,
    problem: string | null,
  ): Promise<void> {
    const { control, isAlone } = this.#parts
    const outcome = this.#outcomeOf(step, set, problem)
    const isElsewhere = !isAlone && !problem && step.changes === 'ready'
    const isNew = step.changes !== outcome?.changes || step.changesReason !== outcome.changesReason
    if (outcome && isNew && !isElsewhere) {
      await recordChanges(control, step.dataset, step, outcome)
    }
    if (outcome || step.changes) await this.#note(step)
  }

  /** Null while another server may compare the versions. */
  #outcomeOf(
    step: Step & PublishedVersion,
    set: ChangeSet | null,
    problem: string | null,
  ): Pick<PublishedVersion, 'changes' | 'changesReason'> | null {
    const none = (changesReason: string) => ({ changes: 'none', changesReason }) as const
    if (step.previous === null) return none('it is the first version')
    if (problem) return none(problem)
    if (set) {
      return set.kind === 'none' ? none(set.reason) : { changes: 'ready', changesReason: null }
    }
    const isOld = step.publishedAt < this.#parts.clock.now() - dayMs
    if (!this.#parts.isAlone && (step.changes || !isOld)) return null
    return none('the version before it is not kept any more')
  }

  async #note(step: Step & { readonly publishedAt: number }): Promise<void> {
    const { control, sets, clock } = this.#parts
    const target = sets.target(step)
    const now = clock.now()
    if (this.#noted.has(target) || step.publishedAt < now - newsDays * dayMs) return
    await noteVersion(control, step, now)
    this.#noted.add(target)
  }

  /** False if it failed and may be tried again. */
  async #compare({ step, before, after }: Comparison): Promise<boolean> {
    const { sets, compareRows, tempFolder, logger, clock } = this.#parts
    const { dataset, version } = step
    const target = sets.target(step)
    const startMs = clock.monotonicMs()
    let set: ChangeSet
    try {
      await sets.prepare(step)
      set = await compareRows({ before, after, target, tempFolder }, this.#stop.signal)
    } catch (cause) {
      if (this.#stop.signal.aborted) return false
      const failures = (this.#failures.get(target) ?? 0) + 1
      this.#failures.set(target, failures)
      logger.error({ dataset, version, err: cause }, 'versions were not compared')
      if (failures < triesMax) return false
      set = { kind: 'none', reason: 'the versions could not be compared', isKeyless: false }
    }
    await sets.add(step, set)
    const seconds = Math.round((clock.monotonicMs() - startMs) / 1000)
    const result = set.kind === 'ready' ? { rows: set.rows } : { reason: set.reason }
    logger.info({ dataset, version, ...result, seconds }, 'compared with the version before')
    return true
  }
}
