import type { Language } from '../../config.js'
import type { Order } from '../../control/orders.js'
import { textIn } from '../../registry/local-text.js'
import type { LocalText } from '../../registry/local-text.js'
import type { Placed } from '../orders/place-order.js'
import type { PlanChoice, ShopAccount } from '../orders/shop-account.js'
import type { Shop } from '../orders/shop.js'
import { isoTime } from '../../text.js'
import type { ChoiceJson, OrderJson, ShopAccountJson } from '../../portal/account/account-api.js'
import { isoOrNull } from './account-json.js'

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
