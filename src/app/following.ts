import type { FastifyBaseLogger } from 'fastify'
import { LiveCatalog } from '../catalog/live-catalog.js'
import type { Config } from '../config.js'
import { liveGrants } from '../control/grants.js'
import type { ControlStore } from '../control/store.js'
import { AutoPacker } from './auto-packer.js'
import type { Closers } from './closers.js'
import { packAside } from './packing.js'
import { openerFor } from './reading.js'
import { Reloader } from './reloader.js'

interface FollowingParts {
  readonly config: Config
  readonly versionsFolder: string
  readonly memoryLimitBytes: number
  readonly control: ControlStore
  readonly closers: Closers
  readonly logger: FastifyBaseLogger
  readonly now: () => number
  /** Something else is served than before. */
  readonly changed: () => void
}

/** The catalog of a server, and what keeps it up to date; at rest until they are started. */
export interface Following {
  readonly live: LiveCatalog
  readonly reloader: Reloader
  readonly packer: AutoPacker
}

/**
 * Opens the catalog and those who follow registry and files for it.
 * @throws RegistryError when registry.yaml can't be read
 */
export async function openFollowing(parts: FollowingParts): Promise<Following> {
  const { config, versionsFolder, memoryLimitBytes, control, closers, logger, now } = parts
  const live = await LiveCatalog.open({
    registryPath: config.registry,
    openFiles: openerFor(memoryLimitBytes),
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
  closers.add(reloader, (each) => each.close())
  closers.add(packer, (each) => each.close())
  return { live, reloader, packer }
}
