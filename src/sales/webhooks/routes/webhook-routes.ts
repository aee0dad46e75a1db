import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requireSubscriber } from '../../../access/principal.js'
import { listDeliveries } from '../../../control/hooks/deliveries.js'
import { deleteWebhook, listWebhooks } from '../../../control/hooks/webhooks.js'
import type { Webhook } from '../../../control/hooks/webhooks.js'
import type { ControlStore } from '../../../control/store/store.js'
import { badRequest } from '../../../errors.js'
import { decodeBody } from '../../../http/body.js'
import { canRead } from '../../../http/find-routes.js'
import { contextOf, queryOf, reading, requireNoQuery } from '../../../http/request-context.js'
import type { HttpParts } from '../../../http/server.js'
import { parseExactJson } from '../../../query/exact-json.js'
import type { Caller, Service } from '../../../service.js'
import { findWebhook, resend } from '../own-webhooks.js'
import type { WebhookSender } from '../webhook-sender.js'
import { addOwnWebhook, deliveryJson, renewSecret, testJson, webhookJson } from './webhook-json.js'

/** What the paths of watch lists and webhooks need. */
export interface HookRouteParts extends Pick<HttpParts, 'readBody' | 'answerRows'> {
  readonly service: Pick<Service, 'admitHolder'>
  readonly store: ControlStore
  readonly sender: Pick<WebhookSender, 'test' | 'send'>
  /** The secrets of webhooks are made of it. */
  readonly key: Uint8Array
  readonly now: () => number
}

/** A request with a subscription's own token. */
export interface HolderRequest<Params> {
  readonly caller: Caller
  readonly subscriptionId: string
  readonly params: Params
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

interface HookParams {
  readonly id: string
  readonly n: string
}

const deliveriesPage = 100
/** Other names below it belong to a dataset that is called so. */
const hookUrl = '/v1/webhooks/:id(^whk_\\w+$)'
/** It alone has a parameter. */
const deliveriesUrl = `${hookUrl}/deliveries`

/** Adds `/v1/webhooks` and what is below it. */
export function addWebhooks(app: FastifyInstance, parts: HookRouteParts): void {
  const { store, sender, key, now } = parts
  addOwned(app, parts, 'webhooks', async ({ subscriptionId }) => {
    return { data: (await listWebhooks(store, subscriptionId)).map(webhookJson) }
  })
  addHeld(app, parts, 'POST', '/v1/webhooks', async ({ subscriptionId, request, reply }) => {
    const content = await jsonOf(parts, request, reply)
    void reply.code(201)
    return await addOwnWebhook(store, key, subscriptionId, content, now())
  })
  addHeld<HookParams>(app, parts, 'DELETE', hookUrl, async (asked) => {
    await deleteWebhook(store, await found(parts, asked), now())
    return asked.reply.code(204).send()
  })
  addHeld<HookParams>(app, parts, 'POST', `${hookUrl}/test`, async (asked) => {
    return testJson(await sender.test(await found(parts, asked)))
  })
  addHeld<HookParams>(app, parts, 'POST', `${hookUrl}/secret`, async (asked) => {
    return await renewSecret(store, key, await found(parts, asked), now())
  })
  addDeliveries(app, parts)
}

function addDeliveries(app: FastifyInstance, parts: HookRouteParts): void {
  const { store, sender, now } = parts
  addHeld<HookParams>(app, parts, reading, deliveriesUrl, async (asked) => {
    const { webhookId } = await found(parts, asked)
    const upTo = readCursor(queryOf(asked.request))
    const rows = await listDeliveries(store, webhookId, { upTo, limit: deliveriesPage + 1 })
    const next = rows[deliveriesPage]
    const data = rows.slice(0, deliveriesPage).map(deliveryJson)
    return { data, next_cursor: next ? String(next.n) : null }
  })
  const resendUrl = `${hookUrl}/deliveries/:n(^\\d{1,9}$)/resend`
  addHeld<HookParams>(app, parts, 'POST', resendUrl, async (asked) => {
    const delivery = await resend(store, await found(parts, asked), asked.params.n, now())
    void sender.send()
    void asked.reply.code(202)
    return deliveryJson(delivery)
  })
}

/** Adds a path for the holders of tokens. @throws not_found for the demo and for agents */
export function addHeld<Params = unknown>(
  app: FastifyInstance,
  { service }: HookRouteParts,
  method: string | string[],
  url: string,
  answer: (asked: HolderRequest<Params>) => Promise<object>,
): void {
  app.route<{ Params: Params }>({
    method,
    url,
    handler: async (request, reply) => {
      const caller = await service.admitHolder(contextOf(request, reply))
      if (url !== deliveriesUrl) requireNoQuery(request)
      const { id } = requireSubscriber(caller.principal)
      const params = request.params as Params
      return await answer({ caller, subscriptionId: id, params, request, reply })
    },
  })
}

/** Adds the list of what a holder has; a dataset of this name that the caller can read wins. */
export function addOwned(
  app: FastifyInstance,
  { service, answerRows }: HookRouteParts,
  name: string,
  answer: (asked: Pick<HolderRequest<unknown>, 'subscriptionId'>) => Promise<object>,
): void {
  app.route<{ Params: { dataset: string } }>({
    method: reading,
    url: `/v1/${name}`,
    handler: async (request, reply) => {
      const caller = await service.admitHolder(contextOf(request, reply))
      if (canRead(caller, name)) {
        request.params.dataset = name
        return await answerRows(request, reply, caller)
      }
      const { id } = requireSubscriber(caller.principal)
      requireNoQuery(request)
      return await answer({ subscriptionId: id })
    },
  })
}

/** The JSON of a request's body. */
export async function jsonOf(
  { readBody }: HookRouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const body = decodeBody(await readBody(request, reply), 'What it has: docs/rest.md.')
  return parseExactJson(body, 'The body')
}

function found(
  { store }: HookRouteParts,
  { subscriptionId, params }: HolderRequest<HookParams>,
): Promise<Webhook> {
  return findWebhook(store, subscriptionId, params.id)
}

/** The cursor of a page is the number of its first delivery. */
function readCursor(query: string): number {
  if (query === '') return Number.MAX_SAFE_INTEGER
  const [, n] = /^cursor=(\d{1,9})$/.exec(query) ?? []
  if (n !== undefined) return Number(n)
  throw badRequest('The only parameter is cursor, the next_cursor of the page before.')
}
