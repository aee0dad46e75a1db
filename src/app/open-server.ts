import type { FastifyInstance } from 'fastify'
import { sessionSecret } from '../access/session-cookie.js'
import { findSignedIn } from '../access/signed-in.js'
import type { Catalog } from '../catalog.js'
import type { LiveCatalog, Serving } from '../catalog/live/live-catalog.js'
import type { Clock } from '../clock.js'
import type { Config } from '../config.js'
import { listDatasetStates } from '../control/dataset-state.js'
import { isReportProof, writeReport } from '../control/server-report.js'
import type { Engine } from '../engine/engine.js'
import type { OnRequest } from '../http/request-log.js'
import type { ReportTo } from '../http/routes.js'
import { buildServer } from '../http/server.js'
import type { HttpParts } from '../http/server.js'
import { machineMemory, openFilesLimit } from '../machine.js'
import { contextOf } from '../http/request-context.js'
import { addMcp } from '../mcp/mcp-routes.js'
import type { McpParts } from '../mcp/mcp-routes.js'
import { protocolServer } from '../mcp/protocol-server.js'
import { readAssets } from '../portal/assets.js'
import { baseOf } from '../portal/page-context.js'
import type { Site } from '../portal/page-context.js'
import { addPortal, sendProblemPage } from '../portal/portal-routes.js'
import type { PortalParts } from '../portal/portal-routes.js'
import { addAccount } from '../sales/account-routes.js'
import { issuerFor } from '../sales/agents/issuer.js'
import { addConsent } from '../sales/agents/routes/consent-routes.js'
import { signInChallenge, signInPaths } from '../sales/agents/resource.js'
import { addSignIn, hasSlash } from '../sales/agents/routes/sign-in-routes.js'
import { offerOf } from '../sales/orders/offer.js'
import { planWay } from '../sales/orders/routes/plan-way.js'
import { addShop } from '../sales/orders/routes/shop-routes.js'
import { addPaymentHook } from '../sales/orders/routes/payment-route.js'
import { addOwner } from '../sales/owner/routes/owner-routes.js'
import { addSessions } from '../sales/sessions/routes/session-routes.js'
import { addWatchLists } from '../sales/webhooks/routes/watch-routes.js'
import { addWebhooks } from '../sales/webhooks/routes/webhook-routes.js'
import type { HookRouteParts } from '../sales/webhooks/routes/webhook-routes.js'
import type { Service } from '../service.js'
import { PaidAnswers } from '../service/paid/paid-answers.js'
import { examplePath } from '../service/first-questions.js'
import { DescriptorWatch } from './descriptors.js'
import type { Sales } from './open-sales.js'
import type { Records } from './records/file-records.js'
import type { ServerBase } from './server-base.js'

interface DoorParts {
  readonly version: string
  readonly portalFolder: string | undefined
  readonly memoryLimitBytes: number
  readonly records: Records
  readonly live: LiveCatalog
  readonly engine: Engine
  readonly service: Service
  readonly sales: Sales
  /** True from the begin of a stop on. */
  readonly isStopping: () => boolean
  readonly onRequest: OnRequest
}

/** Time for the requests in flight at a stop; then the engine interrupts their queries. */
const finishMs = 10_000
/** Time to send the answers of interrupted requests; then their connections are closed. */
const answerMs = 1000

/** The HTTP server with REST, MCP, the portal and the pages of sales. It does not listen yet. */
export function openServer(base: ServerBase, parts: DoorParts): FastifyInstance {
  const { config, cleanup, logger, clock, random } = base
  const { service, live, engine, records, sales, isStopping } = parts
  const site: Site = {
    assets: readAssets(parts.portalFolder ?? null),
    publicUrl: config.publicUrl,
    portal: () => live.serving.registry.portal,
    admitVisitor: service.admitAnonymous,
    signedIn: {
      isOpen: sales.shop.isMailOn,
      find: async (request) => {
        const secret = sessionSecret(baseOf(config.publicUrl, request), request.headers.cookie)
        const person = await findSignedIn(records.control, secret, clock.now())
        if (person) records.lastUsed.note(person.sessionId)
        return person
      },
      admit: (request, reply, payer) => service.admitKnown(contextOf(request, reply), payer, 1),
    },
  }
  const server = buildServer({
    service,
    logger,
    clock,
    random,
    trustProxy: config.trustProxy,
    corsOrigins: config.corsOrigins,
    publicUrl: config.publicUrl,
    doors: [
      (app) => {
        addSignInPages(app, site, parts.sales)
      },
      (app, http) => {
        addMcp(app, mcpParts(config, parts, http))
      },
      (app, { sheets }) => {
        addPortal(app, portalParts(base, site, sheets, parts))
        addSalesPages(app, base, site, parts)
      },
      (app, http) => {
        const hooks = hookParts(base, parts, http)
        addWebhooks(app, hooks)
        addWatchLists(app, hooks)
      },
    ],
    sendProblemPage: (error, request, reply) => sendProblemPage(site, error, request, reply),
    isReady: async () =>
      hasData(live.serving.catalog) && !isStopping() && (await records.isUsable()),
    isStopping,
    isUpToDate: () => isUpToDate(live.serving),
    isDamaged: () => live.isDamaged,
    reportTo: reporter(base, parts),
    onRequest: parts.onRequest,
  })
  cleanup.adopt(server, () => closeServer(server, engine, clock))
  const filesMax = openFilesLimit()?.soft ?? null
  cleanup.use(new DescriptorWatch({ server: server.server, logger, filesMax, clock }))
  return server
}

function portalParts(
  { clock }: ServerBase,
  site: Site,
  sheets: HttpParts['sheets'],
  { service, live, sales }: DoorParts,
): PortalParts {
  return {
    site,
    showcase: service.showcase,
    firstPath: (dataset) => firstPath(live.serving, dataset),
    entities: {
      find: service.find,
      readPage: service.readPage,
      top: service.top,
      summarize: service.summarize,
      paidAnswers: new PaidAnswers(clock),
      writeSheet: (sheet) => {
        sheets.requirePlace()
        return sheets.write(sheet)
      },
      asVisitor: (request, reply) => {
        const token = live.serving.catalog.demo?.token ?? ''
        const context = { ...contextOf(request, reply), authorization: `Bearer ${token}` }
        return service.admit(context, 1)
      },
    },
    planWay: (context, dataset) => planWay(context, offerOf(sales.shop), dataset),
  }
}

/** Reports on the server to `das doctor`. */
function reporter(
  { config, clock }: ServerBase,
  { version, memoryLimitBytes, records }: DoorParts,
): ReportTo {
  const openFiles = openFilesLimit()
  return (proof, request) => {
    if (!isReportProof(proof, records.keys.cursor, clock.now())) return null
    return writeReport({
      version,
      memoryLimitBytes,
      machineBytes: machineMemory(),
      trustProxy: [...config.trustProxy],
      openFiles,
      request,
    })
  }
}

/** The endpoints and the page of the sign-in; none where agents can't sign in. */
function addSignInPages(app: FastifyInstance, site: Site, { signIn, signInPlace }: Sales): void {
  if (signInPlace.kind === 'none') return
  const findIssuer = (host: string | undefined) => issuerFor(signInPlace, host)
  addSignIn(app, { signIn, issuerFor: findIssuer, admitVisitor: site.admitVisitor })
  addConsent(app, { signIn, issuerFor: findIssuer, site })
}

function addSalesPages(
  app: FastifyInstance,
  { config }: ServerBase,
  site: Site,
  { service, sales, records }: DoorParts,
): void {
  const { shop } = sales
  addAccount(app, { site, service, shop, sender: sales.webhooks })
  addShop(app, { site, shop, showcase: service.showcase })
  addSessions(app, { site, shop })
  addOwner(app, { site, shop, datasets: () => listDatasetStates(records.local) })
  addPaymentHook(app, {
    shop,
    secret: config.paymentSecret,
    admitVisitor: site.admitVisitor,
  })
}

function hookParts(
  { clock }: ServerBase,
  { service, records, sales }: DoorParts,
  { readBody, answerRows }: HttpParts,
): HookRouteParts {
  const { control: store, keys } = records
  const { webhooks: sender } = sales
  return { service, store, sender, key: keys.mail, now: clock.now, readBody, answerRows }
}

function mcpParts(
  config: Config,
  { service, version, sales }: DoorParts,
  { contextOf, readBody }: HttpParts,
): McpParts {
  return {
    service,
    contextOf,
    readBody,
    serverFor: (call, logFault) => protocolServer({ service, version, logFault }, call),
    hosts: hostNames(config),
    publicUrl: config.publicUrl,
    signInPaths,
    challengeOf: ({ headers, url }) => {
      const issuer = issuerFor(sales.signInPlace, headers.host)
      return issuer === null ? null : signInChallenge(issuer, hasSlash(url))
    },
  }
}

/** The host names of this server that its settings contain. */
function hostNames({ host, publicUrl, allowedHosts }: Config): readonly string[] {
  const listening = host.includes(':') ? `[${host}]` : host
  return [listening, ...(publicUrl === null ? [] : [new URL(publicUrl).hostname]), ...allowedHosts]
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
