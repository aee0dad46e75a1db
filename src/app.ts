import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { openCatalogUpdates } from './app/catalog-updates.js'
import type { CatalogUpdates } from './app/catalog-updates.js'
import { CleanupStack } from './app/cleanup-stack.js'
import { countRefusals, openRefusals } from './app/count-refusals.js'
import { GuideWarmer } from './app/guide-warmer.js'
import { Hook } from './app/hook.js'
import { serveMetrics } from './app/metrics-server.js'
import { Metrics, uncounted } from './app/metrics.js'
import { ThreadNameFinder } from './app/name-finder.js'
import { openSales } from './app/open-sales.js'
import type { Sales } from './app/open-sales.js'
import { openServer } from './app/open-server.js'
import { openState } from './app/open-state.js'
import type { StateFolder } from './app/open-state.js'
import { openEngine, openTrino } from './app/reading.js'
import type { Engines } from './app/reading.js'
import { openFileRecords } from './app/records/file-records.js'
import type { Records, RecordsParts } from './app/records/file-records.js'
import { openSharedRecords } from './app/records/shared-records.js'
import type { ServerBase } from './app/server-base.js'
import type { Catalog } from './catalog.js'
import type { Clock } from './clock.js'
import type { Config } from './config.js'
import type { RefusalCounts } from './control/refusals.js'
import { dispatchEngine } from './engine/dispatch-engine.js'
import type { DuckDbEngine } from './engine/duckdb/duckdb-engine.js'
import type { ServingInstance } from './engine/duckdb/serving.js'
import { defaultMemory } from './machine.js'
import type { Random } from './random.js'
import type { Registry } from './registry/registry.js'
import { readMailSettings } from './sales/letters/mail-settings.js'
import type { MailSettings } from './sales/letters/mail-settings.js'
import type { Mailer } from './sales/letters/mailer.js'
import type { HostOptions } from './sales/public-host.js'
import { createService } from './service.js'
import type { Service } from './service.js'
import type { ChangeSets } from './versions/changes/change-sets.js'
import type { MakeForms } from './versions/forms/forms-order.js'
import type { HashFile } from './versions/hash-file.js'
import type { FileChecks } from './versions/store/file-checks.js'
import type { OpenFiles } from './versions/opener.js'

export interface App {
  readonly server: FastifyInstance
  /** The catalog and the registry that are served now. */
  readonly catalog: () => Catalog
  readonly registry: () => Registry
  /** Starts the engine before the first question; what can't start now starts with a later one. */
  readonly startEngine: () => Promise<void>
  /**
   * Starts to watch registry and files and to send mail, and makes the guides of all datasets.
   * Failures are logged. Ends early at a stop.
   */
  readonly prepare: () => Promise<void>
  /**
   * Applies the changes of registry and files now, with `force` also those that were refused; waits
   * while a file is being written.
   */
  readonly reload: (force?: boolean) => Promise<void>
  /** Serves on for this long, while `/readyz` and `Connection: close` send clients elsewhere. */
  readonly drain: (ms: number) => Promise<void>
  /**
   * Accepts no more requests, waits at most ten seconds for those in flight and for the letter that
   * is being sent, interrupts the rest, then closes the engine and the store.
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
  /** How receivers of webhooks are found; left out = public addresses only. */
  readonly receivers?: HostOptions
  /** Makes forms of files; in a separate process when left out. */
  readonly makeForms?: MakeForms
  /** Opens and hashes files; in sandboxes and on a thread of its own when left out. */
  readonly openFiles?: (memoryLimitBytes: number) => OpenFiles
  readonly hashFile?: HashFile
}

/**
 * Wires everything together: registry and files, control store, engine, service, doors.
 * @throws RegistryError when registry.yaml can't be read; a dataset that can't be opened is only
 *   reported. bad_request when mail has a server but no sender.
 */
export async function buildApp(config: Config, parts: AppParts): Promise<App> {
  const mail = readMailSettings(config)
  const { logger, clock, random } = parts
  const cleanup = new CleanupStack()
  try {
    return await openApp({ config, logger, clock, random, cleanup }, mail, parts)
  } catch (cause) {
    await cleanup.close()
    throw cause
  }
}

/** Builds every part, the later ones on the earlier ones; `prepare` starts those that run. */
async function openApp(
  base: ServerBase,
  mail: MailSettings | null,
  { version, portalFolder, onOpened, mailer, receivers, ...readers }: AppParts,
): Promise<App> {
  const { config, cleanup, logger } = base
  const metrics = config.metricsPort === null ? null : new Metrics()
  const metricHooks = metrics?.hooks ?? uncounted
  const memoryLimitBytes = config.memoryLimit ?? defaultMemory()
  const state = await openState(config.state, cleanup)
  const reportAgain = new Hook<void>(() => undefined)
  const { folder, versions: versionsFolder, sets } = state
  const { onSync, onAttempt } = metricHooks
  const records = await openRecords(base, { folder, reopened: reportAgain.call, onSync })
  const newlyServed = new Hook<void>(() => undefined)
  const updates = await openCatalogUpdates(base, {
    ...{ versionsFolder, tempFolder: state.temp, sets, memoryLimitBytes },
    records,
    metricHooks,
    onOpened,
    onServed: newlyServed.call,
    makeForms: readers.makeForms,
    openFiles: readers.openFiles,
    hashFile: readers.hashFile,
  })
  const { live, reloader } = updates
  reportAgain.connect(() => {
    void reloader.reportAll()
  })
  const engines = await openEngines(base, state, updates, memoryLimitBytes)
  const catalog = () => live.serving.catalog
  const registry = () => live.serving.registry
  const service = openService(base, records, { catalog, engines, sets, checks: updates.checks })
  const guides = new GuideWarmer(service, logger)
  const refusals = cleanup.use(openRefusals(base, records.control))
  const outward = { mail, mailer, receivers, onAttempt, hasChanged: service.hasWatchedChange }
  const sales = openSales(base, { catalog, registry, records, ...outward })
  newlyServed.connect(() => followChange(guides, engines.files, logger))
  const stop = new AbortController()
  const server = openServer(base, {
    version,
    portalFolder,
    memoryLimitBytes,
    records,
    live,
    engine: engines.all,
    service,
    sales,
    isStopping: () => stop.signal.aborted,
    onRequest: countRefusals(refusals, metricHooks.onRequest),
  })
  if (metrics) await serveMetrics(base, metrics, { engines, updates, records, service, version })
  records.start()
  await reloader.report()
  updates.changeMaker.start()
  const noteStart = () => records.trail.record('server.started', 'server', { release: version })
  const { instances } = engines.files
  const life = { noteStart, updates, sales, refusals, guides, instances, stop }
  return { server, catalog, registry, ...lifeOf(base, life) }
}

interface LifeParts {
  /** Records the start in the audit trail. */
  readonly noteStart: () => void
  readonly updates: CatalogUpdates
  readonly sales: Sales
  readonly refusals: RefusalCounts
  readonly guides: GuideWarmer
  readonly instances: readonly ServingInstance[]
  /** Aborted at the begin of a stop. */
  readonly stop: AbortController
}

/** Starts what runs by itself, and ends all. */
function lifeOf(
  { cleanup, clock }: ServerBase,
  { noteStart, updates, sales, refusals, guides, instances, stop }: LifeParts,
): Pick<App, 'startEngine' | 'prepare' | 'reload' | 'drain' | 'close'> {
  const { reloader, packer, scrub } = updates
  return {
    startEngine: async () => {
      await Promise.allSettled(instances.map((each) => each.start()))
    },
    prepare: () => {
      noteStart()
      for (const part of [...sales.running, refusals, reloader, packer, scrub]) part.start()
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
      void sales.letters?.close()
      return cleanup.close()
    },
  }
}

/**
 * Opens the records: control.db in the state folder, or the PostgreSQL of several servers.
 * @throws Error, for the operator, when they can't be used
 */
function openRecords(base: ServerBase, parts: RecordsParts): Promise<Records> {
  const { controlUrl } = base.config
  return controlUrl === null
    ? openFileRecords(base, parts)
    : openSharedRecords(controlUrl, base, parts)
}

/** Opens the engines; a version that breaks the one of files is withdrawn. */
async function openEngines(
  { config, cleanup, clock }: ServerBase,
  { versions, changes, temp }: StateFolder,
  { live, reloader, checks, copies }: CatalogUpdates,
  memoryLimitBytes: number,
): Promise<Engines> {
  const files = await openEngine({
    clock,
    folders: [versions, changes],
    tempFolder: temp,
    memoryLimitBytes,
    slots: config.querySlots,
    checks,
    copies,
    withdraw: (version, reason) => {
      live.withdraw(version, reason)
      reloader.trigger()
    },
  })
  cleanup.use(files)
  const tables = cleanup.use(openTrino(config, clock))
  return { files, tables, all: dispatchEngine(files, tables) }
}

/** What the service reads. */
interface ReadParts {
  readonly catalog: () => Catalog
  readonly engines: Engines
  readonly sets: ChangeSets
  readonly checks: FileChecks
}

function openService(
  { clock, cleanup }: ServerBase,
  { control, charges, reads, lastUsed, rates, keys }: Records,
  { catalog, engines, sets, checks }: ReadParts,
): Service {
  const names = cleanup.use(new ThreadNameFinder(checks))
  return createService({
    names,
    control,
    charges,
    reads,
    lastUsed,
    rates,
    cursorKey: keys.cursor,
    catalog,
    engine: engines.all,
    changes: { control, sets, read: (asked, options) => engines.files.changes(asked, options) },
    clock,
  })
}

/** What a newly served version asks for, beside requests. */
function followChange(guides: GuideWarmer, engine: DuckDbEngine, logger: FastifyBaseLogger): void {
  void guides.start()
  Promise.all(engine.instances.map((each) => each.forgetFiles())).catch((cause: unknown) => {
    logger.warn({ err: cause }, 'parts of replaced files stay in memory')
  })
}
