import type { CodePurpose } from '../../control/mailed-codes/email-codes.js'
import type { RedirectTarget } from '../../control/connections/redirect-target.js'
import type { OrderKind } from '../../control/orders.js'
import type { LetterGrant } from '../letter-content.js'

/** An order, for letters. */
export interface LetterOrder {
  readonly orderId: string
  readonly kind: OrderKind
  readonly subscriptionId: string | null
  readonly items: readonly LetterGrant[]
  readonly months: number | null
  readonly amountRub: number
  /** Ms since the epoch. */
  readonly payUntil: number
}

/** A code that lets an agent read with a subscription of the address. */
interface ConnectCodeTopic {
  readonly kind: 'connect-code'
  readonly code: string
  /** The host of the portal. */
  readonly site: string
  /** The name that the agent gave itself; may be empty. */
  readonly app: string
  readonly target: RedirectTarget
}

/** The reason for a letter of the shop, or for one with a code. */
export type ShopTopic =
  | {
      readonly kind: 'code'
      readonly code: string
      readonly purpose: Exclude<CodePurpose, 'connect'>
      /** The host of the portal. */
      readonly site: string
    }
  | ConnectCodeTopic
  | { readonly kind: 'order-received'; readonly order: LetterOrder; readonly payment: string }
  | { readonly kind: 'order-declined'; readonly order: LetterOrder }
  /** To the owner. */
  | { readonly kind: 'new-order'; readonly order: LetterOrder; readonly email: string }

/** The texts of the shop's letters in one language. */
export interface ShopLetterWords {
  readonly subject: (topic: ShopTopic) => string
  /** The first sentence. */
  readonly opening: (topic: ShopTopic) => string
  readonly item: (grant: LetterGrant) => string
  /** Months, amount, and until when to pay. */
  readonly terms: (order: LetterOrder) => readonly string[]
  readonly codeUse: string
  readonly codeUnknown: string
  /** What would be connected, and who gets the access. */
  readonly asked: (topic: ConnectCodeTopic) => string
  readonly askedUnknown: string
  readonly howToConfirm: string
  readonly automatic: string
}
