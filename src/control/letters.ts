import { recordAction } from './audit.js'
import { insertInto, sql, sqlList } from './store/sql.js'
import type { ControlStore } from './store/store.js'

/** Letters to subscribers, to buyers, and to the owners (`new-order`, `order-done`). */
export type LetterKind = QueuedLetter['kind'] | 'reminder'

/** `dropped`: the letter is no longer true. `failed`: it was given up. */
export type LetterState = 'waiting' | 'sent' | 'failed' | 'dropped'

/** The facts of a letter that is to be sent. */
export type QueuedLetter =
  | {
      readonly kind: 'new-token' | 'reissued-token'
      readonly subscriptionId: string
      readonly tokenId: string
      readonly sealedSecret: Uint8Array
      /** The order that the token was bought with. */
      readonly orderId?: string
    }
  | { readonly kind: 'code'; readonly codeId: string; readonly sealedSecret: Uint8Array }
  | {
      readonly kind: 'order-received' | 'order-declined' | 'order-done'
      readonly orderId: string
    }
  | {
      readonly kind: 'new-order'
      readonly orderId: string
      /** Of the link to the order. */
      readonly sealedSecret: Uint8Array | null
    }
  | { readonly kind: 'order-confirmed'; readonly orderId: string; readonly subscriptionId: string }
  | {
      readonly kind: 'connection-made'
      readonly subscriptionId: string
      readonly connectionId: string
    }

/** The facts of a letter; its text is written when it is sent. Times in ms since the epoch, UTC. */
export interface Letter {
  readonly letterId: number
  readonly kind: LetterKind
  /** What the letter is about: at least one of these three is set. */
  readonly subscriptionId: string | null
  readonly orderId: string | null
  readonly codeId: string | null
  /** Only in a letter about a connection, until the connection is removed. */
  readonly connectionId: string | null
  /** Only in a letter with a token. */
  readonly tokenId: string | null
  /** The encrypted token, code or link; null once the letter is done. Its key is in a file. */
  readonly sealedSecret: Buffer | null
  /** Only in a reminder: the end of the subscription. */
  readonly expiresAt: number | null
  readonly state: LetterState
  readonly createdAt: number
  /** Attempts that were started. */
  readonly attempts: number
  readonly nextAttemptAt: number
  /** The failure of the last attempt, or why the letter was given up or dropped. */
  readonly lastError: string | null
  /** When it was sent, given up or dropped. */
  readonly doneAt: number | null
}

/** Times that decide which letter may be taken now; in ms. */
export interface TakeOptions {
  readonly now: number
  /** How long no other process may take the letter: longer than an attempt can take. */
  readonly holdMs: number
  /** The longest wait between attempts: a later time was set by a wrong clock. */
  readonly waitMaxMs: number
  /** Also take letters whose next attempt is in the future. */
  readonly isEarly?: boolean
  /** Take only this letter. */
  readonly letterId?: number
}

const columns = sql`id AS "letterId", kind, subscription_id AS "subscriptionId",
  order_id AS "orderId", code_id AS "codeId", connection_id AS "connectionId",
  token_id AS "tokenId", sealed_secret AS "sealedSecret", expires_at AS "expiresAt", state,
  created_at AS "createdAt", attempts, next_attempt_at AS "nextAttemptAt",
  last_error AS "lastError", done_at AS "doneAt"`

/** How many letters wait, and since when the oldest does; null = none. */
export async function waitingLetters(store: ControlStore): Promise<{
  readonly count: number
  readonly oldestAt: number | null
}> {
  const [found] = await store.all<{ count: number; oldestAt: number | null }>(
    sql`SELECT count(*) AS count, min(created_at) AS "oldestAt" FROM letters
     WHERE state = 'waiting'`,
  )
  return found ?? { count: 0, oldestAt: null }
}

/** Queues a letter, due at once; returns its id. */
export async function queueLetter(
  store: ControlStore,
  letter: QueuedLetter,
  now: number,
): Promise<number> {
  const row = insertInto('letters', {
    ...{ subscriptionId: null, orderId: null, codeId: null },
    ...{ connectionId: null, tokenId: null, sealedSecret: null },
    ...letter,
    ...{ state: 'waiting', createdAt: now, nextAttemptAt: now },
  })
  const [made] = await store.all<{ letterId: number }>(sql`${row} RETURNING id AS "letterId"`)
  if (made) return made.letterId
  throw new Error('a letter was not queued')
}

/**
 * Queues a reminder for every live subscription that ends within `aheadMs`, once for each end date;
 * returns the number of reminders.
 */
export function queueReminders(
  store: ControlStore,
  { now, aheadMs }: { readonly now: number; readonly aheadMs: number },
): Promise<number> {
  return store.write((tx) =>
    tx.run(
      sql`INSERT INTO letters
         (subscription_id, kind, expires_at, state, created_at, next_attempt_at)
       SELECT id, 'reminder', expires_at, 'waiting', ${now}, ${now} FROM subscriptions
       WHERE cancelled_at IS NULL AND expires_at > ${now} AND expires_at <= ${now + aheadMs}
       ON CONFLICT DO NOTHING`,
    ),
  )
}

/**
 * Takes the waiting letter that has been due longest, and holds it; `undefined` if none waits.
 * A letter that a process took before it died is free when its hold is over.
 */
export async function takeLetter(
  store: ControlStore,
  { now, holdMs, waitMaxMs, isEarly = false, letterId }: TakeOptions,
): Promise<Letter | undefined> {
  const isAsked = letterId === undefined ? sql`true` : sql`id = ${letterId}`
  const dueBy = isEarly ? Number.MAX_SAFE_INTEGER : now
  const [letter] = await store.write((tx) =>
    tx.all<Letter>(
      sql`UPDATE letters SET attempts = attempts + 1, held_until = ${now + holdMs}
       WHERE id = (
         SELECT id FROM letters
         WHERE state = 'waiting' AND ${isAsked}
           AND (held_until IS NULL OR held_until <= ${now} OR held_until > ${now + 2 * holdMs})
           AND (next_attempt_at <= ${dueBy} OR next_attempt_at > ${now + waitMaxMs})
         ORDER BY next_attempt_at, id LIMIT 1)
       RETURNING ${columns}`,
    ),
  )
  return letter
}

/** How an attempt ended: a `waiting` letter is tried again, every other end is final. */
export type LetterEnd =
  | { readonly state: 'sent'; readonly now: number }
  | { readonly state: 'failed' | 'dropped'; readonly reason: string; readonly now: number }
  | { readonly state: 'waiting'; readonly reason: string; readonly nextAttemptAt: number }

/**
 * Saves how an attempt ended, and releases the letter. A done letter keeps no token and stays done:
 * an attempt that outlived its hold changes nothing if another process has taken the letter.
 */
export async function endAttempt(
  store: ControlStore,
  letter: LetterFacts & Pick<Letter, 'attempts'>,
  end: LetterEnd,
): Promise<void> {
  const { letterId, attempts, codeId } = letter
  const reason = end.state === 'sent' ? null : end.reason
  const nextAttemptAt = end.state === 'waiting' ? end.nextAttemptAt : null
  const doneAt = end.state === 'waiting' ? null : end.now
  await store.write(async (tx) => {
    const changed = await tx.run(
      sql`UPDATE letters SET state = ${end.state}, held_until = NULL, last_error = ${reason},
         next_attempt_at = coalesce(${nextAttemptAt}, next_attempt_at), done_at = ${doneAt},
         sealed_secret = CASE WHEN CAST(${end.state} AS TEXT) = 'waiting' THEN sealed_secret END
       WHERE id = ${letterId} AND attempts = ${attempts} AND state = 'waiting'`,
    )
    // Codes leave no trace: anyone can ask for one.
    if (changed === 0 || end.state === 'waiting' || codeId !== null) return
    await recordAction(tx, {
      action: `letter.${end.state}`,
      subject: `letter ${letterId}`,
      details: { ...letterFacts(letter), ...(end.state !== 'sent' && { reason: end.reason }) },
      now: end.now,
    })
  })
}

export type LetterFacts = Pick<
  Letter,
  'letterId' | 'kind' | 'subscriptionId' | 'orderId' | 'codeId'
>

/** What log and audit trail say of a letter. */
export function letterFacts({ kind, subscriptionId, orderId }: LetterFacts) {
  return {
    kind,
    ...(subscriptionId !== null && { subscription: subscriptionId }),
    ...(orderId !== null && { order: orderId }),
  }
}

/** Letters in these states, oldest first. */
export function listLetters(
  store: ControlStore,
  states: readonly LetterState[],
): Promise<Letter[]> {
  return store.all<Letter>(
    sql`SELECT ${columns} FROM letters WHERE state IN (${sqlList(states)}) ORDER BY id`,
  )
}
