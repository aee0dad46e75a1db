import type { ConnectionMeans } from '../../control/connections/connections.js'
import type { RedirectTarget } from '../../control/connections/redirect-target.js'
import type { CodePurpose } from '../../control/mailed-codes/email-codes.js'
import type { Order } from '../../control/orders.js'

/** A part of a letter, for text and HTML. */
export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  /** To be copied unchanged. */
  | { readonly kind: 'code'; readonly text: string }

export interface LetterText {
  /** Never contains a token or a code. */
  readonly subject: string
  readonly blocks: readonly Block[]
}

/** A dataset of a subscription or an order, for letters. */
export interface LetterGrant {
  readonly title: string
  readonly dataset: string
  /** What people read of it. */
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

/** An order, for letters. */
export interface LetterOrder extends Pick<
  Order,
  'orderId' | 'kind' | 'subscriptionId' | 'buyer' | 'months' | 'amountRub' | 'payUntil'
> {
  readonly items: readonly LetterGrant[]
}

/** A confirmed order of the shop. */
export type Receipt = Pick<Order, 'orderId' | 'months' | 'amountRub'>

/** A letter to the holder of a subscription. */
interface ToSubscriber {
  readonly subscription: LetterSubscription
}

interface WithToken extends ToSubscriber {
  readonly token: string
  /** The address of the service. */
  readonly base: string
}

interface AgentFacts {
  /** The name that the agent gave itself; may be empty. */
  readonly app: string
  /** Who gets the access. */
  readonly target: RedirectTarget
}

interface CodeFacts {
  readonly code: string
  /** The host of the portal. */
  readonly site: string
}

/** What each kind of letter is about; times in ms since the epoch. */
export interface LetterFacts {
  /** `receipt` is null for a sale without an order. */
  'new-token': WithToken & { readonly receipt: Receipt | null }
  /** `previousValidUntil`: when the last of the earlier tokens ends; null = none works. */
  'reissued-token': WithToken & { readonly previousValidUntil: number | null }
  reminder: ToSubscriber & { readonly daysLeft: number; readonly base: string }
  'order-confirmed': ToSubscriber &
    Pick<WithToken, 'base'> & {
      readonly receipt: Receipt
      /** What changes at the end of the term; null where the order has taken effect. */
      readonly later: { readonly at: number; readonly items: readonly LetterGrant[] } | null
    }
  'connection-made': ToSubscriber &
    AgentFacts & {
      readonly madeBy: ConnectionMeans
      readonly connectedAt: number
      /** It can no longer be used. */
      readonly isOver: boolean
      readonly accountUrl: string
    }
  code: CodeFacts & { readonly purpose: Exclude<CodePurpose, 'connect'> }
  /** A code that lets an agent read with a subscription of the address. */
  'connect-code': CodeFacts & AgentFacts
  'order-received': { readonly order: LetterOrder; readonly payment: string }
  'order-declined': { readonly order: LetterOrder }
  /** To the owners; `link` confirms or declines the order, null = there is none. */
  'new-order': {
    readonly order: LetterOrder
    readonly email: string
    readonly link: string | null
  }
  'order-done': {
    readonly order: LetterOrder
    readonly email: string
    readonly state: Order['state']
  }
}

/** A kind of letter with its facts. */
export type LetterTopic = {
  readonly [Kind in keyof LetterFacts]: { readonly kind: Kind } & LetterFacts[Kind]
}[keyof LetterFacts]
