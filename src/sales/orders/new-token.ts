import { plainEmail } from '../../control/email-address.js'
import { queueLetter } from '../../control/letters.js'
import { noteUse } from '../../control/mailed-codes/email-codes.js'
import type { ControlStore } from '../../control/store/store.js'
import { liveSubscriptions } from '../../control/subscriber-grants.js'
import { showSubscription } from '../../control/subscriptions.js'
import type { Subscription } from '../../control/subscriptions.js'
import { reissueToken } from '../../control/tokens/tokens.js'
import type { ReissuedToken } from '../../control/tokens/tokens.js'
import { requestCode, withCode } from '../codes.js'
import type { TypedCode, Visitor } from '../codes.js'
import { CodeRefusal } from '../form-refusal.js'
import { sealSecret } from '../letters/seal.js'
import { ShopRefusal } from './refusals.js'
import type { Shop } from './shop.js'

/** Earlier tokens work on for this time, unless they are to end at once. */
const graceMs = 24 * 3_600_000

/** Which subscription gets a new token. */
interface NewTokenOf {
  readonly subscriptionId: string
  /** The earlier tokens end at once, and not in a day. */
  readonly endsEarlier: boolean
}

/** A new token in the place of a lost one: show it once. */
export interface FoundToken extends ReissuedToken {
  readonly subscription: Subscription
}

/**
 * Mails a code for a new token in the place of a lost one, and returns its id; the same for every
 * address.
 *
 * @throws ShopRefusal without a mail server; CodeRefusal over the limits of codes
 */
export async function startLostToken(shop: Shop, visitor: Visitor): Promise<string> {
  if (!shop.isMailOn) throw new ShopRefusal('closed')
  return await requestCode(shop, { ...visitor, purpose: 'lost-token', subject: null })
}

/**
 * The live subscriptions of the address that a code was mailed to. The code stays unused.
 * @throws CodeRefusal
 */
export function subscriptionsOfCode(
  shop: Shop,
  typed: TypedCode,
): Promise<readonly Subscription[]> {
  return withCode(shop, 'lost-token', typed, ({ email }, tx) =>
    liveSubscriptions(tx, email, shop.now()),
  )
}

/**
 * Issues a new token of one of these subscriptions, and mails it. Uses up the code.
 * @throws CodeRefusal; ShopRefusal for a subscription of another address
 */
export async function finishLostToken(
  shop: Shop,
  typed: TypedCode,
  wanted: NewTokenOf,
): Promise<FoundToken> {
  const found = await withCode(shop, 'lost-token', typed, async ({ codeId, email }, tx) => {
    const live = await liveSubscriptions(tx, email, shop.now())
    const subscription = live.find((each) => each.subscriptionId === wanted.subscriptionId)
    if (!subscription) throw new ShopRefusal('unknown')
    return { ...(await issue(shop, tx, codeId, wanted)), subscription }
  })
  shop.sendLetters()
  return found
}

/** What a code for the holder of a token is for. */
type ReissueSubject = Pick<NewTokenOf, 'subscriptionId'>

/**
 * Mails a code for a new token to the address of the subscription: a token alone, which may be
 * stolen, can't be exchanged. Returns the id of the code.
 *
 * @throws ShopRefusal without a mail server; CodeRefusal over the limits of codes
 */
export async function startReissue(
  shop: Shop,
  subscriptionId: string,
  address: string,
): Promise<string> {
  if (!shop.isMailOn) throw new ShopRefusal('closed')
  const { email, language } = await showSubscription(shop.store, subscriptionId)
  const subject: ReissueSubject = { subscriptionId }
  return await requestCode(shop, { purpose: 'reissue', email, language, address, subject })
}

/**
 * Issues a new token of the subscription that the code was asked for, and mails it. Uses up the
 * code.
 *
 * @throws CodeRefusal for a wrong code, or one of another subscription
 */
export async function finishReissue(
  shop: Shop,
  typed: TypedCode,
  wanted: NewTokenOf,
): Promise<ReissuedToken> {
  const { subscriptionId } = wanted
  const issued = await withCode(shop, 'reissue', typed, async ({ codeId, email, subject }, tx) => {
    // This module wrote the subject.
    const asked = JSON.parse(subject) as ReissueSubject
    // Since then the owner may have given the subscription to another address.
    const isOwn = plainEmail((await showSubscription(tx, subscriptionId)).email) === email
    if (asked.subscriptionId !== subscriptionId || !isOwn) throw new CodeRefusal('code')
    return await issue(shop, tx, codeId, wanted)
  })
  shop.sendLetters()
  return issued
}

/** In the transaction of the code, which it uses up. */
async function issue(
  shop: Shop,
  tx: ControlStore,
  codeId: string,
  { subscriptionId, endsEarlier }: NewTokenOf,
): Promise<ReissuedToken> {
  const now = shop.now()
  await noteUse(tx, codeId, now)
  const grace = { graceMs: endsEarlier ? 0 : graceMs, now: () => now }
  const issued = await reissueToken(tx, subscriptionId, grace)
  const { tokenId, token } = issued
  const sealedSecret = sealSecret(tx.random, shop.mailKey, tokenId, token)
  await queueLetter(tx, { kind: 'reissued-token', subscriptionId, tokenId, sealedSecret }, now)
  return issued
}
