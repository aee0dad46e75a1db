import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Catalog } from '../catalog.js'
import type { LiveCatalog, Serving } from '../catalog/live/live-catalog.js'
import type { Clock } from '../clock.js'
import type { Config } from '../config.js'
import { isReportProof, writeReport } from '../control/server-report.js'
import type { Engine } from '../engine/engine.js'
import type { OnRequest } from '../http/request-log/request-log.js'
import type { ReportTo } from '../http/routes.js'
import { addPaymentHook } from '../sales/orders/routes/payment-route.js'
import { buildServer } from '../http/server.js'
import { addSignIn, hasSlash } from '../sales/agents/routes/sign-in-routes.js'
import type { Door } from '../http/server.js'
import { addMcp } from '../mcp/mcp-routes.js'
import { protocolServer } from '../mcp/protocol-server.js'
import { addAccount } from '../sales/account/account-routes.js'
import { readAssets } from '../portal/assets.js'
import { addPortal, sendProblemPage } from '../portal/portal-routes.js'
import type { PortalParts } from '../portal/portal-routes.js'
import { planWay } from '../sales/orders/pages/plan-way.js'
import { addShop } from '../sales/orders/pages/shop-routes.js'
import { addConsent } from '../sales/agents/pages/consent-routes.js'
import type { Service } from '../service.js'
import type { Shop } from '../sales/orders/shop.js'
import { examplePath } from '../service/first-questions.js'
import { issuerFor } from '../sales/agents/issuer.js'
import type { SignInPlace } from '../sales/agents/issuer.js'
import { signInChallenge, signInPaths } from '../sales/agents/resource.js'
import type { SignIn } from '../sales/agents/sign-in.js'
import type { CleanupStack } from './cleanup-stack.js'
import { machineMemory, openFilesLimit } from '../machine.js'
import type { Random } from '../random.js'
import { DescriptorWatch } from './descriptors.js'

interface ServerParts {
  readonly logger: FastifyBaseLogger
  readonly version: string
  readonly portalFolder?: string
  readonly config: Config
  readonly cleanup: CleanupStack
  readonly service: Service
  readonly shop: Shop
  readonly live: LiveCatalog
  readonly engine: Engine
  readonly signIn: SignIn
  readonly signInPlace: SignInPlace
  /** False while control.db can't be read or written. */
  readonly isUsable: () => Promise<boolean>
  /** True from the begin of a stop on. */
  readonly isStopping: () => boolean
  readonly onRequest?: OnRequest
  /** Reports prove that they are asked for by a reader of this key. */
  readonly cursorKey: Uint8Array
  readonly memoryLimitBytes: number
  readonly clock: Clock
  readonly random: Random
}

/** Time for the requests in flight at a stop; then the engine interrupts their queries. */
const finishMs = 10_000
/** Time to send the answers of interrupted requests; then their connections are closed. */
const answerMs = 1000

/** The HTTP server with REST, MCP and the portal. It does not listen yet. */
export function openServer(parts: ServerParts): FastifyInstance {
  const { config, cleanup, service, live, engine, logger, clock, random } = parts
  const { shop } = parts
  const portal: PortalParts = {
    showcase: service.showcase,
    admitVisitor: service.admitAnonymous,
    firstPath: (dataset) => firstPath(live.serving, dataset),
    assets: readAssets(parts.portalFolder ?? null),
    publicUrl: config.publicUrl,
    planWay: (context, dataset) => planWay(context, shop.offer(), dataset),
  }
  const selling = { ...portal, shop, service }
  const server = buildServer({
    service,
    logger,
    clock,
    random,
    trustProxy: config.trustProxy,
    corsOrigins: config.corsOrigins,
    publicUrl: config.publicUrl,
    doors: [
      ...signInDoors(parts, portal),
      mcpDoor(parts),
      (app, httpParts) => {
        addPortal(app, portal)
        addAccount(app, { ...selling, ...httpParts })
        addShop(app, { ...selling, ...httpParts })
        const { readBody } = httpParts
        addPaymentHook(app, { ...selling, readBody, now: clock.now, secret: config.paymentSecret })
      },
    ],
    sendProblemPage: (error, request, reply) => sendProblemPage(portal, error, request, reply),
    isReady: async () =>
      hasData(live.serving.catalog) && !parts.isStopping() && (await parts.isUsable()),
    isStopping: parts.isStopping,
    isUpToDate: () => isUpToDate(live.serving),
    isDamaged: () => live.isDamaged,
    reportTo: reporter(parts),
    ...(parts.onRequest && { onRequest: parts.onRequest }),
  })
  cleanup.adopt(server, () => closeServer(server, engine, clock))
  const filesMax = openFilesLimit()?.soft ?? null
  cleanup.use(new DescriptorWatch({ server: server.server, logger, filesMax, clock }))
  return server
}

/** Reports on the server to `das doctor`. */
function reporter({ config, cursorKey, memoryLimitBytes, clock, version }: ServerParts): ReportTo {
  const { trustProxy } = config
  const known = { version, memoryLimitBytes, machineBytes: machineMemory(), trustProxy }
  const openFiles = openFilesLimit()
  return (proof, request) => {
    if (!isReportProof(proof, cursorKey, clock.now())) return null
    return writeReport({ ...known, trustProxy: [...trustProxy], openFiles, request })
  }
}

/** The endpoints and the page of the sign-in; none where agents can't sign in. */
function signInDoors(
  { service, signIn, signInPlace }: ServerParts,
  { assets, publicUrl }: Pick<PortalParts, 'assets' | 'publicUrl'>,
): readonly Door[] {
  if (signInPlace.kind === 'none') return []
  const parts = {
    signIn,
    issuerFor: (host: string | undefined) => issuerFor(signInPlace, host),
    admitVisitor: service.admitAnonymous,
  }
  return [
    (app) => {
      addSignIn(app, parts)
    },
    (app, { readBody }) => {
      addConsent(app, { ...parts, assets, publicUrl, readBody })
    },
  ]
}

function mcpDoor({ config, service, version, signInPlace }: ServerParts): Door {
  return (app, httpParts) => {
    addMcp(app, {
      ...httpParts,
      service,
      serverFor: (call, logFault) => protocolServer({ service, version, logFault }, call),
      hosts: hostNames(config),
      signInPaths,
      challengeOf: ({ headers, url }) => {
        const issuer = issuerFor(signInPlace, headers.host)
        return issuer === null ? null : signInChallenge(issuer, hasSlash(url))
      },
    })
  }
}

/** The host names of this server that its settings contain. */
function hostNames({ host, publicUrl, allowedHosts }: Config): readonly string[] {
  const own = host.includes(':') ? `[${host}]` : host
  return [own, ...(publicUrl === null ? [] : [new URL(publicUrl).hostname]), ...allowedHosts]
}

function hasData({ datasets }: Catalog): boolean {
  return [...datasets.values()].some((dataset) => dataset.version)
}

function isUpToDate({ catalog, registryReason }: Serving): boolean {
  if (registryReason !== null) return false
  return [...catalog.datasets.values()].every(({ reason }) => reason === null)
}

/** The path of a question that the demo token can ask. */
function firstPath({ catalog, registry }: Serving, dataset: string): string {
  return examplePath(registry, dataset, catalog.datasets.get(dataset)?.version?.columns ?? [])
}

/** Waits for requests in flight, interrupts slow ones, then closes every connection. */
async function closeServer(server: FastifyInstance, engine: Engine, clock: Clock): Promise<void> {
  const closed = server.close()
  await settledWithin(clock, closed, finishMs)
  await engine.close()
  await settledWithin(clock, closed, answerMs)
  server.server.closeAllConnections()
  await closed
}

/** Waits for `work` to succeed or fail, but no longer than `ms`. */
async function settledWithin(clock: Clock, work: PromiseLike<unknown>, ms: number): Promise<void> {
  const limit = new AbortController()
  const late = clock.sleep(ms, limit.signal)
  await Promise.allSettled([Promise.race([work, late])])
  limit.abort()
  await Promise.allSettled([late])
}
