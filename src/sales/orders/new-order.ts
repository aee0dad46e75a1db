import type { Grant } from '../../control/grants.js'
import type { Buyer } from '../../control/orders.js'
import { findCode, noteUse } from '../../control/mailed-codes/email-codes.js'
import { freeMonths } from '../../control/order-limits.js'
import { monthsMax } from '../../control/subscriptions.js'
import { priceRub } from '../../registry/price.js'
import { requestCode, withCode } from '../codes.js'
import type { TypedCode, Visitor } from '../codes.js'
import { offerOf, offeredPlans } from './offer.js'
import { placeOrder } from './place-order.js'
import type { Placed } from './place-order.js'
import { ShopRefusal } from './refusals.js'
import type { Shop } from './shop.js'

/** Plans and months that a visitor chose, one plan for each dataset. */
interface WantedPlans {
  readonly items: readonly Grant[]
  readonly months: number
  /** Null for a person. */
  readonly buyer: Buyer | null
}

/** The same at today's prices. */
export interface Quote extends WantedPlans {
  /** Whole roubles. */
  readonly amountRub: number
}

/** The price of plans; free ones alone are given for a fixed time. @throws ShopRefusal */
export function quoteNew(shop: Shop, { items, months, buyer }: WantedPlans): Quote {
  const plans = offeredPlans(shop.registry(), offerOf(shop), items)
  if (plans.every((plan) => plan.priceRub === 0)) {
    return { items, months: freeMonths, buyer, amountRub: 0 }
  }
  if (!Number.isInteger(months) || months < 1 || months > monthsMax) throw new ShopRefusal('months')
  return { items, months, buyer, amountRub: priceRub(plans, months) }
}

/**
 * Mails a code for an order; returns its id.
 * @throws ShopRefusal; CodeRefusal for what is no address, and over the limits of codes
 */
export async function startOrder(
  shop: Shop,
  visitor: Visitor,
  wanted: WantedPlans,
): Promise<string> {
  return await requestCode(shop, { ...visitor, purpose: 'order', subject: quoteNew(shop, wanted) })
}

/** What a code was mailed for; null for an unknown code, and for one of another purpose. */
export async function quoteOf({ store }: Shop, codeId: string): Promise<Quote | null> {
  const code = await findCode(store, codeId)
  return code?.purpose === 'order' ? readQuote(code.subject) : null
}

/** This module wrote the subject. */
function readQuote(subject: string): Quote {
  return JSON.parse(subject) as Quote
}

/**
 * Places the order of a code, once.
 * @throws CodeRefusal; ShopRefusal when a price has changed since, and over limits
 */
export async function finishOrder(shop: Shop, typed: TypedCode): Promise<Placed> {
  const placed = await withCode(shop, 'order', typed, async (code, tx) => {
    const { codeId, email, language, subject } = code
    const shown = readQuote(subject)
    const quote = quoteNew(shop, shown)
    if (quote.amountRub !== shown.amountRub) throw new ShopRefusal('price')
    await noteUse(tx, codeId, shop.now())
    const facts = { kind: 'new', subscriptionId: null, basedOn: null } as const
    return await placeOrder({ ...shop, store: tx }, { ...facts, ...quote, email, language })
  })
  shop.sendLetters()
  return placed
}
