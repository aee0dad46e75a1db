import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sessionSecret } from '../../../access/session-cookie.js'
import type { DatasetState } from '../../../control/dataset-state.js'
import { openOrders } from '../../../control/order-counts.js'
import { endSession } from '../../../control/sessions/sessions.js'
import { hashToken } from '../../../control/tokens/token-format.js'
import { badRequest } from '../../../errors.js'
import type { PathCondition } from '../../../http/known-paths.js'
import { pageContextOf } from '../../../portal/page-context.js'
import type { PageContext, Site } from '../../../portal/page-context.js'
import { formHeaders, reading, sendPage } from '../../../portal/send-page.js'
import { addForm } from '../../orders/routes/read-form.js'
import type { SentForm } from '../../orders/routes/read-form.js'
import type { Shop } from '../../orders/shop.js'
import { addSignInForms, secretOf, sendOn } from '../../sessions/routes/session-routes.js'
import { signInPage } from '../../sessions/routes/sign-in-pages.js'
import { decide, decideByLink, decisions, linkedOrder, ownerOf } from '../decide-order.js'
import type { Decision } from '../decide-order.js'
import {
  decidedPage,
  goneLinkPage,
  impossiblePage,
  linkPage,
  linkedOrderPage,
  overPage,
} from './decision-pages.js'
import { ownerPage, shownMax } from './owner-pages.js'

export interface OwnerRouteParts {
  readonly site: Site
  readonly shop: Shop
  /** What the server last reported of its datasets. */
  readonly datasets: () => Promise<readonly DatasetState[]>
}

/** Adds the owner's page, and the page of the link in a letter about an order. */
export function addOwner(app: FastifyInstance, parts: OwnerRouteParts): void {
  const { site, shop } = parts
  /** The paths exist while the registry names owners. */
  const whileOwned: PathCondition = { when: () => site.portal().owners.length > 0 }
  const addPage = (
    url: string,
    make: (context: PageContext, request: FastifyRequest) => string | Promise<string>,
  ) => {
    app.route({
      method: reading,
      url,
      constraints: { ...whileOwned },
      handler: async (request, reply) => {
        site.admitVisitor(request.ip)
        const context = pageContextOf(site, request)
        return sendPage(request, reply, context, await make(context, request), formHeaders)
      },
    })
  }
  addPage('/owner', (context, request) => startPage(parts, context, request))
  addPage('/owner/order', linkPage)
  addSignInForms(app, parts, '/owner/sign-in', whileOwned)
  const add = (url: string, answer: (sent: SentForm) => Promise<FastifyReply>) => {
    addForm(app, site, url, answer, whileOwned)
  }
  add('/owner/sign-out', async (sent) => {
    const secret = secretOf(sent, 'owner')
    if (secret !== null) await endSession(shop.store, hashToken(secret))
    return sendOn(sent, '/owner', null, 'owner')
  })
  add('/owner/orders', (sent) => decideOrder(shop, sent))
  add('/owner/order', (sent) => answerLink(shop, sent))
}

/** The owner's page, or the form to sign in. */
async function startPage(
  { shop, datasets }: OwnerRouteParts,
  context: PageContext,
  request: FastifyRequest,
): Promise<string> {
  const secret = sessionSecret(context.base, request.headers.cookie, 'owner')
  const email = await ownerOf(shop, secret)
  if (email === null) {
    return signInPage(context, { email: '', next: '/owner', refusal: null }, '/owner/sign-in')
  }
  const orders = await openOrders(shop.store, shownMax)
  return await ownerPage(context, shop, { email, orders, datasets: await datasets() })
}

/** Confirms or declines in the name of who signed in; leads back to the page, also a stranger. */
async function decideOrder(shop: Shop, sent: SentForm): Promise<FastifyReply> {
  const decision = decisionIn(sent.fields)
  const by = await ownerOf(shop, secretOf(sent, 'owner'))
  if (by === null) return sendOn(sent, '/owner')
  const decided = await decide(shop, sent.fields.get('order') ?? '', { decision, by })
  if (decided.kind === 'done') return sendOn(sent, '/owner')
  const { context } = sent
  if (decided.kind === 'over') return sendDecided(sent, 409, overPage(context, decided.over))
  return sendDecided(sent, 400, impossiblePage(context, decided.order, decided.cause))
}

/** Shows, confirms or declines the order of a link. */
async function answerLink(shop: Shop, sent: SentForm): Promise<FastifyReply> {
  const { context, fields } = sent
  const secret = fields.get('secret') ?? ''
  if (fields.get('action') === 'show') {
    const found = await linkedOrder(shop, secret)
    if (found === null) return sendDecided(sent, 410, goneLinkPage(context))
    if ('who' in found) return sendDecided(sent, 410, overPage(context, found))
    return sendDecided(sent, 200, linkedOrderPage(context, shop, found, { secret }))
  }
  const decision = decisionIn(fields)
  const decided = await decideByLink(shop, secret, decision)
  switch (decided?.kind) {
    case undefined: {
      return sendDecided(sent, 410, goneLinkPage(context))
    }
    case 'over': {
      return sendDecided(sent, 410, overPage(context, decided.over))
    }
    case 'impossible': {
      const { order, cause } = decided
      return sendDecided(sent, 400, linkedOrderPage(context, shop, order, { secret, cause }))
    }
    case 'done': {
      return sendDecided(sent, 200, decidedPage(context, decided.order.orderId, decision))
    }
  }
}

function sendDecided(
  { request, reply, context }: SentForm,
  status: number,
  page: string,
): FastifyReply {
  return sendPage(request, reply.code(status), context, page, formHeaders)
}

/** @throws bad_request */
function decisionIn(fields: URLSearchParams): Decision {
  const found = decisions.find((each) => each === fields.get('action'))
  if (found) return found
  throw badRequest('action must be confirm or decline.')
}
