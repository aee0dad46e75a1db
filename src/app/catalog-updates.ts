import type { FastifyBaseLogger } from 'fastify'
import { LiveCatalog } from '../catalog/live/live-catalog.js'
import type { Config } from '../config.js'
import { liveGrants } from '../control/grants.js'
import type { ControlStore } from '../control/store/store.js'
import { FileChecks } from '../versions/store/file-checks.js'
import { Scrub } from '../versions/store/scrub.js'
import { AutoPacker } from './auto-packer.js'
import type { CleanupStack } from './cleanup-stack.js'
import { Hasher } from './hasher.js'
import { packAside } from './pack-process.js'
import { openerFor } from './reading.js'
import { Reloader } from './reloader.js'

interface FollowingParts {
  readonly config: Config
  readonly versionsFolder: string
  readonly memoryLimitBytes: number
  readonly control: ControlStore
  readonly closers: CleanupStack
  readonly logger: FastifyBaseLogger
  readonly now: () => number
  /** Something else is served than before. */
  readonly changed: () => void
}

/** The catalog of a server, and what keeps it up to date; at rest until they are started. */
export interface CatalogUpdates {
  readonly live: LiveCatalog
  readonly reloader: Reloader
  readonly packer: AutoPacker
  readonly scrub: Scrub
  readonly checks: FileChecks
}

/**
 * Opens the catalog and those who follow registry and files for it.
 * @throws RegistryError when registry.yaml can't be read
 */
export async function openCatalogUpdates(parts: FollowingParts): Promise<CatalogUpdates> {
  const { config, versionsFolder, memoryLimitBytes, control, closers, logger, now } = parts
  const hasher = closers.add(new Hasher(), (each) => each.close())
  const checks = new FileChecks(hasher.hash)
  const live = await LiveCatalog.open({
    registryPath: config.registry,
    openFiles: openerFor(memoryLimitBytes),
    checks,
    lost: ({ dataset, version, file, verdict }) => {
      logger.error({ dataset, version, file, found: verdict }, 'version withdrawn')
      reloader.trigger()
    },
    versionsFolder,
    now,
    sold: () => liveGrants(control, now()),
  })
  const reloader = new Reloader({
    live,
    control,
    logger,
    now,
    changed: () => {
      parts.changed()
      packer.begin()
      scrub.wake()
    },
    later: () => {
      packer.begin()
    },
    packingOf: (dataset) => packer.textOf(dataset),
  })
  const packer = new AutoPacker({
    live,
    packFiles: packAside,
    logger,
    changed: () => {
      void reloader.report(true)
    },
  })
  const scrub = new Scrub({ checks, files: () => live.storedFiles, days: config.scrubDays })
  closers.add(scrub, (each) => {
    each.close()
  })
  closers.add(reloader, (each) => each.close())
  closers.add(packer, (each) => each.close())
  return { live, reloader, packer, scrub, checks }
}
