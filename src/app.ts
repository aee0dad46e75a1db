import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { ChargeQueue } from './access/charge-queue.js'
import { openCatalog, readRegistry, versionsFolderOf } from './catalog/catalog.js'
import type { Catalog } from './catalog/catalog.js'
import type { OpenFiles } from './catalog/opener.js'
import type { Registry } from './catalog/registry.js'
import type { Reader } from './cli/parts.js'
import { baseUrl } from './cli/example.js'
import type { Config } from './config.js'
import { ChargeStore } from './control/charge-store.js'
import { saveDatasetStates } from './control/dataset-state.js'
import { readKey } from './control/key-file.js'
import { LastUsed } from './control/last-used.js'
import { ServerLock } from './control/server-lock.js'
import { ControlStore } from './control/store.js'
import { WriteHealth } from './control/write-health.js'
import { DuckDbEngine } from './engine/duckdb/duckdb-engine.js'
import { duckDbOpener } from './engine/duckdb/opener.js'
import { buildServer } from './http/server.js'
import { readMailSettings } from './mail/mail-settings.js'
import type { MailSettings } from './mail/mail-settings.js'
import { Postman } from './mail/postman.js'
import { smtpMailer } from './mail/smtp.js'
import { addMcp } from './mcp/door.js'
import { protocolServer } from './mcp/server.js'
import { createService } from './service.js'

export interface App {
  readonly server: FastifyInstance
  readonly catalog: Catalog
  /**
   * Readies what first callers would wait for, and begins to send mail; what fails is logged. Ends
   * early at a stop.
   */
  readonly prepare: () => Promise<void>
  /**
   * Stops taking requests, waits for those in flight, ten seconds at most, interrupts the rest,
   * then stops the engine and the store.
   */
  readonly close: () => Promise<void>
}

export interface AppParts {
  readonly logger: FastifyBaseLogger
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The product's own, as package.json has it. */
  readonly version: string
}

/** For requests in flight at the stop; then the engine interrupts what still runs. */
const finishMs = 10_000
/** For answers to what was interrupted; then their connections are cut. */
const answerMs = 1000
const memoryShare = 0.6
const openerMemoryShare = 0.25
const queueMax = 256
/** Half of the usual time for a request: who has waited so long is told to come again. */
const waitMaxMs = 5000
/** How long a lock on control.db may hold up the whole server; charges wait longer in between. */
const busyTimeoutMs = 50

/**
 * Wires the house together: registry and files, control store, engine, service, doors.
 * @throws RegistryError when registry.yaml can't be read; a dataset that can't be is only reported.
 *   bad_request when mail has a server and no sender.
 */
export async function buildApp(config: Config, parts: AppParts): Promise<App> {
  const mail = readMailSettings(config)
  const registry = await readRegistry(config.registry)
  const lock = ServerLock.take(join(resolve(config.state), 'server.lock'))
  try {
    const app = await openApp(config, registry, mail, parts)
    const close = async () => {
      await app.close()
      lock.release()
    }
    return { ...app, close }
  } catch (cause) {
    lock.release()
    throw cause
  }
}

async function openApp(
  config: Config,
  registry: Registry,
  mail: MailSettings | null,
  { logger, now, version }: AppParts,
): Promise<App> {
  const state = await prepareState(config.state)
  const memoryLimitBytes = config.memoryLimit ?? defaultMemory()
  const catalog = await openCatalog(registry, {
    openFiles: openerFor(memoryLimitBytes),
    versionsFolder: state.versions,
  })
  const control = ControlStore.open(join(state.folder, 'control.db'))
  reportDatasets(catalog, control, logger, now())
  const engine = await DuckDbEngine.open({
    folders: [state.versions],
    tempFolder: state.temp,
    memoryLimitBytes,
    threads: availableParallelism(),
    slots: config.querySlots ?? availableParallelism(),
    queueMax,
    waitMaxMs,
  })
  control.setBusyTimeout(busyTimeoutMs)
  const chargeStore = ChargeStore.open(join(state.folder, 'control.db'), { busyTimeoutMs })
  const charges = new ChargeQueue(chargeStore)
  const lastUsed = new LastUsed(control, now, (cause) => {
    logger.warn({ err: cause }, 'the last uses of tokens are not noted for now')
  })
  const health = writeHealth(control, chargeStore, logger)
  const service = createService({
    catalog: () => catalog,
    control,
    charges,
    lastUsed,
    engine,
    cursorKey: readKey(join(state.folder, 'cursor.key')),
    now,
  })
  let isOpen = true
  const server = buildServer({
    service,
    logger,
    trustProxy: config.trustProxy,
    doors: [
      (app, visitOf) =>
        addMcp(app, {
          service,
          serverFor: (call, logFault) => protocolServer({ service, version, logFault }, call),
          hosts: hostNames(config),
          visitOf,
        }),
    ],
    isReady: () =>
      isOpen &&
      [...catalog.datasets.values()].some((dataset) => dataset.version) &&
      health.isWritable(),
  })
  const postman =
    mail &&
    new Postman({
      store: control,
      mailer: smtpMailer(mail.smtp, mail.sender),
      key: readKey(join(state.folder, 'mail.key')),
      registry: () => registry,
      base: baseUrl(config),
      now,
      logger,
    })
  if (mail && config.publicUrl === null) {
    logger.warn({ address: baseUrl(config) }, 'letters point to this address: set DAS_PUBLIC_URL')
  }
  const stopping = new AbortController()
  const prepare = () => {
    postman?.start()
    return service.prepare(stopping.signal, ({ dataset, cause }) => {
      logger.warn({ dataset, err: cause }, 'no guide for agents yet')
    })
  }
  const close = async () => {
    isOpen = false
    stopping.abort(new Error('the service is stopping'))
    const mailed = postman?.close()
    const closed = server.close()
    await settledWithin(closed, finishMs)
    await engine.close()
    await settledWithin(closed, answerMs)
    server.server.closeAllConnections()
    await closed
    await charges.close()
    await mailed
    lastUsed.close()
    control.close()
  }
  return { server, catalog, prepare, close }
}

/** Whether control.db takes writes; the log says once when it no longer does, and when it does. */
function writeHealth(
  control: ControlStore,
  charges: ChargeStore,
  logger: FastifyBaseLogger,
): WriteHealth {
  return new WriteHealth([control, charges], {
    now: () => performance.now(),
    report: (failure) => {
      if (failure) logger.error({ err: failure.cause }, 'control.db takes no writes')
      else logger.info('control.db takes writes again')
    },
  })
}

/** The names that this server is called by, as far as its settings know. */
function hostNames({ host, publicUrl, allowedHosts }: Config): readonly string[] {
  const own = host.includes(':') ? `[${host}]` : host
  return [own, ...(publicUrl === null ? [] : [new URL(publicUrl).hostname]), ...allowedHosts]
}

/** Opens Parquet files beside an engine of this much memory; null = as much as by default. */
export function openerFor(memoryLimitBytes: number | null): OpenFiles {
  return duckDbOpener(Math.floor((memoryLimitBytes ?? defaultMemory()) * openerMemoryShare))
}

/**
 * Opens one dataset where its files lie, to read it beside the server; where that can't be, it has
 * a reason. Of the others the catalog knows what the registry says.
 */
export async function openReader(
  registry: Registry,
  dataset: string,
  memoryLimitBytes: number | null,
): Promise<Reader> {
  const options = { openFiles: openerFor(memoryLimitBytes), versionsFolder: null }
  const catalog = await openCatalog(registry, options, dataset)
  const files = catalog.datasets.get(dataset)?.version?.files ?? []
  const temp = await mkdtemp(join(tmpdir(), 'das-read-'))
  const engine = await DuckDbEngine.open({
    folders: [...new Set(files.map(({ path }) => dirname(path)))],
    tempFolder: temp,
    memoryLimitBytes: Math.floor((memoryLimitBytes ?? defaultMemory()) * openerMemoryShare),
    threads: availableParallelism(),
    slots: 1,
    queueMax,
    waitMaxMs,
  })
  const close = async () => {
    await engine.close()
    await rm(temp, { recursive: true, force: true })
  }
  return { catalog, engine, close }
}

/** A share of what this process may use: the cgroup's limit where there is one, else the machine's. */
function defaultMemory(): number {
  const limit = process.constrainedMemory()
  return Math.floor((limit > 0 && limit < totalmem() ? limit : totalmem()) * memoryShare)
}

/** Waits for `work` to end, in whatever way, and no longer than this. */
async function settledWithin(work: PromiseLike<unknown>, ms: number): Promise<void> {
  const limit = new AbortController()
  const late = setTimeout(ms, undefined, { signal: limit.signal })
  await Promise.allSettled([Promise.race([work, late])])
  limit.abort()
  await Promise.allSettled([late])
}

async function prepareState(folder: string) {
  const state = { folder: resolve(folder), versions: versionsFolderOf(folder), temp: '' }
  state.temp = join(state.folder, 'tmp')
  await mkdir(state.folder, { recursive: true, mode: 0o700 })
  await rm(state.temp, { recursive: true, force: true })
  await mkdir(state.temp, { mode: 0o700 })
  await mkdir(state.versions, { recursive: true, mode: 0o700 })
  return state
}

/** What became of each dataset goes to the log, and to the store where `das dataset list` reads. */
function reportDatasets(
  catalog: Catalog,
  control: ControlStore,
  logger: FastifyBaseLogger,
  updatedAt: number,
): void {
  const datasets = [...catalog.datasets.values()]
  for (const { name, version, reason } of datasets) {
    if (version) logger.info({ dataset: name, version: version.id, rows: version.rows }, 'serving')
    else logger.error({ dataset: name, reason }, 'dataset unavailable')
  }
  saveDatasetStates(
    control,
    datasets.map(({ name, version, reason }) => ({
      dataset: name,
      version: version?.id ?? null,
      status: version ? 'serving' : 'unavailable',
      reason,
      rows: version?.rows ?? null,
      updatedAt,
    })),
  )
}
