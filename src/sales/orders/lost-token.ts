import { queueLetter } from '../../control/letters.js'
import { noteUse } from '../../control/mailed-codes/email-codes.js'
import { liveSubscriptions } from '../../control/subscriber-grants.js'
import type { Subscription } from '../../control/subscriptions.js'
import { reissueToken } from '../../control/tokens/tokens.js'
import type { ReissuedToken } from '../../control/tokens/tokens.js'
import { sealSecret } from '../letters/seal.js'
import { withCode } from '../codes/codes.js'
import type { TypedCode } from '../codes/codes.js'
import { ShopRefusal } from './refusals.js'
import type { ShopParts } from './shop-parts.js'

/** Earlier tokens work on for this time, unless they are to end at once. */
export const graceMs = 24 * 3_600_000

/** A new token in the place of a lost one: show it once. */
export interface FoundToken extends ReissuedToken {
  readonly subscription: Subscription
}

/**
 * The live subscriptions of the address that a code was mailed to. The code stays unused.
 * @throws CodeRefusal
 */
export function subscriptionsOfCode(
  parts: ShopParts,
  typed: TypedCode,
): Promise<readonly Subscription[]> {
  return withCode(parts, 'lost-token', typed, ({ email }, tx) =>
    liveSubscriptions(tx, email, parts.now()),
  )
}

/**
 * Issues a new token of one of these subscriptions, and mails it. Uses up the code. The earlier
 * tokens end in a day, or at once.
 *
 * @throws CodeRefusal; ShopRefusal for a subscription of another address
 */
export async function reissueByCode(
  parts: ShopParts,
  typed: TypedCode,
  { subscriptionId, endsEarlier }: { subscriptionId: string; endsEarlier: boolean },
): Promise<FoundToken> {
  const { mailKey } = parts
  const issued = await withCode(parts, 'lost-token', typed, async ({ codeId, email }, tx) => {
    const now = parts.now()
    const own = await liveSubscriptions(tx, email, now)
    const subscription = own.find((each) => each.subscriptionId === subscriptionId)
    if (!subscription) throw new ShopRefusal('unknown')
    await noteUse(tx, codeId, now)
    const grace = { graceMs: endsEarlier ? 0 : graceMs, now: () => now }
    const made = await reissueToken(tx, subscriptionId, grace)
    const { tokenId, token } = made
    const sealedSecret = sealSecret(tx.random, mailKey, tokenId, token)
    await queueLetter(tx, { kind: 'reissued-token', subscriptionId, tokenId, sealedSecret }, now)
    return { ...made, subscription }
  })
  parts.sendLetters()
  return issued
}
