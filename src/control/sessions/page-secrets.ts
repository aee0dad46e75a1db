import { withGrants } from '../grants.js'
import type { Grant, GrantColumns } from '../grants.js'
import { insertInto, sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'
import { createSecret } from '../tokens/token-format.js'
import { subscriptionState } from '../tokens/token-state.js'
import { pageSecretLifeMs, pageSecretsMax, sessionLifeMs } from './sessions.js'

/** A secret of a page with all that it depends on; times in ms since the epoch, UTC. */
export interface PageSecret {
  readonly hash: Buffer
  readonly secretExpiresAt: number
  readonly sessionId: string
  readonly sessionUsedAt: number
  readonly subscriptionId: string
  readonly expiresAt: number
  readonly cancelledAt: number | null
  readonly globalRows: number | null
  readonly grants: readonly Grant[]
}

type PageSecretRow = Omit<PageSecret, 'grants'> & GrantColumns

/** Stores a secret of one hour for a session's pages, and returns it once. */
export async function makePageSecret(
  store: ControlStore,
  of: { readonly sessionId: string; readonly subscriptionId: string; readonly now: number },
): Promise<{ readonly secret: string; readonly expiresAt: number }> {
  const { secret, hash } = createSecret(store.random, 'page')
  const { sessionId, subscriptionId, now } = of
  const expiresAt = now + pageSecretLifeMs
  await store.write(async (tx) => {
    await tx.run(
      sql`DELETE FROM session_secrets WHERE hash IN (
         SELECT hash FROM session_secrets WHERE session_id = ${sessionId}
         ORDER BY expires_at DESC, hash
         LIMIT ${Number.MAX_SAFE_INTEGER} OFFSET ${pageSecretsMax - 1})`,
    )
    await tx.run(insertInto('session_secrets', { hash, sessionId, subscriptionId, expiresAt }))
  })
  return { secret, expiresAt }
}

/** The secret with this hash, in one read, so that an end takes effect with the next request. */
export async function findPageSecret(
  store: ControlStore,
  hash: Uint8Array,
): Promise<PageSecret | undefined> {
  const rows = await store.all<PageSecretRow>(
    sql`SELECT x.hash, x.expires_at AS "secretExpiresAt", e.id AS "sessionId",
       e.last_used_at AS "sessionUsedAt", s.id AS "subscriptionId", s.expires_at AS "expiresAt",
       s.cancelled_at AS "cancelledAt", s.global_rows AS "globalRows", g.dataset, g.plan
     FROM session_secrets x
     JOIN sessions e ON e.id = x.session_id
     JOIN subscriptions s ON s.id = x.subscription_id
     LEFT JOIN grants g ON g.subscription_id = s.id
     WHERE x.hash = ${hash}
     ORDER BY g.dataset`,
  )
  return withGrants(rows)
}

/** Until when a secret is accepted, if nothing ends it earlier; null if it has ended. */
export function pageSecretEnd(secret: PageSecret, now: number): number | null {
  if (subscriptionState(secret, now) !== 'live') return null
  const end = Math.min(secret.secretExpiresAt, secret.sessionUsedAt + sessionLifeMs)
  return end > now ? Math.min(end, secret.expiresAt) : null
}
