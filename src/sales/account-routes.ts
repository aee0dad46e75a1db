import type { FastifyInstance, FastifyReply } from 'fastify'
import { accessibleDatasets } from '../access/access.js'
import { asPerson, requireSubscriber } from '../access/principal.js'
import type { Language } from '../config.js'
import { inOrder } from '../control/in-order.js'
import { listWatchLists } from '../control/hooks/watch-lists.js'
import { listWebhooks } from '../control/hooks/webhooks.js'
import { ServiceError, errorStatus } from '../errors.js'
import { contextOf } from '../http/request-context.js'
import { html } from '../portal/html.js'
import type { Html } from '../portal/html.js'
import { pageContextOf, visit } from '../portal/page-context.js'
import type { Site } from '../portal/page-context.js'
import { formHeaders, reading, sameOrigin, sendPage } from '../portal/send-page.js'
import { columnTitle } from '../portal/writers.js'
import { visibleColumn } from '../query/check-parts.js'
import { grantedTitle } from '../registry/registry.js'
import type { Caller, RequestContext, Service } from '../service.js'
import { inLanguage } from '../service/showcase.js'
import { accountActs } from './account-acts.js'
import type { ActParts } from './account-acts.js'
import type { Proof } from './account-form.js'
import { accountPage } from './account-page.js'
import type { OwnAccount } from './account-page.js'
import { isRefusal } from './orders/refusals.js'
import { refusalNote } from './orders/routes/order-pages.js'
import { addForm, refusalOf } from './orders/routes/read-form.js'
import type { SentForm } from './orders/routes/read-form.js'
import { shopAccount } from './orders/shop-account.js'
import { titleOf } from './orders/shop.js'
import type { Shop } from './orders/shop.js'
import { sendOn } from './sessions/routes/session-routes.js'

export interface AccountRouteParts extends ActParts {
  readonly site: Site
  readonly service: Pick<
    Service,
    'admit' | 'admitKnown' | 'account' | 'connections' | 'endConnection'
  >
}

/** Who acts, and for what. */
interface Holder {
  readonly caller: Caller
  readonly proof: Proof
}

/** A watch list may be as long as REST takes it. */
const bytesMax = 1024 * 1024
const nothingTyped = new URLSearchParams()

/** Adds the account page, whose forms act with a token or for a person who signed in. */
export function addAccount(app: FastifyInstance, parts: AccountRouteParts): void {
  const { site } = parts
  app.route({
    method: reading,
    url: '/account',
    handler: async (request, reply) => {
      const context = await visit(site, request)
      const sent = { request, reply, context, fields: nothingTyped }
      return await sendAccount(parts, sent, contextOf(request, reply), {
        holder: null,
        note: null,
      })
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
  const answer = (sent: SentForm) => answerForm(parts, sent)
  addForm(app, site, '/account', answer, { bytesMax })
}

/**
 * Does what a form asks for. A person is led to the account after it; the holder of a token, which
 * no address may hold, gets it at once.
 */
async function answerForm(parts: AccountRouteParts, sent: SentForm): Promise<FastifyReply> {
  const { request, reply, context, fields } = sent
  const asked = contextOf(request, reply)
  let holder: Holder | null = null
  try {
    holder = await holderOf(parts, sent, asked)
    const act = holder && accountActs.get(fields.get('act') ?? '')
    const page = holder && act ? await act(askedOf(parts, sent, holder)) : null
    if (page !== null) return sendPage(request, reply, context, page, formHeaders)
  } catch (cause) {
    return await sendAccount(parts, sent, asked, { holder, note: noteOf(sent, cause) })
  }
  if (holder?.proof.name !== 'token') return sendOn(sent, request.url)
  return await sendAccount(parts, sent, asked, { holder, note: null })
}

/**
 * Who sent a form: a token's holder, or a person for one of their subscriptions; null otherwise.
 * @throws unauthorized, rate_limit_exceeded, service_unavailable
 */
async function holderOf(
  { service }: AccountRouteParts,
  { context: { person }, fields }: SentForm,
  asked: RequestContext,
): Promise<Holder | null> {
  const token = fields.get('token')?.trim()
  if (token !== undefined) {
    const caller = await service.admit({ ...asked, authorization: `Bearer ${token}` }, 1)
    return { caller, proof: { name: 'token', value: token } }
  }
  const id = fields.get('subscription')
  const own = person?.subscriptions.find(({ subscriptionId }) => subscriptionId === id)
  if (!person || !own) return null
  const caller = await service.admitKnown(asked, asPerson(own, person.sessionId), 1)
  return { caller, proof: { name: 'subscription', value: own.subscriptionId } }
}

function askedOf(parts: ActParts, { request, reply, context, fields }: SentForm, holder: Holder) {
  const { caller, proof } = holder
  const { id } = requireSubscriber(caller.principal)
  const text = (name: string) => (fields.get(name) ?? '').trim()
  const view = { context, proof, subscriptionId: id }
  return { ...parts, request, reply, view, caller, id, text, fields }
}

/** Says why a form was refused, and sets the status. @throws what the visitor can't correct */
function noteOf({ reply, context }: SentForm, cause: unknown): Html | null {
  if (isRefusal(cause)) return refusalNote(context, refusalOf(reply, cause))
  if (!(cause instanceof ServiceError) || errorStatus[cause.code] >= 500) throw cause
  const { code, detail, retryAfterSeconds } = cause
  void reply.code(errorStatus[code])
  if (retryAfterSeconds !== undefined) void reply.header('Retry-After', retryAfterSeconds)
  return html`<p class="refusal" role="alert">
    ${context.words.refusals[code]} <span class="muted" lang="en">${detail}</span>
  </p>`
}

/** Sends the account of a token, or of who signed in. */
async function sendAccount(
  { service, shop }: AccountRouteParts,
  { request, reply, context, fields }: SentForm,
  asked: RequestContext,
  { holder, note }: { readonly holder: Holder | null; readonly note: Html | null },
): Promise<FastifyReply> {
  const { person, language } = context
  const isOfToken = holder?.proof.name === 'token'
  const holders = isOfToken
    ? [holder]
    : await inOrder(person?.subscriptions ?? [], async (subscription) => ({
        caller: await service.admitKnown(asked, asPerson(subscription, person?.sessionId ?? ''), 0),
        proof: { name: 'subscription', value: subscription.subscriptionId } as const,
      }))
  const accounts = await inOrder(holders, async ({ caller, proof }) => {
    const isRefused = note !== null && proof.value === holder?.proof.value
    const typed = isRefused && (fields.get('act') ?? '').startsWith('add-') ? fields : nothingTyped
    return { ...(await ownAccount(service, shop, language, caller)), proof, typed }
  })
  const page = accountPage(context, shop, { accounts, isOfToken, note })
  // What visitors open is the same for all.
  const headers = request.method === 'POST' ? formHeaders : sameOrigin
  return sendPage(request, reply, context, page, headers)
}

async function ownAccount(
  service: AccountRouteParts['service'],
  shop: Shop,
  language: Language,
  caller: Caller,
): Promise<Pick<OwnAccount, 'description' | 'own'>> {
  const account = await service.account(caller)
  const datasets = account.datasets.map((each) => {
    const plan = grantedTitle(shop.registry(), language, { dataset: each.name, plan: each.plan })
    return { ...each, plan, name: titleOf(shop, language, each.name) }
  })
  const description = { ...account, datasets }
  const { principal } = caller
  if (principal.kind === 'demo') return { description, own: null }
  const visible = accessibleDatasets(principal, caller.catalog)
  const own = {
    shopAccount: await shopAccount(shop, principal.id),
    connections: await service.connections(caller),
    webhooks: await listWebhooks(shop.store, principal.id),
    watchLists: (await listWatchLists(shop.store, principal.id)).map((list) => {
      const access = visible.find(({ dataset }) => dataset.name === list.dataset)
      const column = access && visibleColumn(access, list.column)
      return {
        ...list,
        dataset: titleOf(shop, language, list.dataset),
        column: column ? columnTitle(inLanguage(language, column)) : list.column,
      }
    }),
  }
  return { description, own }
}
