import { join, resolve } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { openCatalogUpdates } from './app/catalog-updates.js'
import type { CatalogUpdates } from './app/catalog-updates.js'
import { CleanupStack } from './app/cleanup-stack.js'
import { GuideWarmer } from './app/guide-warmer.js'
import { Metrics } from './app/metrics/metrics.js'
import { serveMetrics } from './app/metrics/serve-metrics.js'
import { openLetterSender } from './app/open-mail.js'
import { openServer } from './app/open-server.js'
import { openShop } from './app/shop/open-shop.js'
import { openEngine, openTrino } from './app/reading.js'
import { openRecords } from './app/records/open-records.js'
import { openSignIn } from './app/sign-in/open-sign-in.js'
import type { Reloader } from './app/reloader.js'
import { prepareState } from './app/state-folder.js'
import type { StateFolder } from './app/state-folder.js'
import type { Catalog } from './catalog.js'
import type { Clock } from './clock.js'
import type { Config } from './config.js'
import { keyOf } from './control/keys.js'
import { ServerLock } from './control/store/server-lock.js'
import { DispatchEngine } from './engine/dispatch-engine.js'
import type { DuckDbEngine } from './engine/duckdb/duckdb-engine.js'
import type { LetterSender } from './sales/letters/letter-sender.js'
import { defaultMemory } from './machine.js'
import { readMailSettings } from './sales/letters/mail-settings.js'
import type { MailSettings } from './sales/letters/mail-settings.js'
import type { Mailer } from './sales/letters/mailer.js'
import type { Random } from './random.js'
import type { Registry } from './registry/registry.js'
import { createService } from './service.js'
import type { PackFiles } from './versions/packing/packer.js'

export interface App {
  readonly server: FastifyInstance
  /** The catalog and the registry that are served now. */
  readonly catalog: () => Catalog
  readonly registry: () => Registry
  /**
   * Starts to watch registry and files and to send mail, and makes the guides of all datasets.
   * Failures are logged. Ends early at a stop.
   */
  readonly prepare: () => Promise<void>
  /**
   * Applies the changes of registry and files now; waits while a file is being written. With
   * `force`, also changes that were refused.
   */
  readonly reload: (force?: boolean) => Promise<void>
  /** Serves on for this long, while `/readyz` and `Connection: close` send clients elsewhere. */
  readonly drain: (ms: number) => Promise<void>
  /**
   * Accepts no more requests, waits at most ten seconds for those in flight and for the letter
   * that is being sent, interrupts the rest,
   * then closes the engine and the store.
   */
  readonly close: () => Promise<void>
}

export interface AppParts {
  readonly logger: FastifyBaseLogger
  readonly clock: Clock
  readonly random: Random
  /** The version in package.json. */
  readonly version: string
  /** The folder of the portal's built script and style; without it, pages have none. */
  readonly portalFolder?: string
  /** Called while datasets are opened: how many are, of how many. */
  readonly onOpened?: (opened: number, datasets: number) => void
  /** Sends letters; over SMTP when left out. */
  readonly mailer?: Mailer
  /** Packs files; in a separate process when left out. */
  readonly packFiles?: PackFiles
}

/**
 * Wires everything together: registry and files, control store, engine, service, doors.
 * @throws RegistryError when registry.yaml can't be read; a dataset that can't be opened is only
 *   reported. bad_request when mail has a server but no sender.
 */
export async function buildApp(config: Config, parts: AppParts): Promise<App> {
  const mail = readMailSettings(config)
  const cleanup = new CleanupStack()
  try {
    return await openApp({ config, mail, cleanup, ...parts })
  } catch (cause) {
    await cleanup.close()
    throw cause
  }
}

interface OpenParts extends AppParts {
  readonly config: Config
  readonly mail: MailSettings | null
  readonly cleanup: CleanupStack
}

/** What a newly served version asks for, beside requests. */
function followChange(guides: GuideWarmer, engine: DuckDbEngine, logger: FastifyBaseLogger): void {
  void guides.start()
  engine.instances.forgetFiles().catch((cause: unknown) => {
    logger.warn({ err: cause }, 'parts of replaced files stay in memory')
  })
}

async function openApp(given: OpenParts): Promise<App> {
  const { config, cleanup, logger, clock } = given
  const metrics = config.metricsPort === null ? null : new Metrics()
  const parts = { ...given, ...metrics?.hooks }
  const state = await openState(config.state, cleanup)
  const memoryLimitBytes = config.memoryLimit ?? defaultMemory()
  const records = await openRecords(config.controlUrl, state.folder, {
    ...parts,
    reopened: () => {
      void reloader.reportAll()
    },
  })
  const updates = await openCatalogUpdates({
    ...parts,
    ...records,
    versionsFolder: state.versions,
    memoryLimitBytes,
    changed: () => {
      followChange(guides, engine, logger)
    },
  })
  const { live, reloader, packer, scrub, checks, space } = updates
  const engine = await openServingEngine({
    ...updates,
    ...state,
    ...{ clock, memoryLimitBytes, cleanup },
    slots: config.querySlots,
  })
  const cursorKey = await keyOf(records.control, state.folder, 'cursor.key')
  const catalog = () => live.serving.catalog
  const registry = () => live.serving.registry
  const tables = cleanup.use(openTrino(config, clock))
  const engines = new DispatchEngine(engine, tables)
  const service = createService({ ...records, catalog, engine: engines, cursorKey, clock })
  const guides = new GuideWarmer(service, logger)
  const { control: store, isUsable, jobs } = records
  const stop = new AbortController()
  const isStopping = () => stop.signal.aborted
  const letterParts = { ...parts, folder: state.folder, store, jobs, registry }
  const letters = await openLetterSender(letterParts)
  if (letters) cleanup.use(letters)
  const entry = await openSignIn({ ...letterParts, ...records, catalog, letters })
  const { shop, upkeep } = await openShop({ ...letterParts, letters })
  const own = { ...entry, shop, cursorKey, memoryLimitBytes }
  const served = { ...parts, ...own, service, live, engine, tables, space, isUsable, isStopping }
  const server = openServer({ ...served, engine: engines })
  if (metrics) await serveMetrics(metrics, { ...served, checks, control: store })
  records.start()
  await reloader.report()
  const noteStart = () =>
    records.trail.record('server.started', 'server', { release: parts.version })
  const upkeeps = [upkeep, reloader, packer, scrub]
  const starting = [{ start: noteStart }, ...(letters ? [letters] : []), ...upkeeps]
  return {
    server,
    catalog,
    registry,
    ...lifeOf({ cleanup, clock, reloader, guides, letters, stop, starting }),
  }
}

interface LifeParts {
  readonly cleanup: CleanupStack
  readonly clock: Clock
  readonly reloader: Reloader
  readonly guides: GuideWarmer
  readonly letters: LetterSender | null
  /** Aborted at the begin of a stop. */
  readonly stop: AbortController
  readonly starting: readonly { readonly start: () => void }[]
}

/** What begins and ends an app. */
function lifeOf(parts: LifeParts): Pick<App, 'prepare' | 'reload' | 'drain' | 'close'> {
  const { cleanup, clock, reloader, guides, letters, stop, starting } = parts
  return {
    prepare: () => {
      for (const each of starting) each.start()
      return guides.start()
    },
    reload: (force) => reloader.reload(force),
    drain: async (ms) => {
      stop.abort()
      await clock.sleep(ms)
    },
    close: () => {
      stop.abort()
      guides.close()
      void letters?.close()
      return cleanup.close()
    },
  }
}

interface EngineParts extends Pick<CatalogUpdates, 'live' | 'reloader' | 'checks'>, StateFolder {
  readonly clock: Clock
  readonly memoryLimitBytes: number
  readonly slots: number | null
  readonly cleanup: CleanupStack
}

/** Opens the engine over the versions; a version that breaks it is withdrawn. */
async function openServingEngine(parts: EngineParts): Promise<DuckDbEngine> {
  const { live, reloader, checks, versions, temp, clock, memoryLimitBytes, slots } = parts
  const { cleanup } = parts
  const engine = await openEngine({
    clock,
    folders: [versions],
    tempFolder: temp,
    memoryLimitBytes,
    slots,
    checks,
    withdraw: (version, reason) => {
      live.withdraw(version, reason)
      reloader.trigger()
    },
  })
  return cleanup.use(engine)
}

/** Reserves the state folder for this server, then prepares it. */
function openState(stateFolder: string, cleanup: CleanupStack): ReturnType<typeof prepareState> {
  cleanup.adopt(ServerLock.take(join(resolve(stateFolder), 'server.lock')), (lock) => {
    lock.release()
  })
  return prepareState(stateFolder)
}
