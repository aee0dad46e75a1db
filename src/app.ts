import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { Closers } from './app/closers.js'
import { DescriptorWatch, openFilesMax } from './app/descriptors.js'
import { openFollowing } from './app/following.js'
import { GuidesAhead } from './app/guides-ahead.js'
import { openPostman } from './app/open-mail.js'
import { defaultMemory, openEngine } from './app/reading.js'
import { openRecords } from './app/records.js'
import { prepareState } from './app/state-folder.js'
import type { Catalog } from './catalog.js'
import type { Serving } from './catalog/live/live-catalog.js'
import { rootPath } from './config.js'
import type { Config } from './config.js'
import { readKey } from './control/store/key-file.js'
import { ServerLock } from './control/store/server-lock.js'
import type { Engine } from './engine/engine.js'
import { buildServer } from './http/server.js'
import type { Door } from './http/server.js'
import { readMailSettings } from './mail/mail-settings.js'
import type { MailSettings } from './mail/mail-settings.js'
import { addMcp } from './mcp/mcp-routes.js'
import { protocolServer } from './mcp/protocol-server.js'
import { readAssets } from './portal/assets.js'
import { addPortal, sendMissingPage } from './portal/portal-routes.js'
import type { Registry } from './registry/registry.js'
import { createService } from './service.js'
import type { Service } from './service.js'
import { examplePath } from './service/first-questions.js'

export interface App {
  readonly server: FastifyInstance
  /** What is served at the moment, and the registry that is followed. */
  readonly catalog: () => Catalog
  readonly registry: () => Registry
  /**
   * Begins to watch registry and files and to send mail, and readies what first callers would wait
   * for; what fails is logged. Ends early at a stop.
   */
  readonly prepare: () => Promise<void>
  /**
   * Takes what changed of registry and files now, and waits for what is being written; with force
   * also what was refused.
   */
  readonly reload: (force?: boolean) => Promise<void>
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
  /** The folder of the portal's built script and style; without it, pages have none. */
  readonly portalFolder?: string
  /** How long a client may read nothing of an export; five minutes when left out. */
  readonly exportSilenceMs?: number
}

/** For requests in flight at the stop; then the engine interrupts what still runs. */
const finishMs = 10_000
/** For answers to what was interrupted; then their connections are cut. */
const answerMs = 1000

/**
 * Wires the house together: registry and files, control store, engine, service, doors.
 * @throws RegistryError when registry.yaml can't be read; a dataset that can't be is only reported.
 *   bad_request when mail has a server and no sender.
 */
export async function buildApp(config: Config, parts: AppParts): Promise<App> {
  const mail = readMailSettings(config)
  const closers = new Closers()
  try {
    return await openApp({ config, mail, closers, ...parts })
  } catch (cause) {
    await closers.close()
    throw cause
  }
}

interface OpenParts extends AppParts {
  readonly config: Config
  readonly mail: MailSettings | null
  readonly closers: Closers
}

async function openApp(parts: OpenParts): Promise<App> {
  const { config, closers, logger, now } = parts
  closers.add(ServerLock.take(join(resolve(config.state), 'server.lock')), (lock) => {
    lock.release()
  })
  const state = await prepareState(config.state)
  const memoryLimitBytes = config.memoryLimit ?? defaultMemory()
  const records = openRecords(state.folder, {
    ...parts,
    reopened: () => {
      void reloader.report(true)
    },
  })
  const { live, reloader, packer, scrub, checks } = await openFollowing({
    ...parts,
    ...records,
    versionsFolder: state.versions,
    memoryLimitBytes,
    changed: () => {
      void ahead.begin()
    },
  })
  const engine = closers.add(
    await openEngine({
      folders: [state.versions],
      tempFolder: state.temp,
      memoryLimitBytes,
      slots: config.querySlots,
      checks,
      withdraw: (version, reason) => {
        live.withdraw(version, reason)
        reloader.trigger()
      },
    }),
    (each) => each.close(),
  )
  const cursorKey = readKey(join(state.folder, 'cursor.key'))
  const catalog = () => live.serving.catalog
  const service = createService({ ...records, catalog, engine, cursorKey, now })
  const ahead = new GuidesAhead(service, logger)
  const postman = openPostman({
    ...parts,
    folder: state.folder,
    store: records.control,
    registry: () => live.serving.registry,
  })
  if (postman) closers.add(postman, (each) => each.close())
  const portal = {
    showcase: service.showcase,
    admitVisitor: service.admitAnonymous,
    firstPath: (dataset: string) => firstPath(live.serving, dataset),
    assets: readAssets(parts.portalFolder ?? null),
    publicUrl: config.publicUrl,
  }
  const stopping = new AbortController()
  const server = buildServer({
    service,
    logger,
    trustProxy: config.trustProxy,
    corsOrigins: config.corsOrigins,
    root: rootPath(config.publicUrl),
    doors: [
      mcpDoor(service, parts),
      (app) => {
        addPortal(app, portal)
      },
    ],
    sendMissingPage: (request, reply) => sendMissingPage(portal, request, reply),
    isReady: () => !stopping.signal.aborted && hasData(catalog()) && records.isUsable(),
    isUpToDate: () => isUpToDate(live.serving),
    isDamaged: () => live.isDamaged,
    ...(parts.exportSilenceMs !== undefined && { exportSilenceMs: parts.exportSilenceMs }),
  })
  closers.add(server, () => closeServer(server, engine))
  const descriptors = new DescriptorWatch({
    server: server.server,
    logger,
    filesMax: openFilesMax(),
    monotonicMs: () => performance.now(),
  })
  closers.add(descriptors, (each) => {
    each.close()
  })
  await reloader.report()
  const prepare = () => {
    postman?.start()
    reloader.start()
    packer.begin()
    scrub.start()
    return ahead.begin()
  }
  const close = () => {
    stopping.abort(new Error('the service is stopping'))
    ahead.close()
    // A letter under way is finished while requests are.
    void postman?.close()
    return closers.close()
  }
  const reload = (force?: boolean) => reloader.reload(force)
  return { server, catalog, registry: () => live.serving.registry, prepare, reload, close }
}

function hasData({ datasets }: Catalog): boolean {
  return [...datasets.values()].some((dataset) => dataset.version)
}

function isUpToDate({ catalog, registryReason }: Serving): boolean {
  if (registryReason !== null) return false
  return [...catalog.datasets.values()].every(({ reason }) => reason === null)
}

/** A question that the demo token can ask of a dataset. */
function firstPath({ catalog, registry }: Serving, dataset: string): string {
  return examplePath(registry, dataset, catalog.datasets.get(dataset)?.version?.columns ?? [])
}

/** Finishes what is in flight, interrupts what takes too long, and cuts who does not take it. */
async function closeServer(server: FastifyInstance, engine: Engine): Promise<void> {
  const closed = server.close()
  await settledWithin(closed, finishMs)
  await engine.close()
  await settledWithin(closed, answerMs)
  server.server.closeAllConnections()
  await closed
}

function mcpDoor(service: Service, { config, version }: OpenParts): Door {
  return (app, manners) => {
    addMcp(app, {
      ...manners,
      service,
      serverFor: (call, logFault) => protocolServer({ service, version, logFault }, call),
      hosts: hostNames(config),
    })
  }
}

/** The names that this server is called by, as far as its settings know. */
function hostNames({ host, publicUrl, allowedHosts }: Config): readonly string[] {
  const own = host.includes(':') ? `[${host}]` : host
  return [own, ...(publicUrl === null ? [] : [new URL(publicUrl).hostname]), ...allowedHosts]
}

/** Waits for `work` to end, in whatever way, and no longer than this. */
async function settledWithin(work: PromiseLike<unknown>, ms: number): Promise<void> {
  const limit = new AbortController()
  const late = setTimeout(ms, undefined, { signal: limit.signal })
  await Promise.allSettled([Promise.race([work, late])])
  limit.abort()
  await Promise.allSettled([late])
}
