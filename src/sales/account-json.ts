import Type from 'typebox'
import { Check } from 'typebox/value'
import type { Language } from '../config.js'
import { redirectTarget } from '../control/connections/redirect-target.js'
import type { Grant } from '../control/grants.js'
import type { Order } from '../control/orders.js'
import { badRequest } from '../errors.js'
import { plainText } from '../plain-text.js'
import type {
  ChoiceJson,
  ConnectionJson,
  OrderJson,
  QuoteJson,
  ShopAccountJson,
} from '../portal/account-api.js'
import { grantedTitle, planTitle } from '../registry/registry.js'
import type { OwnConnection } from '../service/own-connections.js'
import { isoTime, isoTimeOrNull, parsedJson } from '../text.js'
import { paperOf } from './orders/papers/paper.js'
import type { PlanChoice, ShopAccount } from './orders/shop-account.js'
import { howToPay, titleOf } from './orders/shop.js'
import type { Shop } from './orders/shop.js'
import type { ChangeQuote, RenewalQuote } from './orders/subscription-orders.js'

const text = Type.String({ maxLength: 200 })
const months = Type.Integer()
const plans = Type.Array(Type.Object({ dataset: text, plan: text }), { maxItems: 50 })
const shown = Type.Object({ amount_rub: Type.Integer({ minimum: 0 }) })

const RenewalSchema = Type.Object({ kind: Type.Literal('renew'), months })
const ChangeSchema = Type.Object({ kind: Type.Literal('change'), plans })

/** What the page asks a price for. */
export const WantedSchema = Type.Union([RenewalSchema, ChangeSchema])

/** What the page orders, at the price that it showed. */
export const OrderSchema = Type.Intersect([WantedSchema, shown])

/** A code as it was typed. */
export const TypedCodeSchema = Type.Object({
  code_id: text,
  code: text,
  end_earlier: Type.Boolean(),
})

/** @throws bad_request for what the page does not send */
export function readJson<Schema extends Type.TSchema>(
  schema: Schema,
  body: Buffer,
): Type.Static<Schema> {
  const content = parsedJson(body.toString('utf8'))
  if (Check(schema, content)) return content
  throw badRequest('The body is not what the account page sends.')
}

/** A connection in JSON. */
export function connectionJson(connection: OwnConnection): ConnectionJson {
  const { connectionId, clientName, redirectUri, connectedAt, lastUsedAt, state } = connection
  return {
    connection: connectionId,
    app: plainText(clientName),
    target: redirectTarget(redirectUri) ?? { kind: 'computer' },
    connected_at: isoTimeOrNull(connectedAt),
    last_used_at: isoTimeOrNull(lastUsedAt),
    state,
  }
}

/** What a subscription can order and has ordered, in one language. */
export function accountJson(
  shop: Shop,
  language: Language,
  { offer, choices, orders, ...account }: ShopAccount,
): ShopAccountJson {
  return {
    contact: offer.contact,
    terms: offer.terms,
    renewal: account.renewal,
    choices: choices.map((choice) => choiceJson(shop, language, choice)),
    orders: orders.map((order) => orderJson(shop, language, order)),
    can_reissue: account.canReissue,
  }
}

function choiceJson(
  shop: Shop,
  language: Language,
  { dataset, current, atEnd, plans: offered }: PlanChoice,
): ChoiceJson {
  const titleOfPlan = (plan: string | null) =>
    plan === null ? null : grantedTitle(shop.registry(), language, { dataset, plan })
  return {
    dataset,
    title: titleOf(shop, language, dataset),
    current: titleOfPlan(current),
    at_end: titleOfPlan(atEnd),
    is_scheduled: current !== null && atEnd !== current,
    plans: offered.map((plan) => {
      const { name, priceRub, rowsPerMonth } = plan
      const title = planTitle(language, plan)
      return { name, title, month_rub: priceRub, rows_per_month: rowsPerMonth }
    }),
  }
}

/** An order in JSON; how to pay it while it waits. */
export function orderJson(shop: Shop, language: Language, order: Order): OrderJson {
  const waiting = order.state === 'waiting' ? order : null
  return {
    number: order.orderId,
    kind: order.kind,
    state: order.state,
    ordered_at: isoTime(order.orderedAt),
    done_at: isoTimeOrNull(order.doneAt),
    items: titled(shop, language, order.items),
    takes_effect_at: isoTimeOrNull(order.takesEffectAt),
    months: order.months,
    amount_rub: order.amountRub,
    pay_until: waiting && isoTime(waiting.payUntil),
    payment: waiting && howToPay(shop, language, waiting),
    paper: paperOf(shop.registry(), order)?.kind ?? null,
  }
}

/** A price in JSON: of more months, or of other plans. */
export function quoteJson(
  shop: Shop,
  language: Language,
  quote: RenewalQuote | ChangeQuote,
): QuoteJson {
  return {
    amount_rub: quote.amountRub,
    expires_at: isoTime(quote.expiresAt),
    moves_term: 'later' in quote && quote.months !== null,
    later: 'later' in quote ? titled(shop, language, quote.later) : [],
  }
}

function titled(shop: Shop, language: Language, items: readonly Grant[]): OrderJson['items'] {
  return items.map((item) => ({
    ...item,
    title: titleOf(shop, language, item.dataset),
    plan_title: grantedTitle(shop.registry(), language, item),
  }))
}
