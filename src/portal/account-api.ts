import type { RedirectTarget } from '../control/connections/redirect-target.js'
import type { Delivery } from '../control/hooks/deliveries.js'
import type { WatchList } from '../control/hooks/watch-lists.js'
import type { Webhook } from '../control/hooks/webhooks.js'
import type { Grant } from '../control/grants.js'
import type { OrderKind, OrderState } from '../control/orders.js'
import type { OwnConnection } from '../service/own-connections.js'

/** An agent's connection as the account page reads it; times are ISO 8601 in UTC. */
export interface ConnectionJson {
  readonly connection: string
  /** The name that the agent gave itself. */
  readonly app: string
  readonly target: RedirectTarget
  readonly connected_at: string | null
  readonly last_used_at: string | null
  readonly state: OwnConnection['state']
}

/** A webhook in JSON, without its secret. */
export interface WebhookJson extends Pick<Webhook, 'url' | 'events' | 'watch' | 'state'> {
  readonly id: string
  readonly created_at: string
}

/** A watch list in JSON, without its values. */
export interface WatchListJson extends Omit<WatchList, 'values'> {
  readonly count: number
}

/** A message to a webhook in JSON; `at` is the time of its last attempt, or when it was made. */
export interface DeliveryJson extends Pick<
  Delivery,
  'n' | 'type' | 'state' | 'attempts' | 'status' | 'error'
> {
  readonly at: string
  readonly next_attempt_at: string | null
}

/** What the account page reads of the shop; times are ISO 8601 in UTC, prices whole roubles. */
export interface ShopAccountJson {
  readonly contact: string | null
  readonly terms: string | null
  readonly renewal: { readonly months: number | null } | null
  readonly choices: readonly ChoiceJson[]
  readonly orders: readonly OrderJson[]
  readonly can_reissue: boolean
}

export interface ChoiceJson {
  readonly dataset: string
  readonly title: string
  /** The title of the plan; so are the others. */
  readonly current: string | null
  /** The plan from the end of the term on. */
  readonly at_end: string | null
  /** Another plan, or none, is scheduled for the end of the term. */
  readonly is_scheduled: boolean
  readonly plans: readonly {
    readonly name: string
    readonly title: string
    readonly month_rub: number
    readonly rows_per_month: number
  }[]
}

interface TitledGrant extends Grant {
  /** Of the dataset. */
  readonly title: string
  readonly plan_title: string
}

export interface OrderJson {
  readonly number: string
  readonly kind: OrderKind
  readonly state: OrderState
  readonly ordered_at: string
  readonly done_at: string | null
  readonly items: readonly TitledGrant[]
  /** Of a change for the end of the term, until then. */
  readonly takes_effect_at: string | null
  readonly months: number | null
  readonly amount_rub: number
  /** Only of one that waits, like `payment`. */
  readonly pay_until: string | null
  readonly payment: string | null
  /** The paper that a person who signed in can open; null without one. */
  readonly paper: 'invoice' | 'receipt' | null
}

/** The price of what is wanted, and when it begins. */
export interface QuoteJson {
  readonly amount_rub: number
  /** The end of the subscription after it. */
  readonly expires_at: string
  /** Whether the term moves to one month from the confirmation. */
  readonly moves_term: boolean
  /** What changes at the end of the term. */
  readonly later: readonly TitledGrant[]
}
