import type { FastifyBaseLogger } from 'fastify'
import { diskSpaceOf } from '../catalog.js'
import { LiveCatalog } from '../catalog/live/live-catalog.js'
import type { TablesOptions } from '../catalog/live/update.js'
import type { Clock } from '../clock.js'
import type { Config } from '../config.js'
import { liveGrants } from '../control/grants.js'
import type { Jobs } from '../control/jobs.js'
import type { ControlStore } from '../control/store/store.js'
import type { Random } from '../random.js'
import type { DiskSpace } from '../versions/disk-space.js'
import type { FetchProgress, ObjectFiles } from '../versions/objects/object-files.js'
import type { PackFiles } from '../versions/packing/packer.js'
import { FileChecks } from '../versions/store/file-checks.js'
import { Scrub } from '../versions/store/scrub.js'
import type { AuditTrail } from './records/audit-trail.js'
import { AutoPacker } from './auto-packer.js'
import type { CleanupStack } from './cleanup-stack.js'
import { Hasher } from './hasher.js'
import { openObjects } from './open-objects.js'
import { packAside } from './pack-process.js'
import { openerFor, inspectorFor, openerForTables } from './reading.js'
import { Reloader } from './reloader.js'
import type { OnReload } from './reloader.js'

interface FollowingParts {
  readonly config: Config
  readonly versionsFolder: string
  readonly memoryLimitBytes: number
  readonly control: ControlStore
  readonly local: ControlStore
  readonly jobs: Jobs
  readonly trail: AuditTrail
  readonly cleanup: CleanupStack
  readonly logger: FastifyBaseLogger
  readonly clock: Clock
  readonly random: Random
  /** Called while datasets are opened: how many are, of how many. */
  readonly onOpened?: (opened: number, datasets: number) => void
  /** Called when something new is served. */
  readonly changed: () => void
  readonly onReload?: OnReload
  /** Called when a version or a packed copy is withdrawn. */
  readonly onWithdrawn?: (dataset: string) => void
  /** In a separate process when left out. */
  readonly packFiles?: PackFiles
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
  readonly checks: FileChecks
  readonly space: DiskSpace
}

/** So much is copied in a moment, and costs no disk worth naming. */
const copyMaxBytes = 64e6

/**
 * Opens the live catalog and the parts that keep it up to date.
 * @throws RegistryError when registry.yaml can't be read
 */
export async function openCatalogUpdates(parts: FollowingParts): Promise<CatalogUpdates> {
  const { config, versionsFolder, memoryLimitBytes, control, local, jobs } = parts
  const { trail, cleanup, logger, clock } = parts
  const checks = new FileChecks(cleanup.use(new Hasher()).hash, clock)
  const { space, trim } = limitSpace(parts)
  // Objects may change before the reloader exists.
  const opened: { reloader?: Reloader } = {}
  const sources = followSources(parts, space, () => opened.reloader?.trigger())
  const live = await LiveCatalog.open({
    registryPath: config.registry,
    openFiles: openerFor(memoryLimitBytes),
    inspectFiles: inspectorFor(memoryLimitBytes),
    checks,
    onLostVersion: ({ dataset, version, file, verdict, form }) => {
      logger.error({ dataset, version, file, found: verdict }, `${form} withdrawn`)
      parts.onWithdrawn?.(dataset)
      trail.record('version.withdrawn', dataset, { version, form, file, found: verdict })
      reloader.trigger()
    },
    ...(parts.onOpened && { onOpened: parts.onOpened }),
    versionsFolder,
    ...sources,
    ...{ space, copyMaxBytes, clock },
    sold: () => liveGrants(control, clock.now()),
  })
  const reloader: Reloader = new Reloader({
    live,
    objects: sources.objects,
    objectPollSeconds: config.objectPollSeconds,
    ...{ local, trail, logger, clock },
    shareActions: (actions) => {
      if (local !== control) trail.add(actions)
    },
    changed: () => {
      parts.changed()
      packer.start()
      scrub.wake()
    },
    later: () => {
      void trim()
      packer.start()
    },
    packingOf: (dataset) => packer.textOf(dataset),
    ...(parts.onReload && { onReload: parts.onReload }),
  })
  opened.reloader = reloader
  const packer: AutoPacker = new AutoPacker({
    ...{ live, space, jobs, trail, logger, clock },
    packFiles: parts.packFiles ?? packAside,
    changed: () => {
      void reloader.report(true)
    },
    reload: () => reloader.reload(),
  })
  const scrub = new Scrub({ clock, checks, files: () => live.storedFiles, days: config.scrubDays })
  for (const each of [scrub, reloader, packer]) cleanup.use(each)
  return { live, reloader, packer, scrub, checks, space }
}

/** What changes without an event of the file system. */
function followSources(parts: FollowingParts, space: DiskSpace, onChange: () => void) {
  return { objects: followObjects(parts, space, onChange), tables: followTables(parts, onChange) }
}

function followObjects(
  { config, cleanup, logger, clock, random }: FollowingParts,
  space: DiskSpace,
  onChange: () => void,
): ObjectFiles {
  const report = objectsReport(logger, clock)
  const options = { space, waitMaxMs: objectsWaitMs, report, onChange, clock, random }
  return cleanup.use(openObjects(config, options))
}

/** What may be stored; `trim` also says when what is served takes more by itself. */
function limitSpace({ config, logger }: FollowingParts) {
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

function followTables(
  { config, cleanup, clock }: FollowingParts,
  onChange: () => void,
): TablesOptions {
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
