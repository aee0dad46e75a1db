import type { ConnectionMeans } from '../control/connections/connections.js'
import type { RedirectTarget } from '../control/connections/redirect-target.js'
import type { OrderKind } from '../control/orders.js'

/** A dataset of a subscription, for letters. */
export interface LetterGrant {
  readonly title: string
  readonly dataset: string
  readonly plan: string
  /** The plan's limits; null when the registry no longer has the plan. */
  readonly offer: { readonly rowsPerMonth: number; readonly history: number | 'all' } | null
}

/** A subscription, for letters. */
export interface LetterSubscription {
  readonly subscriptionId: string
  /** Ms since the epoch. */
  readonly expiresAt: number
  readonly grants: readonly LetterGrant[]
  /** Rows a month over all datasets; null = no cap. */
  readonly globalRows: number | null
}

/** A confirmed order of the shop. */
export interface Receipt {
  readonly orderId: string
  readonly kind: OrderKind
  readonly months: number | null
  /** Whole roubles. */
  readonly amountRub: number
}

/** An agent that signed in with a token of the subscription, or with a mailed code. */
interface ConnectionTopic {
  readonly kind: 'connection-made'
  /** The name that the agent gave itself; may be empty. */
  readonly app: string
  readonly target: RedirectTarget
  readonly madeBy: ConnectionMeans
  /** Ms since the epoch. */
  readonly connectedAt: number
  /** It can no longer be used. */
  readonly isOver: boolean
  readonly accountUrl: string
}

/** The reason for a letter to a subscriber; times in ms since the epoch. */
export type LetterTopic =
  | {
      readonly kind: 'new-token'
      readonly token: string
      readonly base: string
      /** Null for a sale without an order. */
      readonly receipt: Receipt | null
    }
  | {
      readonly kind: 'reissued-token'
      readonly token: string
      readonly base: string
      /** When the last of the earlier tokens ends; null = no earlier token works. */
      readonly previousValidUntil: number | null
    }
  | { readonly kind: 'reminder'; readonly daysLeft: number }
  | { readonly kind: 'order-confirmed'; readonly receipt: Receipt }
  | ConnectionTopic

/** The texts of letters in one language. */
export interface LetterWords {
  readonly subject: (topic: LetterTopic, grants: readonly LetterGrant[]) => string
  /** The first sentence. */
  readonly opening: (topic: LetterTopic, subscription: LetterSubscription) => string
  readonly grant: (grant: LetterGrant) => string
  readonly globalRows: (rows: number) => string
  readonly receipt: (receipt: Receipt) => string
  readonly yourToken: string
  readonly useToken: string
  readonly useMcp: string
  /** After the address, where agents can sign in. */
  readonly useAddress: string
  readonly keepSecret: string
  readonly goOn: string
  /** Who was connected. */
  readonly agent: (topic: ConnectionTopic) => string
  /** Who got the access. */
  readonly receiver: (target: RedirectTarget) => string
  readonly connectionOver: string
  /** Before the address of the account page. */
  readonly endConnection: Readonly<Record<ConnectionMeans, string>>
  readonly signature: (subscriptionId: string) => string
}
