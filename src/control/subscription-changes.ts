import type { Language } from '../config.js'
import { badRequest } from '../errors.js'
import { isoTime } from '../text.js'
import { recordAction } from './audit.js'
import type { AuditDetails } from './audit.js'
import { checkGrants, grantTexts, insertGrants } from './grants.js'
import type { Grant } from './grants.js'
import { enterSale } from './orders.js'
import { dropScheduled, grantsAtEnd, moveScheduled } from './scheduled-changes.js'
import { endSessionsOf } from './sessions/sessions.js'
import { sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'
import {
  addMonths,
  checkedEmail,
  checkGlobalRows,
  checkMonths,
  dayOfMonth,
  ensureSubscriber,
  showSubscription,
} from './subscriptions.js'
import type { Subscription } from './subscriptions.js'

const monthsAheadMax = 120

export interface Extension {
  /** 1 to 120. */
  readonly months: number
  /** The price of the months under the grants that they begin with, in whole roubles. */
  readonly priceRub: (grants: readonly Grant[]) => number
  /** The order of the shop; left out = the owner's. */
  readonly orderId?: string
  readonly now: () => number
}

export interface ExtendedSubscription extends Subscription {
  readonly priceRub: number
}

/**
 * Adds paid months: to the end of a live subscription, or from now for an expired one, whose tokens
 * work again at once. Short months never shorten paid time: a subscription that ends on the 31st
 * ends on the 31st again in months that have one.
 *
 * @throws not_found; bad_request for a cancelled subscription, or more than 120 months ahead.
 */
export async function extendSubscription(
  store: ControlStore,
  subscriptionId: string,
  { months, priceRub: priceOf, orderId, now }: Extension,
): Promise<ExtendedSubscription> {
  checkMonths(months)
  return await store.write(async (tx) => {
    const before = await uncancelled(tx, subscriptionId)
    const orderedAt = now()
    const isLive = before.expiresAt > orderedAt
    const start = isLive ? before.expiresAt : orderedAt
    const anchorDay = isLive ? before.anchorDay : dayOfMonth(orderedAt)
    const expiresAt = addMonths(start, months, anchorDay)
    if (expiresAt > addMonths(orderedAt, monthsAheadMax)) {
      throw badRequest(`A subscription ends at most ${monthsAheadMax} months ahead.`)
    }
    await tx.run(
      sql`UPDATE subscriptions SET expires_at = ${expiresAt}, anchor_day = ${anchorDay}
       WHERE id = ${subscriptionId}`,
    )
    const priceRub = priceOf(await grantsAtEnd(tx, before))
    await enterSale(tx, subscriptionId, {
      kind: 'renew',
      months,
      priceRub,
      orderId,
      now: orderedAt,
    })
    await recordAction(tx, {
      action: 'subscription.extended',
      subject: subscriptionId,
      details: { months, price_rub: priceRub, expires_at: isoTime(expiresAt) },
      now: orderedAt,
    })
    return { ...(await showSubscription(tx, subscriptionId)), priceRub }
  })
}

export interface SubscriptionChange {
  /** Datasets that get this plan, in place of another or as an addition. */
  readonly grants: readonly Grant[]
  /** Datasets that are removed. */
  readonly withdrawn: readonly string[]
  /** A new cap over all datasets, null for no cap; left out = unchanged. */
  readonly globalRows?: number | null
  /** The new subscriber; left out = unchanged. */
  readonly email?: string
  /** The language of letters; left out = unchanged. */
  readonly language?: Language
  /** What the change costs, in whole roubles; left out = nothing. */
  readonly priceRub?: number
  /** 1 = the term moves to one month from now; left out = its end stays. */
  readonly months?: 1 | undefined
  /** The order of the shop; left out = the owner's. */
  readonly orderId?: string
  readonly now: () => number
}

/**
 * Changes plans, datasets, the common cap or the subscriber, from the next request on. The usage of
 * this month stays: a change does not reset a quota. What was scheduled for the same datasets no
 * longer happens. Another address ends the sessions of the one before.
 *
 * @throws not_found; bad_request for a cancelled subscription, or an invalid change.
 */
export async function changeSubscription(
  store: ControlStore,
  subscriptionId: string,
  change: SubscriptionChange,
): Promise<Subscription> {
  if (change.globalRows !== undefined) checkGlobalRows(change.globalRows)
  const newEmail = change.email === undefined ? undefined : checkedEmail(change.email)
  return await store.write(async (tx) => {
    const before = await uncancelled(tx, subscriptionId)
    const orderedAt = change.now()
    const grants = changedGrants(before, change)
    const { globalRows = before.globalRows, language = before.language, months } = change
    const expiresAt = months ? addMonths(orderedAt, months) : before.expiresAt
    const anchorDay = months ? dayOfMonth(orderedAt) : before.anchorDay
    const email = newEmail ?? before.email
    await ensureSubscriber(tx, email, orderedAt)
    const isTheirs = tx.dialect.isEmail(sql`email`, email)
    await tx.run(
      sql`UPDATE subscriptions SET global_rows = ${globalRows}, language = ${language},
         expires_at = ${expiresAt}, anchor_day = ${anchorDay},
         subscriber_id = (SELECT id FROM subscribers WHERE ${isTheirs})
       WHERE id = ${subscriptionId}`,
    )
    await tx.run(sql`DELETE FROM grants WHERE subscription_id = ${subscriptionId}`)
    await insertGrants(tx, subscriptionId, grants)
    const { priceRub, orderId } = change
    const sold = { kind: 'change', months, priceRub, orderId, now: orderedAt } as const
    await enterSale(tx, subscriptionId, sold)
    await dropScheduled(tx, subscriptionId, namedIn(change), orderedAt)
    if (months) await moveScheduled(tx, before, expiresAt)
    const after = await showSubscription(tx, subscriptionId)
    if (after.email !== before.email) await endSessionsOf(tx, before.email)
    await recordAction(tx, {
      action: 'subscription.changed',
      subject: subscriptionId,
      details: differences(before, after),
      now: orderedAt,
    })
    return after
  })
}

/**
 * Ends a subscription permanently: its tokens are refused from the next request on. Cancelling it
 * again keeps the first time.
 *
 * @throws not_found when the subscription does not exist.
 */
export function cancelSubscription(
  store: ControlStore,
  subscriptionId: string,
  now: () => number,
): Promise<Subscription> {
  return store.write(async (tx) => {
    const before = await showSubscription(tx, subscriptionId)
    if (before.cancelledAt !== null) return before
    const cancelledAt = now()
    await tx.run(
      sql`UPDATE subscriptions SET cancelled_at = ${cancelledAt} WHERE id = ${subscriptionId}`,
    )
    await recordAction(tx, {
      action: 'subscription.cancelled',
      subject: subscriptionId,
      now: cancelledAt,
    })
    return await showSubscription(tx, subscriptionId)
  })
}

async function uncancelled(store: ControlStore, subscriptionId: string): Promise<Subscription> {
  const subscription = await showSubscription(store, subscriptionId)
  if (subscription.cancelledAt === null) return subscription
  throw badRequest(`Subscription '${subscriptionId}' is cancelled. Create a new one.`)
}

/** The grants after a change. @throws bad_request for an invalid one */
export function changedGrants(
  before: Pick<Subscription, 'grants'>,
  { grants, withdrawn }: Pick<SubscriptionChange, 'grants' | 'withdrawn'>,
): readonly Grant[] {
  const plans = new Map(before.grants.map(({ dataset, plan }) => [dataset, plan]))
  for (const dataset of withdrawn) {
    if (!plans.delete(dataset)) {
      throw badRequest(`The subscription has no dataset '${dataset}' to withdraw.`)
    }
  }
  checkOnce(grants, withdrawn)
  for (const { dataset, plan } of grants) plans.set(dataset, plan)
  if (plans.size === 0) {
    throw badRequest('The change would leave no dataset. To end the subscription, cancel it.')
  }
  const after = [...plans].map(([dataset, plan]) => ({ dataset, plan }))
  checkGrants(after)
  return after
}

/** What a change changed, before and after. */
function differences(before: Subscription, after: Subscription): AuditDetails {
  const facts = ({ email, language, globalRows, grants, expiresAt }: Subscription) => ({
    email,
    language,
    global_rows: globalRows,
    expires_at: isoTime(expiresAt),
    grants: grantTexts(grants),
  })
  const earlier: AuditDetails = facts(before)
  const changed = Object.entries(facts(after)).flatMap(([name, value]) => {
    const was = earlier[name] ?? null
    return JSON.stringify(was) === JSON.stringify(value)
      ? []
      : [[name, { before: was, after: value }] as const]
  })
  return Object.fromEntries(changed)
}

/** A dataset named twice is a mistake: it gets one plan, or is withdrawn. */
function checkOnce(grants: readonly Grant[], withdrawn: readonly string[]): void {
  const named = namedIn({ grants, withdrawn })
  const twice = named.find((dataset, at) => named.indexOf(dataset) !== at)
  if (twice !== undefined) throw badRequest(`Name the dataset '${twice}' only once.`)
}

function namedIn({
  grants,
  withdrawn,
}: Pick<SubscriptionChange, 'grants' | 'withdrawn'>): readonly string[] {
  return [...grants.map(({ dataset }) => dataset), ...withdrawn]
}
