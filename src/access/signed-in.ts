import { timingSafeEqual } from 'node:crypto'
import { findSession, secretKinds } from '../control/sessions/sessions.js'
import type { Session, SessionKind } from '../control/sessions/sessions.js'
import type { ControlStore } from '../control/store/store.js'
import { liveSubscriptions } from '../control/subscriber-grants.js'
import type { Subscription } from '../control/subscriptions.js'
import { parseToken } from '../control/tokens/token-format.js'
import { asPerson } from './principal.js'
import type { Subscriber } from './principal.js'

/** A person who proved an address by a mailed code, in this browser. */
export interface SignedIn {
  readonly sessionId: string
  readonly email: string
  /** The live subscriptions of the address, each with its plan for each dataset. */
  readonly subscriptions: readonly Subscription[]
  /**
   * The subscription whose rows and requests pages take: the only live one, or the one that the
   * person chose. Null without a subscription, or while none of several is chosen.
   */
  readonly payer: Subscriber | null
}

/**
 * Who signed in with this secret of a cookie; null for any other text, and once the session ended.
 * @throws service_unavailable if the store can't be read
 */
export async function findSignedIn(
  store: ControlStore,
  secret: string | null,
  now: number,
): Promise<SignedIn | null> {
  const session = await sessionOf(store, secret, 'subscriber', now)
  if (!session) return null
  const { sessionId, email, payerId } = session
  const subscriptions = await liveSubscriptions(store, email, now)
  const [first, ...others] = subscriptions
  const chosen = subscriptions.find(({ subscriptionId }) => subscriptionId === payerId)
  const payer = chosen ?? (others.length === 0 ? first : undefined)
  return { sessionId, email, subscriptions, payer: payer ? asPerson(payer, sessionId) : null }
}

/** The address of an owner who signed in with this secret of a cookie; null for any other text. */
export async function findOwner(
  store: ControlStore,
  secret: string | null,
  now: number,
): Promise<string | null> {
  return (await sessionOf(store, secret, 'owner', now))?.email ?? null
}

async function sessionOf(
  store: ControlStore,
  secret: string | null,
  kind: SessionKind,
  now: number,
): Promise<Session | null> {
  const parsed = secret === null ? undefined : parseToken(secret)
  if (parsed?.kind !== secretKinds[kind]) return null
  const session = await findSession(store, parsed.hash, now, kind)
  return session && timingSafeEqual(session.hash, parsed.hash) ? session : null
}
