import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requireSubscriber } from '../../access/principal.js'
import type { Language } from '../../config.js'
import { ServiceError } from '../../errors.js'
import type { Service } from '../../service.js'
import type { RequestContext } from '../../service/caller.js'
import { isRefusal } from '../orders/refusals.js'
import type { Refusal } from '../orders/refusals.js'
import type { Shop } from '../orders/shop.js'
import { isoTime } from '../../text.js'
import type { Assets } from '../../portal/assets.js'
import { languageOf } from '../../portal/language.js'
import { pageContextOf } from '../../portal/page-context.js'
import { reading, sendPage } from '../../portal/send-page.js'
import { shopWordsOf } from '../orders/pages/words.js'
import { accountPage } from './account-page.js'
import { connectionJson, isoOrNull } from './account-json.js'
import { orderWriter } from './order-json.js'
import { OrderSchema, TypedCodeSchema, WantedSchema, readJson } from './read-order.js'

export interface AccountRouteParts {
  readonly assets: Assets
  /** The public address; null = the address of the request. */
  readonly publicUrl: string | null
  /** Counts a request without a token against its address. @throws rate_limit_exceeded */
  readonly admitVisitor: (address: string) => void
  readonly service: Pick<Service, 'admit' | 'connections' | 'endConnection'>
  readonly shop: Shop
  /** The request in the form that the service takes. */
  readonly contextOf: (request: FastifyRequest, reply: FastifyReply) => RequestContext
  readonly readBody: (request: FastifyRequest, reply: FastifyReply) => Promise<Buffer>
}

interface ConnectionRoute {
  readonly Params: { readonly connection: string }
}

/**
 * Adds the account page, and what it reads and does with the token of its tab; agents' tokens
 * can't.
 */
export function addAccount(app: FastifyInstance, parts: AccountRouteParts): void {
  const visit = (request: FastifyRequest) => {
    parts.admitVisitor(request.ip)
    return pageContextOf(request, parts.assets, parts.publicUrl)
  }
  app.route({
    method: reading,
    url: '/account',
    handler: (request, reply) => {
      const context = visit(request)
      return sendPage(request, reply, context, accountPage(context, parts.shop.isMailOn))
    },
  })
  // Its earlier address.
  app.route({
    method: reading,
    url: '/usage',
    handler: (request, reply) => reply.redirect(visit(request).link('/account'), 308),
  })
  addConnections(app, parts)
  addOrders(app, parts)
  addReissue(app, parts)
}

function addConnections(
  app: FastifyInstance,
  { service, contextOf }: Pick<AccountRouteParts, 'service' | 'contextOf'>,
): void {
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
  { service, contextOf, readBody }: AccountRouteParts,
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
  const writer = (language: Language) => orderWriter(language, shop.titleOf, shop.paymentText)
  addOwn(app, parts, 'GET', '/account/orders', async ({ subscriptionId, language }) =>
    writer(language).account(await shop.account(subscriptionId)),
  )
  addOwn(app, parts, 'POST', '/account/quotes', async ({ subscriptionId: id, body }) => {
    const wanted = readJson(WantedSchema, body)
    const { amountRub, expiresAt } =
      wanted.kind === 'renew'
        ? await shop.quoteRenewal(id, wanted.months)
        : await shop.quoteChange(id, wanted.plans)
    return { amount_rub: amountRub, expires_at: isoTime(expiresAt) }
  })
  addOwn(app, parts, 'POST', '/account/orders', async ({ subscriptionId: id, language, body }) => {
    const wanted = readJson(OrderSchema, body)
    const placed =
      wanted.kind === 'renew'
        ? await shop.orderRenewal(id, wanted.months, wanted.amount_rub)
        : await shop.orderChange(id, wanted.plans, wanted.amount_rub)
    return writer(language).placed(placed)
  })
}

function addReissue(app: FastifyInstance, parts: AccountRouteParts): void {
  const { shop } = parts
  addOwn(app, parts, 'POST', '/account/token/code', async ({ subscriptionId, address }) => {
    return { code_id: await shop.startReissue(subscriptionId, address) }
  })
  addOwn(app, parts, 'POST', '/account/token', async ({ subscriptionId, body }) => {
    const typed = readJson(TypedCodeSchema, body)
    const { token, previousValidUntil } = await shop.finishReissue(
      subscriptionId,
      { codeId: typed.code_id, code: typed.code },
      { endsEarlier: typed.end_earlier },
    )
    const earlier = typed.end_earlier ? null : previousValidUntil
    return { token, earlier_valid_until: isoOrNull(earlier) }
  })
}
