import type { Language } from '../../config.js'
import type { Grant } from '../../control/grants.js'
import type { OrderKind, OrderState } from '../../control/shop/orders.js'
import { textIn } from '../../registry/local-text.js'
import type { LocalText } from '../../registry/local-text.js'
import type { Placed } from '../../shop/place-order.js'
import type { PlanChoice, Receipt, ShopAccount } from '../../shop/shop-account.js'
import type { Shop } from '../../shop/shop.js'
import { isoTime } from '../../text.js'
import { isoOrNull } from './account-json.js'

/** What the account page reads of the shop; times are ISO 8601 in UTC, prices whole roubles. */
export interface ShopAccountJson {
  readonly subscription: string
  readonly expires_at: string
  readonly month_rub: number | null
  readonly contact: string | null
  readonly terms: string | null
  readonly renewal: ShopAccount['renewal']
  readonly choices: readonly ChoiceJson[]
  readonly orders: readonly OrderJson[]
  readonly can_reissue: boolean
}

export interface ChoiceJson {
  readonly dataset: string
  readonly title: string
  readonly current: string | null
  readonly plans: readonly {
    readonly name: string
    readonly month_rub: number
    readonly rows_per_month: number
  }[]
}

export interface OrderJson {
  readonly number: string
  readonly kind: OrderKind
  readonly state: OrderState
  readonly ordered_at: string
  readonly done_at: string | null
  readonly items: readonly (Grant & { readonly title: string })[]
  readonly months: number | null
  readonly amount_rub: number
  /** Only of one that waits, like `payment`. */
  readonly pay_until: string | null
  readonly payment: string | null
}

/** Writes what the shop knows, in one language. */
export interface OrderWriter {
  readonly account: (account: ShopAccount) => ShopAccountJson
  readonly placed: (placed: Placed) => OrderJson
}

/** Creates a writer of JSON; `titleOf` finds a dataset's title in the registry. */
export function orderWriter(
  language: Language,
  titleOf: (dataset: string) => LocalText | undefined,
  paymentText: Shop['paymentText'],
): OrderWriter {
  const title = (dataset: string) => textIn(language, titleOf(dataset) ?? dataset)
  const choice = ({ dataset, current, plans }: PlanChoice): ChoiceJson => ({
    dataset,
    title: title(dataset),
    current,
    plans: plans.map(({ name, priceRub, rowsPerMonth }) => {
      return { name, month_rub: priceRub, rows_per_month: rowsPerMonth }
    }),
  })
  const receipt = ({ order, ...facts }: Receipt): OrderJson => {
    const waiting = order?.state === 'waiting' ? order : null
    return {
      number: facts.number,
      kind: facts.kind,
      state: facts.state,
      ordered_at: isoTime(facts.orderedAt),
      done_at: isoOrNull(facts.doneAt),
      items: facts.items.map((item) => ({ ...item, title: title(item.dataset) })),
      months: facts.months,
      amount_rub: facts.amountRub,
      pay_until: waiting && isoTime(waiting.payUntil),
      payment: waiting && paymentText(waiting, language),
    }
  }
  return {
    account: ({ subscription, offer, choices, orders, ...own }) => ({
      subscription: subscription.subscriptionId,
      expires_at: isoTime(subscription.expiresAt),
      month_rub: own.monthRub,
      contact: offer.contact,
      terms: offer.terms,
      renewal: own.renewal,
      choices: choices.map(choice),
      orders: orders.map(receipt),
      can_reissue: own.canReissue,
    }),
    placed: (placed) => {
      const order = placed.kind === 'waiting' ? placed.order : placed.confirmed.order
      return receipt({ ...order, number: order.orderId, order })
    },
  }
}
