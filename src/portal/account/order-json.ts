import type { Language } from '../../config.js'
import type { Grant } from '../../control/grants.js'
import type { Order, OrderKind, OrderState } from '../../control/orders.js'
import { textIn } from '../../registry/local-text.js'
import type { LocalText } from '../../registry/local-text.js'
import type { Placed } from '../../shop/place-order.js'
import type { PlanChoice, ShopAccount } from '../../shop/shop-account.js'
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
  const receipt = (order: Order): OrderJson => {
    const waiting = order.state === 'waiting' ? order : null
    return {
      number: order.orderId,
      kind: order.kind,
      state: order.state,
      ordered_at: isoTime(order.orderedAt),
      done_at: isoOrNull(order.doneAt),
      items: order.items.map((item) => ({ ...item, title: title(item.dataset) })),
      months: order.months,
      amount_rub: order.amountRub,
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
    placed: (placed) => receipt(placed.kind === 'waiting' ? placed.order : placed.confirmed.order),
  }
}
