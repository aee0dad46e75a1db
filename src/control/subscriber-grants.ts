import type { Grant } from './grants.js'
import { inOrder } from './in-order.js'
import { sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'
import { showSubscription } from './subscriptions.js'
import type { Subscription } from './subscriptions.js'

/** The grants of an address's live subscriptions. */
export function liveGrantsOfEmail(
  store: ControlStore,
  email: string,
  now: number,
): Promise<readonly (Grant & { readonly subscriptionId: string })[]> {
  return store.all<Grant & { subscriptionId: string }>(
    sql`SELECT dataset, plan, subscription_id AS "subscriptionId" FROM grants
     JOIN subscriptions s ON s.id = subscription_id
     JOIN subscribers p ON p.id = s.subscriber_id
     WHERE ${store.dialect.isEmail(sql`p.email`, email)}
       AND cancelled_at IS NULL AND expires_at > ${now}`,
  )
}

/** An address's live subscriptions. */
export async function liveSubscriptions(
  store: ControlStore,
  email: string,
  now: number,
): Promise<readonly Subscription[]> {
  const ids = (await liveGrantsOfEmail(store, email, now)).map(
    ({ subscriptionId }) => subscriptionId,
  )
  return await inOrder(new Set(ids), (id) => showSubscription(store, id))
}
