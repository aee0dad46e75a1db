import type { FastifyBaseLogger } from 'fastify'
import { diskSpaceOf } from '../catalog.js'
import { LiveCatalog } from '../catalog/live/live-catalog.js'
import type { TablesOptions } from '../catalog/live/update.js'
import type { Clock } from '../clock.js'
import { RowCopies } from '../engine/rows/row-copies.js'
import { soldGrants } from '../control/scheduled-changes.js'
import type { ChangeSets } from '../versions/changes/change-sets.js'
import type { DiskSpace } from '../versions/disk-space.js'
import type { FetchProgress, ObjectFiles } from '../versions/objects/object-files.js'
import type { MakeForms } from '../versions/forms/forms-order.js'
import type { HashFile } from '../versions/hash-file.js'
import type { OpenFiles } from '../versions/opener.js'
import type { LostVersion } from '../versions/store/damage-state.js'
import type { StoredFile } from '../versions/version.js'
import { FileChecks } from '../versions/store/file-checks.js'
import { Scrub } from '../versions/store/scrub.js'
import { AutoPacker } from './auto-packer.js'
import { ChangeMaker } from './change-maker.js'
import type { ComparedVersions } from './change-maker.js'
import { Hasher } from './hasher.js'
import { Hook } from './hook.js'
import type { MetricHooks } from './metrics.js'
import { openObjects } from './open-objects.js'
import { makeFormsAside } from './pack-process.js'
import { comparerFor, openerFor, inspectorFor, openerForTables } from './reading.js'
import type { Records } from './records/file-records.js'
import { Reloader } from './reloader.js'
import type { ServerBase } from './server-base.js'

interface UpdateParts {
  readonly versionsFolder: string
  readonly tempFolder: string
  readonly sets: ChangeSets
  readonly memoryLimitBytes: number
  readonly records: Records
  readonly metricHooks: MetricHooks
  /** Called while datasets are opened: how many are, of how many. */
  readonly onOpened: ((opened: number, datasets: number) => void) | undefined
  /** Called when something new is served. */
  readonly onServed: () => void
  /** In a separate process when left out. */
  readonly makeForms: MakeForms | undefined
  /** In sandboxes and on a thread of its own when left out. */
  readonly openFiles: ((memoryLimitBytes: number) => OpenFiles) | undefined
  readonly hashFile: HashFile | undefined
}

/** How long a start, or a change of the registry, waits for objects that were never fetched. */
const objectsWaitMs = 10_000
const reportEveryMs = 10_000

/** The live catalog and the parts that keep it up to date; they are not started yet. */
export interface CatalogUpdates {
  readonly live: LiveCatalog
  readonly reloader: Reloader
  readonly packer: AutoPacker
  readonly scrub: Scrub
  readonly changeMaker: ChangeMaker
  readonly checks: FileChecks
  /** Where queries read row copies. */
  readonly copies: RowCopies
  readonly space: DiskSpace
}

/** So much is copied in a moment, and costs no disk worth naming. */
const copyMaxBytes = 64e6

/**
 * Opens the live catalog and the parts that keep it up to date.
 * @throws RegistryError when registry.yaml can't be read
 */
export async function openCatalogUpdates(
  base: ServerBase,
  parts: UpdateParts,
): Promise<CatalogUpdates> {
  const { config, cleanup, clock } = base
  const checkSoon = new Hook<void>(() => undefined)
  const checks = new FileChecks(parts.hashFile ?? cleanup.use(new Hasher()).hash, clock)
  const onDamage = (file: StoredFile) => checks.reportDamage(file)
  const copies = cleanup.use(new RowCopies({ clock, onDamage }))
  const { space, trim } = limitSpace(base)
  const objects = followObjects(base, space, checkSoon.call)
  const compared: ComparedVersions = new Map()
  const live = await LiveCatalog.open({
    registryPath: config.registry,
    openFiles: (parts.openFiles ?? openerFor)(parts.memoryLimitBytes),
    inspectFiles: inspectorFor(parts.memoryLimitBytes),
    checks,
    onLostVersion: (loss) => {
      reportLoss(base, parts, loss)
      checkSoon.call()
    },
    onOpened: parts.onOpened ?? (() => undefined),
    versionsFolder: parts.versionsFolder,
    forgetForm: (path) => copies.forget(path),
    objects,
    tables: followTables(base, checkSoon.call),
    space,
    copyMaxBytes,
    clock,
    isAwaited: (dataset, version) => !compared.get(dataset)?.has(version),
    sold: () => soldGrants(parts.records.control, clock.now()),
  })
  const scrub = new Scrub({ clock, checks, files: () => live.storedFiles, days: config.scrubDays })
  const changeMaker = new ChangeMaker({
    live,
    compared,
    isAlone: parts.records.local === parts.records.control,
    sets: parts.sets,
    compareRows: comparerFor(parts.memoryLimitBytes),
    tempFolder: parts.tempFolder,
    control: parts.records.control,
    logger: base.logger,
    clock,
  })
  const changing = { live, objects, space, trim, scrub, changeMaker }
  const { packer, reloader } = followChanges(base, parts, changing)
  checkSoon.connect(() => reloader.trigger())
  for (const each of [scrub, changeMaker, reloader, packer]) cleanup.use(each)
  return { live, reloader, packer, scrub, changeMaker, checks, copies, space }
}

interface ChangeParts extends Pick<CatalogUpdates, 'live' | 'space' | 'scrub' | 'changeMaker'> {
  readonly objects: ObjectFiles
  /** Removes what is stored beyond the limit. */
  readonly trim: () => Promise<void>
}

/** What packs a new version, and what notices that there is one: each tells the other. */
function followChanges(
  { config, logger, clock }: ServerBase,
  { records, metricHooks, onServed, makeForms }: UpdateParts,
  { live, objects, space, trim, scrub, changeMaker }: ChangeParts,
): Pick<CatalogUpdates, 'packer' | 'reloader'> {
  const { trail, jobs, control, local } = records
  const packer: AutoPacker = new AutoPacker({
    live,
    makeForms: makeForms ?? makeFormsAside,
    space,
    jobs,
    trail,
    logger,
    clock,
    changed: () => {
      void reloader.report(true)
    },
    reload: () => reloader.reload(),
  })
  const reloader: Reloader = new Reloader({
    live,
    objects,
    objectPollSeconds: config.objectPollSeconds,
    local,
    trail,
    shareActions: (actions) => {
      if (local !== control) trail.add(actions)
    },
    logger,
    clock,
    changed: () => {
      onServed()
      packer.start()
      changeMaker.start()
      scrub.wake()
    },
    later: () => {
      void trim()
      packer.start()
      changeMaker.start()
    },
    formsOf: (dataset) => packer.statesOf(dataset),
    onReload: metricHooks.onReload,
  })
  return { packer, reloader }
}

function reportLoss(
  { logger }: ServerBase,
  { records, metricHooks }: UpdateParts,
  { dataset, version, file, verdict, lost }: LostVersion,
): void {
  logger.error({ dataset, version, file, found: verdict }, `${lost} withdrawn`)
  metricHooks.onWithdrawn(dataset)
  records.trail.record('version.withdrawn', dataset, { version, lost, file, found: verdict })
}

function followObjects(
  { config, cleanup, logger, clock, random }: ServerBase,
  space: DiskSpace,
  onChange: () => void,
): ObjectFiles {
  const report = objectsReport(logger, clock)
  const options = { space, waitMaxMs: objectsWaitMs, report, onChange, clock, random }
  return cleanup.use(openObjects(config, options))
}

/** What may be stored; `trim` also says when what is served takes more by itself. */
function limitSpace({ config, logger }: ServerBase) {
  const space = diskSpaceOf(config.state, config.diskLimit, ({ dataset, version }) => {
    logger.warn({ dataset, version }, 'earlier version removed before its time: --disk-limit')
  })
  let wasBeyond = false
  const trim = async () => {
    const beyondBytes = await space.trim()
    const isBeyond = beyondBytes > 0
    if (isBeyond && !wasBeyond) {
      logger.warn({ beyondBytes }, 'what is served takes more than --disk-limit')
    }
    wasBeyond = isBeyond
  }
  return { space, trim }
}

function followTables({ config, cleanup, clock }: ServerBase, onChange: () => void): TablesOptions {
  const stop = new AbortController()
  cleanup.adopt(stop, () => {
    stop.abort()
  })
  const openTable = openerForTables(config, clock)
  return { openTable, pollMs: config.trinoPollSeconds * 1000, onChange, signal: stop.signal }
}

/** Writes to the log how far the objects of a pattern are, when they take long. */
function objectsReport(
  logger: FastifyBaseLogger,
  { monotonicMs }: Clock,
): (progress: FetchProgress) => void {
  let reportedMs = monotonicMs()
  return (progress) => {
    if (monotonicMs() - reportedMs < reportEveryMs) return
    reportedMs = monotonicMs()
    logger.info(progress, 'fetching objects')
  }
}
