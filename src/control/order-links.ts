import { orderLifeMs } from './order-limits.js'
import { insertInto, sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'
import { createSecret, parseToken } from './tokens/token-format.js'

/** Stores a link to an order at its amount, for 14 days; returns its secret once. */
export async function makeOrderLink(
  store: ControlStore,
  order: { readonly orderId: string; readonly amountRub: number },
  now: number,
): Promise<string> {
  const { secret, hash } = createSecret(store.random, 'order')
  const { orderId, amountRub } = order
  const row = { hash, orderId, amountRub, expiresAt: now + orderLifeMs }
  await store.run(insertInto('order_links', row))
  return secret
}

/** The order of a link at its amount; null for a link that is over, and for an unknown one. */
export async function orderOfLink(
  store: ControlStore,
  secret: string,
  now: number,
): Promise<string | null> {
  const parsed = parseToken(secret)
  if (parsed?.kind !== 'order') return null
  const [found] = await store.all<{ readonly orderId: string }>(
    sql`SELECT o.id AS "orderId" FROM order_links l
     JOIN orders o ON o.id = l.order_id AND o.amount_rub = l.amount_rub
     WHERE l.hash = ${parsed.hash} AND l.expires_at > ${now}`,
  )
  return found?.orderId ?? null
}

/** Removes the links that are over. */
export async function removeOrderLinks(store: ControlStore, now: number): Promise<void> {
  await store.run(sql`DELETE FROM order_links WHERE expires_at <= ${now}`)
}
