import type { Clock } from '../../clock.js'
import { endAttempt, takeLetter } from '../../control/letters.js'
import type { Letter, LetterEnd, LetterFacts } from '../../control/letters.js'
import type { ControlStore } from '../../control/store/store.js'
import { nextAttempt, waitMaxMs, withRetries } from '../retries.js'
import { composeLetter } from './compose.js'
import type { LetterSource } from './compose.js'
import { MailError } from './mailer.js'
import type { Mailer } from './mailer.js'

export interface OutboxParts extends LetterSource {
  readonly store: ControlStore
  readonly mailer: Mailer
  readonly clock: Clock
}

/** One attempt to send a letter, and its end. */
export interface Delivery extends LetterFacts {
  readonly end: LetterEnd
}

const minuteMs = 60_000
/** Longer than an attempt takes (`smtp.ts`): a process that holds a letter longer has died. */
const holdMs = 2 * minuteMs
const lettersMax = 1000

interface DeliverOptions {
  /** Ends the running attempt; its letter is tried again later. */
  readonly signal?: AbortSignal
}

/**
 * Sends all due letters, one after another, 1000 at most, and yields how each attempt ended. A
 * failed letter is due again in 1, 2, 4 … minutes, an hour at most, for three days.
 *
 * Each letter is sent at least once: its attempt is saved after the mail server accepted it, so a
 * process that dies in between causes a second letter with the same Message-ID. Two processes at
 * once send a letter only once, because each holds the letter that it sends.
 */
export async function* deliverDue(
  parts: OutboxParts,
  options: DeliverOptions = {},
): AsyncGenerator<Delivery> {
  for (let count = 0; count < lettersMax && options.signal?.aborted !== true; count += 1) {
    const letter = await holdLetter(parts, {})
    if (letter === undefined) return
    yield await deliverHeld(parts, letter, options)
  }
}

/**
 * Holds a letter for two minutes, due or not; `undefined` when it is done or another process holds
 * it. Without an id: the letter that has been due longest.
 */
export async function holdLetter(
  { store, clock }: Pick<OutboxParts, 'store' | 'clock'>,
  { letterId }: { readonly letterId?: number },
): Promise<Letter | undefined> {
  const choice = letterId === undefined ? {} : { letterId, isEarly: true }
  // The clock is read under the write lock, so that times are in the order of the transactions.
  return await store.write((tx) =>
    takeLetter(tx, { now: clock.now(), holdMs, waitMaxMs, ...choice }),
  )
}

/** Makes one attempt to send a held letter, and saves its end. */
export async function deliverHeld(
  parts: OutboxParts,
  letter: Letter,
  { signal }: DeliverOptions = {},
): Promise<Delivery> {
  const end = await attempt(parts, letter, signal)
  await withRetries(parts.clock, () => endAttempt(parts.store, letter, end))
  const { letterId, kind, subscriptionId, orderId, codeId } = letter
  return { letterId, kind, subscriptionId, orderId, codeId, end }
}

async function attempt(
  parts: OutboxParts,
  letter: Letter,
  signal: AbortSignal | undefined,
): Promise<LetterEnd> {
  const composed = await composeLetter(parts.store, letter, parts, parts.clock.now())
  if ('dropped' in composed) {
    return { state: 'dropped', reason: composed.dropped, now: parts.clock.now() }
  }
  try {
    await parts.mailer.send(composed.message, signal)
    return { state: 'sent', now: parts.clock.now() }
  } catch (cause) {
    if (!(cause instanceof MailError)) throw cause
    return afterFailure(letter, cause, parts.clock.now())
  }
}

function afterFailure(letter: Letter, { message, isPermanent }: MailError, now: number): LetterEnd {
  if (isPermanent) return { state: 'failed', reason: message, now }
  const nextAttemptAt = nextAttempt(letter.createdAt, now)
  if (nextAttemptAt !== null) return { state: 'waiting', reason: message, nextAttemptAt }
  return { state: 'failed', reason: `given up after three days: ${message}`, now }
}
