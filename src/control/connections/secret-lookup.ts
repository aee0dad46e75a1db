import { reportDamage } from '../store/store.js'
import { sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'
import { grantsIn } from '../grants.js'
import type { Grant, GrantColumns } from '../grants.js'
import type { ConnectionMeans } from './connections.js'
import { recordState } from '../tokens/token-state.js'

/**
 * The shortest time between two checks for damage, each of which reads all secrets: a stranger who
 * sends wrong ones must not pay less for a request than it costs.
 */
const checkEveryMs = 1000

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
export interface SecretOwner {
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

/** Columns of the left joins are null where a row is missing. */
type Missing<T> = { readonly [Key in keyof T]: T[Key] | null }

type SecretRow = Omit<SecretRecord, 'owner' | 'connectionId'> & {
  readonly connectionId: string | null
} & Missing<Omit<SecretOwner, 'grants'>> &
  GrantColumns

/**
 * Finds secrets of connections. Guarantees that a stored secret does not look unknown because the
 * file is damaged: an agent would give up its connection. A missing one is therefore searched for
 * in other ways.
 */
export class SecretLookup {
  readonly #store: ControlStore
  readonly #monotonicMs: () => number
  #checkedAt = -Infinity

  constructor(store: ControlStore, monotonicMs: () => number) {
    this.#store = store
    this.#monotonicMs = monotonicMs
  }

  /**
   * The secret with this hash, in one read, so that an end takes effect with the next request. Also
   * returns used, expired and ended ones, for the caller to check.
   * @throws service_unavailable when the file can't be read, or is found damaged
   */
  async find(hash: Uint8Array, store = this.#store): Promise<SecretRecord | undefined> {
    const rows = await findRows(store, hash)
    const [first] = rows
    if (first === undefined) return await this.#requireAbsent(hash, store)
    const { connectionId } = first
    if (connectionId === null) return reportDamage(this.#store, 'a secret without a connection')
    const { hash: stored, kind, codeChallenge, parent, expiresAt, usedAt, followedAt } = first
    const { clientId, clientName, redirectUri, madeBy, endedAt, demoHash } = first
    const owner = demoHash === null ? this.#ownerOf(first, grantsIn(rows)) : null
    return Object.freeze({
      ...{ hash: stored, kind, codeChallenge, parent, expiresAt, usedAt, followedAt },
      ...{ connectionId, clientId, clientName, redirectUri, madeBy, endedAt, demoHash, owner },
    })
  }

  #ownerOf(row: SecretRow, grants: readonly Grant[]): SecretOwner {
    const { tokenId, subscriptionId, subscriptionExpiresAt } = row
    if (tokenId === null || subscriptionId === null || subscriptionExpiresAt === null) {
      return reportDamage(this.#store, 'a connection without its token')
    }
    const { tokenExpiresAt, revokedAt, cancelledAt, globalRows } = row
    const token = { tokenId, tokenExpiresAt, revokedAt }
    return { ...token, subscriptionId, subscriptionExpiresAt, cancelledAt, globalRows, grants }
  }

  async #requireAbsent(hash: Uint8Array, store: ControlStore): Promise<undefined> {
    if (store.file === null) return
    if (this.#monotonicMs() - this.#checkedAt < checkEveryMs) return
    const [counts] = await store.all<{ stored: number; indexed: number }>(
      sql`SELECT (SELECT count(*) FROM connection_secrets NOT INDEXED) AS stored,
         (SELECT count(*) FROM connection_secrets INDEXED BY secrets_by_end) AS indexed`,
    )
    if (counts?.stored !== counts?.indexed) {
      reportDamage(this.#store, 'secrets that are not in an index')
    }
    const [result] = await store.all<{ found: string }>(
      sql`SELECT quick_check AS found FROM pragma_quick_check('connection_secrets')`,
    )
    if (result?.found !== 'ok') reportDamage(this.#store, String(result?.found))
    const indexed = sql`SELECT 1 FROM connection_secrets INDEXED BY secrets_by_end
      WHERE +hash = ${hash}`
    if ((await store.all(indexed)).length > 0) {
      reportDamage(this.#store, 'a secret only in an index')
    }
    this.#checkedAt = this.#monotonicMs()
  }
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
     LEFT JOIN connections c ON c.id = x.connection_id
     LEFT JOIN tokens t ON t.id = c.token_id
     LEFT JOIN subscriptions s ON s.id = c.subscription_id
     LEFT JOIN grants g ON g.subscription_id = c.subscription_id
     WHERE x.hash = ${hash}
     ORDER BY g.dataset`,
  )
}
