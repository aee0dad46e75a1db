import { noteUse } from '../../control/mailed-codes/email-codes.js'
import { makePageSecret } from '../../control/sessions/page-secrets.js'
import {
  choosePayer,
  endSession,
  endSessionsOf,
  makeSession,
} from '../../control/sessions/sessions.js'
import type { SessionKind } from '../../control/sessions/sessions.js'
import { hashToken } from '../../control/tokens/token-format.js'
import { findSignedIn } from '../../access/signed-in.js'
import { requestCode, withCode } from '../codes.js'
import type { TypedCode, Visitor } from '../codes.js'
import { CodeRefusal } from '../form-refusal.js'
import { isOwner } from '../orders/owners.js'
import type { Shop } from '../orders/shop.js'
import { ownPath } from './own-path.js'

/** What a code to sign in is for: the page to return to. */
interface SignInSubject {
  readonly next: string
}

const purposes = { subscriber: 'sign-in', owner: 'owner' } as const

/**
 * Mails a code to sign in, and returns its id; the same for every address.
 * @throws CodeRefusal over the limits of codes
 */
export async function startSignIn(
  shop: Shop,
  visitor: Visitor,
  next: string,
  kind: SessionKind = 'subscriber',
): Promise<string> {
  const subject: SignInSubject = { next: ownPath(next) }
  return await requestCode(shop, { ...visitor, purpose: purposes[kind], subject })
}

/**
 * Makes a session of the address that the code was mailed to, also of one without a subscription,
 * and ends the one that the browser had. Uses up the code. An owner's session is made for an owner
 * alone: to any other address the right code is a wrong one.
 * @throws CodeRefusal
 */
export async function finishSignIn(
  shop: Shop,
  typed: TypedCode,
  earlier: string | null,
  kind: SessionKind = 'subscriber',
): Promise<{ readonly secret: string; readonly next: string }> {
  const made = await withCode(shop, purposes[kind], typed, async (code, tx) => {
    const now = shop.now()
    const { codeId, email, subject } = code
    await noteUse(tx, codeId, now)
    if (kind === 'owner' && !isOwner(shop.registry(), email)) return null
    if (earlier !== null) await endSession(tx, hashToken(earlier))
    // `startSignIn` wrote the subject.
    const { next } = JSON.parse(subject) as SignInSubject
    return { secret: await makeSession(tx, { email, now, kind }), next }
  })
  if (made === null) throw new CodeRefusal('code')
  return made
}

/** Ends the session of this secret, or all sessions of its address. */
export function signOut(
  { store, now }: Shop,
  secret: string,
  extent: 'here' | 'everywhere',
): Promise<void> {
  return store.write(async (tx) => {
    const person = await findSignedIn(tx, secret, now())
    if (extent === 'everywhere' && person) await endSessionsOf(tx, person.email)
    await endSession(tx, hashToken(secret))
  })
}

/** Keeps which of the person's live subscriptions pays; any other is ignored. */
export function keepPayer({ store, now }: Shop, secret: string, payerId: string): Promise<void> {
  return store.write(async (tx) => {
    const person = await findSignedIn(tx, secret, now())
    if (!person?.subscriptions.some(({ subscriptionId }) => subscriptionId === payerId)) return
    await choosePayer(tx, person.sessionId, payerId)
  })
}

/** A secret for the scripts of a page; `expiresAt` in ms since the epoch. */
interface PageAccess {
  readonly access: string
  readonly expiresAt: number
}

/**
 * Makes a secret that REST accepts for one of the person's live subscriptions. Says which is
 * missing otherwise: the session, or the subscription.
 */
export function makeAccess(
  { store, now }: Shop,
  secret: string,
  subscriptionId: string,
): Promise<PageAccess | 'no session' | 'no subscription'> {
  return store.write(async (tx) => {
    const person = await findSignedIn(tx, secret, now())
    if (!person) return 'no session'
    const found = person.subscriptions.find((each) => each.subscriptionId === subscriptionId)
    if (!found) return 'no subscription'
    const of = { sessionId: person.sessionId, subscriptionId, now: now() }
    const made = await makePageSecret(tx, of)
    return { access: made.secret, expiresAt: Math.min(made.expiresAt, found.expiresAt) }
  })
}
