import type { Grant } from './grants.js'
import type { ControlStore } from './store/store.js'

type AgreementKind = 'create' | 'extend' | 'change' | 'cancel'

/** What was agreed, and the subscription after it; times in ms since the epoch, UTC. */
export interface Agreement {
  readonly orderedAt: number
  readonly kind: AgreementKind
  /** Months that were bought, or null. */
  readonly months: number | null
  /** Whole roubles; null for a change without a price. */
  readonly priceRub: number | null
  readonly grants: readonly Grant[]
  readonly globalRows: number | null
  readonly expiresAt: number
  /** The order of the shop that made it; null for what the owner entered. */
  readonly orderId: string | null
}

type AgreementRow = Omit<Agreement, 'grants'> & { readonly grants: string }

/**
 * Saves what was agreed and the subscription as it is now; call it after the change, in its
 * transaction. Agreements are never edited, even if the registry changes later.
 */
export async function recordAgreement(
  store: ControlStore,
  subscriptionId: string,
  agreement: Pick<Agreement, 'kind' | 'orderedAt'> &
    Partial<Pick<Agreement, 'months' | 'priceRub' | 'orderId'>>,
): Promise<void> {
  const { kind, orderedAt, months = null, priceRub = null, orderId = null } = agreement
  const granted = await store.all<Grant>(
    'SELECT dataset, plan FROM grants WHERE subscription_id = @subscriptionId ORDER BY dataset',
    { subscriptionId },
  )
  await store.run(
    `INSERT INTO agreements
       (subscription_id, ordered_at, kind, months, price_rub, grants, global_rows, expires_at,
        order_id)
     SELECT id, @orderedAt, @kind, @months, @priceRub, @grants, global_rows, expires_at, @orderId
     FROM subscriptions WHERE id = @subscriptionId`,
    { subscriptionId, orderedAt, kind, months, priceRub, grants: JSON.stringify(granted), orderId },
  )
}

/** The agreements of a subscription, oldest first. */
export async function listAgreements(
  store: ControlStore,
  subscriptionId: string,
): Promise<Agreement[]> {
  const rows = await store.all<AgreementRow>(
    `SELECT ordered_at AS orderedAt, kind, months, price_rub AS priceRub, grants,
       global_rows AS globalRows, expires_at AS expiresAt, order_id AS orderId
     FROM agreements WHERE subscription_id = @subscriptionId ORDER BY id`,
    { subscriptionId },
  )
  // This file wrote the text, and the database checked that it is JSON.
  return rows.map((row) => ({ ...row, grants: JSON.parse(row.grants) as Grant[] }))
}

/** The id of a subscription's newest agreement; it has one since it was created. */
export async function newestAgreement(
  store: ControlStore,
  subscriptionId: string,
): Promise<number> {
  const [newest] = await store.all<{ id: number | null }>(
    'SELECT max(id) AS id FROM agreements WHERE subscription_id = @subscriptionId',
    { subscriptionId },
  )
  return newest?.id ?? 0
}
