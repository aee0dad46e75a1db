import type { FastifyInstance } from 'fastify'
import type { Language } from '../../../config.js'
import { grantsOfTexts } from '../../../control/grants.js'
import { orderOfEmail } from '../../../control/orders.js'
import type { Showcase } from '../../../service/showcase.js'
import type { TypedCode } from '../../codes.js'
import { isRefusal } from '../refusals.js'
import type { RefusalReason } from '../refusals.js'
import { finishOrder, quoteNew, quoteOf, startOrder } from '../new-order.js'
import type { Quote } from '../new-order.js'
import { finishLostToken, startLostToken, subscriptionsOfCode } from '../new-token.js'
import { checkedBuyer } from '../buyer.js'
import type { TypedBuyer } from '../buyer.js'
import { offerOf } from '../offer.js'
import { paperOf } from '../papers/paper.js'
import { howToPay } from '../shop.js'
import type { Shop } from '../shop.js'
import { visit } from '../../../portal/page-context.js'
import type { PageContext, Site } from '../../../portal/page-context.js'
import { html } from '../../../portal/html.js'
import type { Html } from '../../../portal/html.js'
import { orderSummary } from './order-summary.js'
import { waitingPage } from './waiting-page.js'
import { titledPage } from '../../../portal/titled-page.js'
import { paperView } from './paper-view.js'
import { formHeaders, noStore, reading, sendPage } from '../../../portal/send-page.js'
import { codeAgainPage, orderCodePage, orderFormPage, tokenPage } from './order-pages.js'
import type { OrderForm } from './order-pages.js'
import { chooseSubscriptionPage, lostTokenCodePage, lostTokenPage } from './lost-token-pages.js'
import { addForm, refusalOf } from './read-form.js'
import type { SentForm } from './read-form.js'
import { shopWordsOf } from './shop-words.js'

export interface ShopRouteParts {
  readonly site: Site
  readonly shop: Shop
  readonly showcase: (language: Language) => Showcase
}

/** The page that answers a form. */
type AnswerForm = (parts: ShopRouteParts, sent: SentForm) => Promise<string>

/** The page that says why a form was refused. */
type RefuseForm = (sent: SentForm, reason: RefusalReason) => string | Promise<string>

/** Adds the pages on which visitors let themselves in. */
export function addShop(app: FastifyInstance, parts: ShopRouteParts): void {
  const { site } = parts
  const addPage = (url: string, make: (context: PageContext, query: URLSearchParams) => string) => {
    app.route({
      method: reading,
      url,
      handler: async (request, reply) => {
        const context = await visit(site, request)
        const query = new URLSearchParams(request.url.split('?', 2)[1])
        return sendPage(request, reply, context, make(context, query), formHeaders)
      },
    })
  }
  const add = (url: string, answer: AnswerForm, refused: RefuseForm) => {
    addForm(app, site, url, async (sent) => {
      const { request, reply, context } = sent
      const page = await answer(parts, sent).catch((cause: unknown) =>
        refused(sent, refusalOf(reply, cause)),
      )
      return sendPage(request, reply, context, page, formHeaders)
    })
  }
  addPage('/order', (context, query) =>
    orderForm(
      parts,
      context,
      {
        plans: query.getAll('plan'),
        months: Number(query.get('months') ?? 12),
        email: '',
        buyer: noBuyer,
      },
      null,
    ),
  )
  add('/order', answerOrder, ({ context, fields }, reason) =>
    orderForm(parts, context, filledIn(fields), reason),
  )
  add('/order/code', answerOrderCode, async (sent, reason) => {
    const quote = await quoteOf(parts.shop, typedCode(sent.fields).codeId)
    const summary = quote && summaryOf(parts, sent.context, quote)
    return codeAgainPage(sent.context, '/order', typedCode(sent.fields).codeId, reason, summary)
  })
  addOrderPaper(app, parts)
  addPage('/lost-token', (context) => lostTokenPage(context, '', null))
  add('/lost-token', answerLostToken, ({ context, fields }, reason) =>
    lostTokenPage(context, emailOf(fields), reason),
  )
  add('/lost-token/code', chooseSubscription, lostCodeAgain)
  add('/lost-token/reissue', reissue, lostCodeAgain)
}

/** The invoice or the receipt of an order, for the person who ordered it. */
function addOrderPaper(app: FastifyInstance, { site, shop }: ShopRouteParts): void {
  app.route({
    method: reading,
    url: '/account/orders/:order',
    handler: async (request, reply) => {
      const context = await visit(site, request)
      const { order: orderId } = request.params as { readonly order: string }
      const { person } = context
      const order = person ? await orderOfEmail(shop.store, person.email, orderId) : undefined
      const paper = order && paperOf(shop.registry(), order)
      if (!paper) return reply.callNotFound()
      const { yourOrder } = shopWordsOf(context.language)
      const back = html`<p><a href="${context.link('/account')}">${context.words.account}</a></p>`
      const page = titledPage(context, yourOrder, html`${back} ${paperView(paper)}`)
      return sendPage(request, reply, context, page, noStore)
    },
  })
}

function orderForm(
  { shop, showcase }: ShopRouteParts,
  context: PageContext,
  form: OrderForm,
  refusal: RefusalReason | null,
): string {
  const { datasets } = showcase(context.language)
  const quote = refusal === null ? quoteIfSold(shop, form) : null
  return orderFormPage(context, { datasets, offer: offerOf(shop), quote }, form, refusal)
}

/** The price of what is chosen so far; null where it is not on offer. */
function quoteIfSold(shop: Shop, { plans, months }: OrderForm): Quote | null {
  try {
    return quoteNew(shop, { items: grantsOfTexts(plans), months, buyer: null })
  } catch (cause) {
    if (isRefusal(cause)) return null
    throw cause
  }
}

function summaryOf({ showcase }: ShopRouteParts, context: PageContext, quote: Quote): Html {
  return orderSummary(context, showcase(context.language).datasets, quote)
}

async function answerOrder(
  parts: ShopRouteParts,
  { request, context, fields }: SentForm,
): Promise<string> {
  const { shop, showcase } = parts
  const { language } = context
  const { plans, months, email, buyer } = filledIn(fields)
  if (fields.has('total')) return orderForm(parts, context, filledIn(fields), null)
  const quote = quoteNew(shop, { items: grantsOfTexts(plans), months, buyer: checkedBuyer(buyer) })
  const codeId = await startOrder(shop, { email, language, address: request.ip }, quote)
  return orderCodePage(context, showcase(language).datasets, { codeId, email, quote })
}

async function answerOrderCode(
  parts: ShopRouteParts,
  { context, fields }: SentForm,
): Promise<string> {
  const { shop } = parts
  const placed = await finishOrder(shop, typedCode(fields))
  const order = placed.kind === 'confirmed' ? placed.confirmed.order : placed.order
  const summary = summaryOf(parts, context, { ...order, months: order.months ?? 0 })
  if (placed.kind === 'confirmed') {
    const { token, expiresAt } = placed.confirmed
    return tokenPage(context, token ?? '', expiresAt, summary)
  }
  const payment = howToPay(shop, context.language, order)
  return waitingPage(context, order, { payment, paper: paperOf(shop.registry(), order), summary })
}

async function answerLostToken(
  { shop }: ShopRouteParts,
  { request, context, fields }: SentForm,
): Promise<string> {
  const email = emailOf(fields)
  const codeId = await startLostToken(shop, {
    email,
    language: context.language,
    address: request.ip,
  })
  return lostTokenCodePage(context, email, codeId)
}

async function chooseSubscription(
  { shop }: ShopRouteParts,
  { context, fields }: SentForm,
): Promise<string> {
  const typed = typedCode(fields)
  return chooseSubscriptionPage(context, typed, await subscriptionsOfCode(shop, typed))
}

async function reissue({ shop }: ShopRouteParts, { context, fields }: SentForm): Promise<string> {
  const { token, subscription } = await finishLostToken(shop, typedCode(fields), {
    subscriptionId: fields.get('subscription') ?? '',
    endsEarlier: fields.get('earlier') === 'end',
  })
  return tokenPage(context, token, subscription.expiresAt)
}

const noBuyer: TypedBuyer = { name: '', inn: '', kpp: '', address: '' }

function filledIn(fields: URLSearchParams): OrderForm {
  const plans = fields.getAll('plan').filter((plan) => plan !== '')
  const typed = (name: string) => fields.get(`buyer-${name}`) ?? ''
  return {
    plans,
    months: Number(fields.get('months') ?? 1),
    email: emailOf(fields),
    buyer: {
      name: typed('name'),
      inn: typed('inn'),
      kpp: typed('kpp'),
      address: typed('address'),
    },
  }
}

function emailOf(fields: URLSearchParams): string {
  return (fields.get('email') ?? '').trim()
}

/** The code that was typed, and its id. */
export function typedCode(fields: URLSearchParams): TypedCode {
  return { codeId: fields.get('id') ?? '', code: fields.get('code') ?? '' }
}

function lostCodeAgain({ context, fields }: SentForm, reason: RefusalReason): string {
  return codeAgainPage(context, '/lost-token', typedCode(fields).codeId, reason, null)
}
