import type { FastifyInstance } from 'fastify'
import type { Language } from '../../../config.js'
import { errorStatus } from '../../../errors.js'
import type { Showcase } from '../../../service/showcase.js'
import type { TypedCode } from '../../codes.js'
import { isRefusal } from '../refusals.js'
import type { RefusalReason } from '../refusals.js'
import { finishOrder, quoteNew, startOrder } from '../new-order.js'
import { finishLostToken, startLostToken, subscriptionsOfCode } from '../new-token.js'
import { offerOf } from '../offer.js'
import { howToPay } from '../shop.js'
import type { Shop } from '../shop.js'
import { visit } from '../../../portal/page-context.js'
import type { PageContext, Site } from '../../../portal/page-context.js'
import { formHeaders, reading, sendPage } from '../../../portal/send-page.js'
import {
  codeAgainPage,
  orderCodePage,
  orderFormPage,
  tokenPage,
  waitingPage,
} from './order-pages.js'
import type { OrderForm } from './order-pages.js'
import { chooseSubscriptionPage, lostTokenCodePage, lostTokenPage } from './lost-token-pages.js'
import { readForm } from './read-form.js'

export interface ShopRouteParts {
  readonly site: Site
  readonly shop: Shop
  readonly showcase: (language: Language) => Showcase
}

/** What a form is answered with. */
interface FormAnswer {
  readonly page: string
  /** 200 if left out. */
  readonly status?: number
  readonly retryAfterSeconds?: number | undefined
}

interface Sent {
  readonly context: PageContext
  readonly fields: URLSearchParams
  /** The client's network address. */
  readonly address: string
}

/** Adds the pages on which visitors let themselves in. */
export function addShop(app: FastifyInstance, parts: ShopRouteParts): void {
  const { site } = parts
  const addPage = (url: string, make: (context: PageContext, query: URLSearchParams) => string) => {
    app.route({
      method: reading,
      url,
      handler: (request, reply) => {
        const context = visit(site, request)
        const query = new URLSearchParams(request.url.split('?', 2)[1])
        return sendPage(request, reply, context, make(context, query), formHeaders)
      },
    })
  }
  const addForm = (url: string, answer: (sent: Sent) => Promise<FormAnswer>) => {
    app.route({
      method: 'POST',
      url,
      config: { takesForm: true },
      handler: async (request, reply) => {
        const context = visit(site, request)
        const fields = await readForm(site, request, reply)
        const {
          page,
          status = 200,
          retryAfterSeconds,
        } = await answer({ context, fields, address: request.ip })
        if (retryAfterSeconds !== undefined) void reply.header('Retry-After', retryAfterSeconds)
        return sendPage(request, reply.code(status), context, page, formHeaders)
      },
    })
  }
  addPage('/order', (context, query) =>
    orderForm(parts, context, { plans: query.getAll('plan'), months: 12, email: '' }, null),
  )
  addForm('/order', (sent) => answerOrder(parts, sent))
  addForm('/order/code', (sent) => answerOrderCode(parts, sent))
  addPage('/lost-token', (context) => lostTokenPage(context, '', null))
  addForm('/lost-token', (sent) => answerLostToken(parts, sent))
  addForm('/lost-token/code', (sent) => chooseSubscription(parts, sent))
  addForm('/lost-token/reissue', (sent) => reissue(parts, sent))
}

function orderForm(
  { shop, showcase }: ShopRouteParts,
  context: PageContext,
  form: OrderForm,
  refusal: RefusalReason | null,
): string {
  const { datasets } = showcase(context.language)
  return orderFormPage(context, { datasets, offer: offerOf(shop) }, form, refusal)
}

async function answerOrder(
  parts: ShopRouteParts,
  { context, fields, address }: Sent,
): Promise<FormAnswer> {
  const { shop, showcase } = parts
  const email = (fields.get('email') ?? '').trim()
  const plans = fields.getAll('plan').filter((plan) => plan !== '')
  const months = Number(fields.get('months') ?? 1)
  const items = plans.map((text) => {
    const [dataset = '', plan = ''] = text.split(':', 2)
    return { dataset, plan }
  })
  return await orRefused(
    async () => {
      const { language } = context
      const quote = quoteNew(shop, { items, months })
      const codeId = await startOrder(shop, { email, language, address }, quote)
      const { datasets } = showcase(language)
      return { page: orderCodePage(context, datasets, { codeId, email, quote }) }
    },
    (reason) => orderForm(parts, context, { plans, months, email }, reason),
  )
}

async function answerOrderCode(
  { shop }: ShopRouteParts,
  { context, fields }: Sent,
): Promise<FormAnswer> {
  const typed = typedCode(fields)
  return await orRefused(
    async () => {
      const placed = await finishOrder(shop, typed)
      if (placed.kind === 'confirmed') {
        const { token, expiresAt } = placed.confirmed
        return { page: tokenPage(context, token ?? '', expiresAt) }
      }
      const { order } = placed
      return { page: waitingPage(context, order, howToPay(shop, context.language, order)) }
    },
    (reason) => codeAgainPage(context, '/order', typed.codeId, reason),
  )
}

async function answerLostToken(
  { shop }: ShopRouteParts,
  { context, fields, address }: Sent,
): Promise<FormAnswer> {
  const email = (fields.get('email') ?? '').trim()
  return await orRefused(
    async () => {
      const codeId = await startLostToken(shop, { email, language: context.language, address })
      return { page: lostTokenCodePage(context, email, codeId) }
    },
    (reason) => lostTokenPage(context, email, reason),
  )
}

async function chooseSubscription(
  { shop }: ShopRouteParts,
  { context, fields }: Sent,
): Promise<FormAnswer> {
  const typed = typedCode(fields)
  return await orRefused(
    async () => ({
      page: chooseSubscriptionPage(context, typed, await subscriptionsOfCode(shop, typed)),
    }),
    (reason) => codeAgainPage(context, '/lost-token', typed.codeId, reason),
  )
}

async function reissue({ shop }: ShopRouteParts, { context, fields }: Sent): Promise<FormAnswer> {
  const typed = typedCode(fields)
  const subscriptionId = fields.get('subscription') ?? ''
  const endsEarlier = fields.get('earlier') === 'end'
  return await orRefused(
    async () => {
      const { token, subscription } = await finishLostToken(shop, typed, {
        subscriptionId,
        endsEarlier,
      })
      return { page: tokenPage(context, token, subscription.expiresAt) }
    },
    (reason) => codeAgainPage(context, '/lost-token', typed.codeId, reason),
  )
}

function typedCode(fields: URLSearchParams): TypedCode {
  return { codeId: fields.get('id') ?? '', code: fields.get('code') ?? '' }
}

/** The answer, or the page that says why it was refused. */
async function orRefused(
  answer: () => Promise<FormAnswer>,
  refused: (reason: RefusalReason) => string,
): Promise<FormAnswer> {
  try {
    return await answer()
  } catch (cause) {
    if (!isRefusal(cause)) throw cause
    const { reason, code, retryAfterSeconds } = cause
    return { page: refused(reason), status: errorStatus[code], retryAfterSeconds }
  }
}
