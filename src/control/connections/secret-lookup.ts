import { sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'
import { withGrants } from '../grants.js'
import type { Grant, GrantColumns } from '../grants.js'
import type { ConnectionMeans } from './connections.js'
import { recordState } from '../tokens/token-state.js'

/** A secret of a connection with all that it depends on; times in ms since the epoch, UTC. */
export interface SecretRecord {
  readonly hash: Buffer
  readonly kind: 'code' | 'access' | 'refresh'
  /** Only of a code. */
  readonly codeChallenge: string | null
  /** The refresh token that this one replaced. */
  readonly parent: Buffer | null
  readonly expiresAt: number
  readonly usedAt: number | null
  /** When a refresh token that replaced this one was first used. */
  readonly followedAt: number | null
  readonly connectionId: string
  readonly clientId: string
  readonly clientName: string
  readonly redirectUri: string
  readonly madeBy: ConnectionMeans
  readonly endedAt: number | null
  /** The connection was made with the demo token of this hash, else with a token below. */
  readonly demoHash: Buffer | null
  readonly owner: SecretOwner | null
}

/** The token that a connection ends with, and its subscription. */
interface SecretOwner {
  readonly tokenId: string
  readonly tokenExpiresAt: number | null
  readonly revokedAt: number | null
  readonly subscriptionId: string
  readonly subscriptionExpiresAt: number
  readonly cancelledAt: number | null
  /** Rows a month over all datasets; null = no cap. */
  readonly globalRows: number | null
  readonly grants: readonly Grant[]
}

/** Columns of the left joins are null for a connection of the demo. */
type Missing<T> = { readonly [Key in keyof T]: T[Key] | null }

type SecretRow = Omit<SecretRecord, 'owner'> & Missing<Omit<SecretOwner, 'grants'>> & GrantColumns

/**
 * The secret with this hash, in one read, so that an end takes effect with the next request. Also
 * returns used, expired and ended ones, for the caller to check.
 * @throws service_unavailable when the store can't be read
 */
export async function findSecret(
  store: ControlStore,
  hash: Uint8Array,
): Promise<SecretRecord | undefined> {
  const found = withGrants(await findRows(store, hash))
  if (found === undefined) return undefined
  const { tokenId, tokenExpiresAt, revokedAt, grants, ...rest } = found
  const { subscriptionId, subscriptionExpiresAt, cancelledAt, globalRows, ...secret } = rest
  if (tokenId === null || subscriptionId === null || subscriptionExpiresAt === null) {
    return Object.freeze({ ...secret, owner: null })
  }
  const token = { tokenId, tokenExpiresAt, revokedAt }
  const subscription = { subscriptionId, subscriptionExpiresAt, cancelledAt, globalRows, grants }
  return Object.freeze({ ...secret, owner: { ...token, ...subscription } })
}

/** What makes a connection usable now. */
export interface ConnectionTerms {
  /** The hash of the registry's demo token; null without a demo. */
  readonly demoHash: Buffer | null
  readonly now: number
}

/**
 * Until when a connection's secrets are accepted, ms since the epoch, if nothing ends it earlier;
 * null if it has ended, or its token or subscription.
 */
export function liveUntil(
  { endedAt, demoHash, owner }: Pick<SecretRecord, 'endedAt' | 'demoHash' | 'owner'>,
  terms: ConnectionTerms,
): number | null {
  if (endedAt !== null) return null
  if (owner === null) {
    return demoHash !== null && terms.demoHash?.equals(demoHash) ? Infinity : null
  }
  if (recordState(owner, terms.now) !== 'live') return null
  return Math.min(owner.subscriptionExpiresAt, owner.tokenExpiresAt ?? Infinity)
}

function findRows(store: ControlStore, hash: Uint8Array): Promise<SecretRow[]> {
  return store.all<SecretRow>(
    sql`SELECT x.hash, x.kind, x.code_challenge AS "codeChallenge", x.parent,
       x.expires_at AS "expiresAt", x.used_at AS "usedAt", x.followed_at AS "followedAt",
       c.id AS "connectionId", c.client_id AS "clientId", c.client_name AS "clientName",
       c.redirect_uri AS "redirectUri", c.made_by AS "madeBy", c.ended_at AS "endedAt",
       c.demo_hash AS "demoHash",
       t.id AS "tokenId", t.expires_at AS "tokenExpiresAt", t.revoked_at AS "revokedAt",
       s.id AS "subscriptionId", s.expires_at AS "subscriptionExpiresAt",
       s.cancelled_at AS "cancelledAt", s.global_rows AS "globalRows", g.dataset, g.plan
     FROM connection_secrets x
     JOIN connections c ON c.id = x.connection_id
     LEFT JOIN tokens t ON t.id = c.token_id
     LEFT JOIN subscriptions s ON s.id = c.subscription_id
     LEFT JOIN grants g ON g.subscription_id = c.subscription_id
     WHERE x.hash = ${hash}
     ORDER BY g.dataset`,
  )
}
