import type { Language } from '../../config.js'
import type { Order } from '../../control/orders.js'
import type { ControlStore } from '../../control/store/store.js'
import { textIn } from '../../registry/local-text.js'
import { paymentText } from '../../registry/payment-text.js'
import type { Registry } from '../../registry/registry.js'
import type { CodeParts } from '../codes.js'

/** What changes of orders need, in a server and in a command. */
export interface OrderParts {
  readonly store: ControlStore
  readonly registry: () => Registry
  /** Seals tokens and codes for letters. */
  readonly mailKey: Uint8Array
  /** Ms since the epoch. */
  readonly now: () => number
}

/** The shop of a server, where visitors let themselves in. */
export interface Shop extends OrderParts, CodeParts {
  /** False when the server has no mail server: then nothing can be ordered. */
  readonly isMailOn: boolean
}

/** How to pay an order. */
export function howToPay({ registry }: Shop, language: Language, order: Order): string {
  return paymentText(registry().shop.payment, language, order)
}

/** The title of a dataset in the registry, or its name. */
export function titleOf({ registry }: Shop, language: Language, dataset: string): string {
  return textIn(language, registry().datasets.get(dataset)?.title ?? dataset)
}
