import type { Language } from '../../config.js'
import type { Grant } from '../../control/grants.js'
import { noteUse } from '../../control/mailed-codes/email-codes.js'
import type { Order } from '../../control/orders.js'
import type { PaymentOutcome } from '../../control/payments.js'
import { freeMonths } from '../../control/order-limits.js'
import { monthsMax } from '../../control/subscriptions.js'
import type { Subscription } from '../../control/subscriptions.js'
import type { ReissuedToken } from '../../control/tokens/tokens.js'
import type { LocalText } from '../../registry/local-text.js'
import { paymentText } from '../../registry/shop/payment-text.js'
import { priceRub } from '../../registry/price.js'
import { requestCode, withCode } from '../codes/codes.js'
import type { TypedCode } from '../codes/codes.js'
import { reissueByCode, subscriptionsOfCode } from './lost-token.js'
import type { FoundToken } from './lost-token.js'
import { offerOf, offeredPlans } from './offer.js'
import type { Offer } from './offer.js'
import { placeOrder } from './place-order.js'
import type { Placed } from './place-order.js'
import { receivePayment } from './receive-payment.js'
import type { ReportedPayment } from './receive-payment.js'
import { ShopRefusal } from './refusals.js'
import { finishReissue, startReissue } from './reissue.js'
import { shopAccount } from './shop-account.js'
import type { ShopAccount } from './shop-account.js'
import type { ShopParts } from './shop-parts.js'
import { orderChange, orderRenewal, quoteChange, quoteRenewal } from './subscription-orders.js'
import type { ChangeQuote, RenewalQuote } from './subscription-orders.js'

/** Plans and months that a visitor chose, one plan for each dataset. */
interface Choice {
  readonly items: readonly Grant[]
  readonly months: number
}

/** Who asks for a code. */
interface Visitor {
  readonly email: string
  readonly language: Language
  /** The network address. */
  readonly address: string
}

/** A choice at today's prices. */
export interface Quote extends Choice {
  /** Whole roubles. */
  readonly amountRub: number
}

/** How visitors let themselves in. Every function but `offer` may throw a Refusal. */
export interface Shop {
  /** Whether codes can be mailed: without them lost tokens can't be replaced here. */
  readonly isMailOn: boolean
  readonly offer: () => Offer
  readonly quote: (choice: Choice) => Quote
  /** How to pay an order. */
  readonly paymentText: (order: Order, language: Language) => string
  /** Mails a code for an order; returns its id. */
  readonly startOrder: (visitor: Visitor, choice: Choice) => Promise<string>
  /** Places the order of a code, once. */
  readonly finishOrder: (typed: TypedCode) => Promise<Placed>
  /** Mails a code for a new token; returns its id. */
  readonly startLostToken: (visitor: Visitor) => Promise<string>
  readonly subscriptionsOfCode: (typed: TypedCode) => Promise<readonly Subscription[]>
  readonly reissueByCode: (
    typed: TypedCode,
    wanted: { readonly subscriptionId: string; readonly endsEarlier: boolean },
  ) => Promise<FoundToken>
  /** For the holder of a token of the subscription. */
  readonly quoteRenewal: (subscriptionId: string, months: number) => Promise<RenewalQuote>
  readonly orderRenewal: (
    subscriptionId: string,
    months: number,
    shownRub?: number,
  ) => Promise<Placed>
  readonly quoteChange: (subscriptionId: string, wanted: readonly Grant[]) => Promise<ChangeQuote>
  readonly orderChange: (
    subscriptionId: string,
    wanted: readonly Grant[],
    shownRub?: number,
  ) => Promise<Placed>
  readonly account: (subscriptionId: string) => Promise<ShopAccount>
  /** The title of a dataset in the registry. */
  readonly titleOf: (dataset: string) => LocalText | undefined
  /** Mails a code for a new token to the address of the subscription; returns its id. */
  readonly startReissue: (subscriptionId: string, address: string) => Promise<string>
  readonly finishReissue: (
    subscriptionId: string,
    typed: TypedCode,
    options: { readonly endsEarlier: boolean },
  ) => Promise<ReissuedToken>
  /** Takes a report of a payment system. @throws not_found for an unknown order */
  readonly receivePayment: (reported: ReportedPayment) => Promise<PaymentOutcome>
}

/** The shop of a server. */
export function createShop(parts: ShopParts): Shop {
  const { now } = parts
  const quote = (choice: Choice) => quoteChoice(parts, choice)
  return Object.freeze<Shop>({
    isMailOn: parts.isMailOn,
    offer: () => offerOf(parts),
    quote,
    paymentText: (order, language) => paymentText(parts.registry().shop.payment, language, order),
    startOrder: (visitor, choice) => {
      return requestCode(parts, { ...visitor, purpose: 'order', subject: quote(choice) })
    },
    finishOrder: async (typed) => {
      const placed = await withCode(
        parts,
        'order',
        typed,
        async ({ codeId, email, language, subject }, tx) => {
          // This module wrote the subject.
          const shown = JSON.parse(subject) as Quote
          const wanted = quote(shown)
          if (wanted.amountRub !== shown.amountRub) throw new ShopRefusal('price')
          await noteUse(tx, codeId, now())
          const facts = { kind: 'new', subscriptionId: null, basedOn: null } as const
          const inside = { ...parts, store: tx }
          return await placeOrder(inside, { ...facts, ...wanted, email, language })
        },
      )
      parts.sendLetters()
      return placed
    },
    startLostToken: async (visitor) => {
      if (!parts.isMailOn) throw new ShopRefusal('closed')
      return await requestCode(parts, { ...visitor, purpose: 'lost-token', subject: null })
    },
    subscriptionsOfCode: (typed) => subscriptionsOfCode(parts, typed),
    reissueByCode: (typed, wanted) => reissueByCode(parts, typed, wanted),
    quoteRenewal: (id, months) => quoteRenewal(parts, id, months),
    orderRenewal: (id, months, shownRub) => orderRenewal(parts, id, months, shownRub),
    quoteChange: (id, wanted) => quoteChange(parts, id, wanted),
    orderChange: (id, wanted, shownRub) => orderChange(parts, id, wanted, shownRub),
    account: (id) => shopAccount(parts, id),
    titleOf: (dataset) => parts.registry().datasets.get(dataset)?.title,
    startReissue: (id, address) => startReissue(parts, id, address),
    finishReissue: (id, typed, options) => finishReissue(parts, id, typed, options),
    receivePayment: async (reported) => {
      const outcome = await receivePayment(parts, reported)
      parts.sendLetters()
      return outcome
    },
  })
}

/** The price of a choice; free plans alone are given for a fixed time. @throws ShopRefusal */
function quoteChoice(parts: ShopParts, { items, months }: Choice): Quote {
  const plans = offeredPlans(parts.registry(), offerOf(parts), items)
  if (plans.every((plan) => plan.priceRub === 0)) return { items, months: freeMonths, amountRub: 0 }
  if (!Number.isInteger(months) || months < 1 || months > monthsMax) throw new ShopRefusal('months')
  return { items, months, amountRub: priceRub(plans, months) }
}
