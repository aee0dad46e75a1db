import { recordAction } from './audit.js'
import type { ControlStore } from './store/store.js'

export type LetterKind = 'new-token' | 'reissued-token' | 'reminder'

/** `dropped`: the letter is no longer true. `failed`: it was given up. */
export type LetterState = 'waiting' | 'sent' | 'failed' | 'dropped'

/**
 * The facts of a letter to a subscriber; its text is written when it is sent. Times in ms since the
 * epoch, UTC.
 */
export interface Letter {
  readonly letterId: number
  readonly subscriptionId: string
  readonly kind: LetterKind
  /** Only in a letter with a token. */
  readonly tokenId: string | null
  /** The encrypted token; null once the letter is done. The key is in a file of its own. */
  readonly sealedToken: Buffer | null
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

const columns = `id AS letterId, subscription_id AS subscriptionId, kind, token_id AS tokenId,
  sealed_token AS sealedToken, expires_at AS expiresAt, state, created_at AS createdAt, attempts,
  next_attempt_at AS nextAttemptAt, last_error AS lastError, done_at AS doneAt`

/** How many letters wait, and since when the oldest does; null = none. */
export function waitingLetters(store: ControlStore): {
  readonly count: number
  readonly oldestAt: number | null
} {
  const [found] = store.all<{ count: number; oldestAt: number | null }>(
    "SELECT count(*) AS count, min(created_at) AS oldestAt FROM letters WHERE state = 'waiting'",
  )
  return found ?? { count: 0, oldestAt: null }
}

/** Queues a letter with a token, due at once; returns its id. */
export function queueTokenLetter(
  store: ControlStore,
  letter: Pick<Letter, 'subscriptionId'> & {
    readonly kind: 'new-token' | 'reissued-token'
    readonly tokenId: string
    readonly sealedToken: Uint8Array
    readonly now: number
  },
): number {
  const [made] = store.all<{ letterId: number }>(
    `INSERT INTO letters
       (subscription_id, kind, token_id, sealed_token, state, created_at, next_attempt_at)
     VALUES (@subscriptionId, @kind, @tokenId, @sealedToken, 'waiting', @now, @now)
     RETURNING id AS letterId`,
    { ...letter },
  )
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
): number {
  return store.write(() =>
    store.run(
      `INSERT INTO letters (subscription_id, kind, expires_at, state, created_at, next_attempt_at)
     SELECT id, 'reminder', expires_at, 'waiting', @now, @now FROM subscriptions
     WHERE cancelled_at IS NULL AND expires_at > @now AND expires_at <= @now + @aheadMs
     ON CONFLICT DO NOTHING`,
      { now, aheadMs },
    ),
  )
}

/**
 * Takes the waiting letter that has been due longest, and holds it; `undefined` if none waits.
 * A letter that a process took before it died is free when its hold is over.
 */
export function takeLetter(
  store: ControlStore,
  { now, holdMs, waitMaxMs, isEarly = false, letterId }: TakeOptions,
): Letter | undefined {
  const [letter] = store.all<Letter>(
    `UPDATE letters SET attempts = attempts + 1, held_until = @now + @holdMs
     WHERE id = (
       SELECT id FROM letters
       WHERE state = 'waiting' AND (@letterId IS NULL OR id = @letterId)
         AND (held_until IS NULL OR held_until <= @now OR held_until > @now + 2 * @holdMs)
         AND (@isEarly OR next_attempt_at <= @now OR next_attempt_at > @now + @waitMaxMs)
       ORDER BY next_attempt_at, id LIMIT 1)
     RETURNING ${columns}`,
    { now, holdMs, waitMaxMs, isEarly: Number(isEarly), letterId: letterId ?? null },
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
export function endAttempt(
  store: ControlStore,
  letter: Pick<Letter, 'letterId' | 'attempts' | 'kind' | 'subscriptionId'>,
  end: LetterEnd,
): void {
  const { letterId, attempts, kind, subscriptionId: subscription } = letter
  store.write(() => {
    const changed = store.run(
      `UPDATE letters SET state = @state, held_until = NULL, last_error = @reason,
       next_attempt_at = coalesce(@nextAttemptAt, next_attempt_at), done_at = @doneAt,
       sealed_token = CASE WHEN @state = 'waiting' THEN sealed_token END
     WHERE id = @letterId AND attempts = @attempts AND state = 'waiting'`,
      {
        letterId,
        attempts,
        state: end.state,
        reason: end.state === 'sent' ? null : end.reason,
        nextAttemptAt: end.state === 'waiting' ? end.nextAttemptAt : null,
        doneAt: end.state === 'waiting' ? null : end.now,
      },
    )
    if (changed === 0 || end.state === 'waiting') return
    recordAction(store, {
      action: `letter.${end.state}`,
      subject: `letter ${letterId}`,
      details: { kind, subscription, ...(end.state !== 'sent' && { reason: end.reason }) },
      now: end.now,
    })
  })
}

/** Letters in these states, oldest first. */
export function listLetters(store: ControlStore, states: readonly LetterState[]): Letter[] {
  return store.all<Letter>(
    `SELECT ${columns} FROM letters
     WHERE state IN (SELECT value FROM json_each(@states)) ORDER BY id`,
    { states: JSON.stringify(states) },
  )
}
