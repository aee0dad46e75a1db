import type { FastifyBaseLogger } from 'fastify'
import { LiveCatalog } from '../catalog/live/live-catalog.js'
import type { Config } from '../config.js'
import { liveGrants } from '../control/grants.js'
import type { ControlStore } from '../control/store/store.js'
import { FileChecks } from '../versions/store/file-checks.js'
import { Scrub } from '../versions/store/scrub.js'
import type { AuditTrail } from './audit-trail.js'
import { AutoPacker } from './auto-packer.js'
import type { CleanupStack } from './cleanup-stack.js'
import { Hasher } from './hasher.js'
import { packAside } from './pack-process.js'
import { openerFor } from './reading.js'
import { Reloader } from './reloader.js'
import type { OnReload } from './reloader.js'

interface FollowingParts {
  readonly config: Config
  readonly versionsFolder: string
  readonly memoryLimitBytes: number
  readonly control: ControlStore
  readonly trail: AuditTrail
  readonly cleanup: CleanupStack
  readonly logger: FastifyBaseLogger
  readonly now: () => number
  /** Called while datasets are opened: how many are, of how many. */
  readonly onOpened?: (opened: number, datasets: number) => void
  /** Called when something new is served. */
  readonly changed: () => void
  readonly onReload?: OnReload
  /** Called when a version or a packed copy is withdrawn. */
  readonly onWithdrawn?: (dataset: string) => void
}

/** The live catalog and the parts that keep it up to date; they are not started yet. */
export interface CatalogUpdates {
  readonly live: LiveCatalog
  readonly reloader: Reloader
  readonly packer: AutoPacker
  readonly scrub: Scrub
  readonly checks: FileChecks
}

/**
 * Opens the live catalog and the parts that keep it up to date.
 * @throws RegistryError when registry.yaml can't be read
 */
export async function openCatalogUpdates(parts: FollowingParts): Promise<CatalogUpdates> {
  const { config, versionsFolder, memoryLimitBytes, control, trail, cleanup, logger, now } = parts
  const hasher = cleanup.use(new Hasher())
  const checks = new FileChecks(hasher.hash)
  const live = await LiveCatalog.open({
    registryPath: config.registry,
    openFiles: openerFor(memoryLimitBytes),
    checks,
    onLostVersion: ({ dataset, version, file, verdict, form }) => {
      logger.error({ dataset, version, file, found: verdict }, `${form} withdrawn`)
      parts.onWithdrawn?.(dataset)
      trail.record('version.withdrawn', dataset, { version, form, file, found: verdict })
      reloader.trigger()
    },
    ...(parts.onOpened && { onOpened: parts.onOpened }),
    versionsFolder,
    now,
    sold: () => liveGrants(control, now()),
  })
  const reloader: Reloader = new Reloader({
    live,
    control,
    trail,
    logger,
    now,
    changed: () => {
      parts.changed()
      packer.start()
      scrub.wake()
    },
    later: () => packer.start(),
    packingOf: (dataset) => packer.textOf(dataset),
    ...(parts.onReload && { onReload: parts.onReload }),
  })
  const packer: AutoPacker = new AutoPacker({
    live,
    packFiles: packAside,
    trail,
    logger,
    changed: () => {
      void reloader.report(true)
    },
    reload: () => reloader.reload(),
  })
  const scrub = new Scrub({ checks, files: () => live.storedFiles, days: config.scrubDays })
  for (const each of [scrub, reloader, packer]) cleanup.use(each)
  return { live, reloader, packer, scrub, checks }
}
