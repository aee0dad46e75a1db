import { insertInto, sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'
import { createId } from '../tokens/base62.js'
import { createSecret } from '../tokens/token-format.js'
import type { ConnectionMeans } from './connections.js'
import { endConnection } from './end-connection.js'

/** Live connections of one subscription, and of the demo: a further one ends the most idle one. */
export const connectionsMax = { subscription: 100, demo: 1000 }

/** A code is accepted once, within this time. */
export const codeLifeMs = 120_000

/** Who a connection is made for. */
export type ConnectionOwner =
  | {
      readonly subscriptionId: string
      /** The connection ends with this token. */
      readonly tokenId: string
      /** What the person showed; `token` if left out. */
      readonly madeBy?: ConnectionMeans
    }
  | { readonly demoHash: Buffer }

/** What an agent asks for. */
export interface AskedConnection {
  readonly clientId: string
  /** The name that the agent gave itself; may be empty. */
  readonly clientName: string
  readonly redirectUri: string
  readonly codeChallenge: string
}

interface NewConnection extends AskedConnection {
  readonly owner: ConnectionOwner
  readonly now: number
}

export interface MadeConnection {
  readonly connectionId: string
  /** The secret that the agent exchanges; it is not stored. */
  readonly code: string
}

/** Stores a connection that waits for its agent, and returns its code once. All or nothing. */
export async function makeConnection(
  store: ControlStore,
  { owner, codeChallenge, now, ...asked }: NewConnection,
): Promise<MadeConnection> {
  const { secret: code, hash } = createSecret(store.random, 'code')
  const connectionId = createId(store.random, 'con')
  const [subscriptionId, tokenId, demoHash] =
    'demoHash' in owner ? [null, null, owner.demoHash] : [owner.subscriptionId, owner.tokenId, null]
  const madeBy = 'demoHash' in owner ? 'token' : (owner.madeBy ?? 'token')
  await store.write(async (tx) => {
    await displaceIdle(tx, subscriptionId, now)
    await tx.run(
      insertInto('connections', {
        ...{ id: connectionId, subscriptionId, tokenId, madeBy, demoHash },
        ...asked,
        createdAt: now,
      }),
    )
    await tx.run(
      insertInto('connection_secrets', {
        ...{ hash, connectionId, kind: 'code', codeChallenge },
        ...{ createdAt: now, expiresAt: now + codeLifeMs },
      }),
    )
  })
  return { connectionId, code }
}

async function displaceIdle(
  store: ControlStore,
  subscriptionId: string | null,
  now: number,
): Promise<void> {
  const kept = (subscriptionId === null ? connectionsMax.demo : connectionsMax.subscription) - 1
  const isTheirs =
    subscriptionId === null
      ? sql`subscription_id IS NULL`
      : sql`subscription_id = ${subscriptionId}`
  const idle = await store.all<{ connectionId: string }>(
    sql`SELECT id AS "connectionId" FROM connections
     WHERE ended_at IS NULL AND ${isTheirs}
     ORDER BY coalesce(last_used_at, created_at) DESC, id
     LIMIT ${Number.MAX_SAFE_INTEGER} OFFSET ${kept}`,
  )
  for (const { connectionId } of idle) {
    await endConnection(store, connectionId, { reason: 'displaced', now })
  }
}
