import type { FastifyInstance } from 'fastify'
import { asPerson, requireSubscriber } from '../access/principal.js'
import type { Language } from '../config.js'
import { ServiceError } from '../errors.js'
import { listWatchLists } from '../control/hooks/watch-lists.js'
import { listWebhooks } from '../control/hooks/webhooks.js'
import { inOrder } from '../control/in-order.js'
import { grantedTitle, planTitle, plansOf } from '../registry/registry.js'
import type { RequestContext, Service } from '../service.js'
import { isRefusal } from './orders/refusals.js'
import type { Refusal } from './orders/refusals.js'
import { finishReissue, startReissue } from './orders/new-token.js'
import { shopAccount } from './orders/shop-account.js'
import { titleOf } from './orders/shop.js'
import type { Shop } from './orders/shop.js'
import {
  orderChange,
  orderRenewal,
  quoteChange,
  quoteRenewal,
} from './orders/subscription-orders.js'
import { isoTimeOrNull } from '../text.js'
import { contextOf } from '../http/request-context.js'
import { readBody } from '../http/body.js'
import { languageOf } from '../portal/language.js'
import { pageContextOf, visit } from '../portal/page-context.js'
import type { PageContext, Site } from '../portal/page-context.js'
import { reading, sendPage } from '../portal/send-page.js'
import { accountPage } from './account-page.js'
import type { OwnSubscription } from './account-page.js'
import { accountJson, connectionJson, orderJson, quoteJson, readJson } from './account-json.js'
import { OrderSchema, TypedCodeSchema, WantedSchema } from './account-json.js'
import { webhookJson } from './webhooks/routes/webhook-json.js'
import { shopWordsOf } from './orders/routes/shop-words.js'

export interface AccountRouteParts {
  readonly site: Site
  readonly service: Pick<
    Service,
    'admit' | 'admitKnown' | 'account' | 'connections' | 'endConnection'
  >
  readonly shop: Shop
}

interface ConnectionRoute {
  readonly Params: { readonly connection: string }
}

/**
 * Adds the account page, and what it reads and does with the token of its tab; agents' tokens
 * can't.
 */
export function addAccount(app: FastifyInstance, parts: AccountRouteParts): void {
  const { site, shop } = parts
  app.route({
    method: reading,
    url: '/account',
    handler: async (request, reply) => {
      const context = await visit(site, request)
      const owned = await ownedBy(parts, context, contextOf(request, reply))
      const titles = titlesOf(shop, context.language)
      return sendPage(request, reply, context, accountPage(context, owned, shop.isMailOn, titles))
    },
  })
  // Its earlier address.
  app.route({
    method: reading,
    url: '/usage',
    handler: (request, reply) => {
      site.admitVisitor(request.ip)
      return reply.redirect(pageContextOf(site, request).link('/account'), 308)
    },
  })
  addConnections(app, parts)
  addOrders(app, parts)
  addReissue(app, parts)
}

/** The titles of the listed datasets, and of their plans as `dataset:plan`. */
function titlesOf(shop: Shop, language: Language): ReadonlyMap<string, string> {
  const titles = new Map<string, string>()
  for (const [dataset, entry] of shop.registry().datasets) {
    if (entry.listed !== true) continue
    titles.set(dataset, titleOf(shop, language, dataset))
    for (const plan of plansOf(entry).values()) {
      titles.set(`${dataset}:${plan.name}`, planTitle(language, plan))
    }
  }
  return titles
}

/** The live subscriptions of who signed in; none for visitors. */
async function ownedBy(
  { service, shop }: AccountRouteParts,
  { person, language }: PageContext,
  context: RequestContext,
): Promise<readonly OwnSubscription[]> {
  return await inOrder(person?.subscriptions ?? [], async (subscription) => {
    const principal = asPerson(subscription, person?.sessionId ?? '')
    const caller = await service.admitKnown(context, principal, 0)
    const id = subscription.subscriptionId
    const { orders } = await shopAccount(shop, id)
    const account = await service.account(caller)
    const datasets = account.datasets.map((each) => {
      const plan = grantedTitle(shop.registry(), language, { dataset: each.name, plan: each.plan })
      return { ...each, plan, name: titleOf(shop, language, each.name) }
    })
    return {
      account: { ...account, datasets },
      orders: orders.map((order) => orderJson(shop, language, order)),
      webhooks: (await listWebhooks(shop.store, id)).map(webhookJson),
      watchLists: await listWatchLists(shop.store, id),
    }
  })
}

function addConnections(app: FastifyInstance, { service }: AccountRouteParts): void {
  app.route({
    method: 'GET',
    url: '/account/connections',
    handler: async (request, reply) => {
      const connections = await service.connections(
        await service.admit(contextOf(request, reply), 1),
      )
      return reply.send({ data: connections.map(connectionJson) })
    },
  })
  app.route<ConnectionRoute>({
    method: 'DELETE',
    url: '/account/connections/:connection',
    handler: async (request, reply) => {
      const caller = await service.admit(contextOf(request, reply), 1)
      await service.endConnection(caller, request.params.connection)
      return reply.code(204).send()
    },
  })
}

/** A request with a subscription's own token. */
interface OwnRequest {
  readonly subscriptionId: string
  /** The client's network address. */
  readonly address: string
  readonly language: Language
  readonly body: Buffer
}

/** Adds a path for the holder of a token. What the shop refuses is said in the page's language. */
function addOwn(
  app: FastifyInstance,
  { service }: AccountRouteParts,
  method: 'GET' | 'POST',
  url: string,
  answer: (request: OwnRequest) => Promise<object>,
): void {
  app.route({
    method,
    url,
    handler: async (request, reply) => {
      const caller = await service.admit(contextOf(request, reply), 1)
      const { id } = requireSubscriber(caller.principal)
      const { lang } = request.query as Readonly<Record<string, unknown>>
      const language = languageOf(lang, request.headers['accept-language'])
      const body = method === 'POST' ? await readBody(request, reply) : Buffer.alloc(0)
      try {
        return await answer({ subscriptionId: id, address: request.ip, language, body })
      } catch (cause) {
        if (!isRefusal(cause)) throw cause
        void reply.header('Content-Language', language)
        throw translated(cause, language)
      }
    },
  })
}

function translated({ code, reason, retryAfterSeconds }: Refusal, language: Language) {
  const detail = shopWordsOf(language).refusals[reason]
  return new ServiceError(code, detail, {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}

function addOrders(app: FastifyInstance, parts: AccountRouteParts): void {
  const { shop } = parts
  addOwn(app, parts, 'GET', '/account/orders', async ({ subscriptionId, language }) =>
    accountJson(shop, language, await shopAccount(shop, subscriptionId)),
  )
  addOwn(app, parts, 'POST', '/account/quotes', async ({ subscriptionId: id, language, body }) => {
    const wanted = readJson(WantedSchema, body)
    const quote =
      wanted.kind === 'renew'
        ? await quoteRenewal(shop, id, wanted.months)
        : await quoteChange(shop, id, wanted.plans)
    return quoteJson(shop, language, quote)
  })
  addOwn(app, parts, 'POST', '/account/orders', async ({ subscriptionId: id, language, body }) => {
    const wanted = readJson(OrderSchema, body)
    const placed =
      wanted.kind === 'renew'
        ? await orderRenewal(shop, id, wanted.months, wanted.amount_rub)
        : await orderChange(shop, id, wanted.plans, wanted.amount_rub)
    const order = placed.kind === 'waiting' ? placed.order : placed.confirmed.order
    return orderJson(shop, language, order)
  })
}

function addReissue(app: FastifyInstance, parts: AccountRouteParts): void {
  const { shop } = parts
  addOwn(app, parts, 'POST', '/account/token/code', async ({ subscriptionId, address }) => {
    return { code_id: await startReissue(shop, subscriptionId, address) }
  })
  addOwn(app, parts, 'POST', '/account/token', async ({ subscriptionId, body }) => {
    const typed = readJson(TypedCodeSchema, body)
    const endsEarlier = typed.end_earlier
    const { token, previousValidUntil } = await finishReissue(
      shop,
      { codeId: typed.code_id, code: typed.code },
      { subscriptionId, endsEarlier },
    )
    const earlier = endsEarlier ? null : previousValidUntil
    return { token, earlier_valid_until: isoTimeOrNull(earlier) }
  })
}
