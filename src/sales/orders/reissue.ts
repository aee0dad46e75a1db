import { plainEmail } from '../../control/email-address.js'
import { queueLetter } from '../../control/letters.js'
import { noteUse } from '../../control/mailed-codes/email-codes.js'
import { showSubscription } from '../../control/subscriptions.js'
import { reissueToken } from '../../control/tokens/tokens.js'
import type { ReissuedToken } from '../../control/tokens/tokens.js'
import { sealSecret } from '../letters/seal.js'
import { CodeRefusal } from '../codes/code-refusal.js'
import { requestCode, withCode } from '../codes/codes.js'
import type { TypedCode } from '../codes/codes.js'
import { graceMs } from './lost-token.js'
import { ShopRefusal } from './refusals.js'
import type { ShopParts } from './shop-parts.js'

interface ReissueSubject {
  readonly subscriptionId: string
}

/**
 * Mails a code for a new token to the address of the subscription: a token alone, which may be
 * stolen, can't be exchanged. Returns the id of the code.
 *
 * @throws ShopRefusal without a mail server; CodeRefusal over the limits of codes
 */
export async function startReissue(
  parts: ShopParts,
  subscriptionId: string,
  address: string,
): Promise<string> {
  if (!parts.isMailOn) throw new ShopRefusal('closed')
  const { email, language } = await showSubscription(parts.store, subscriptionId)
  const subject: ReissueSubject = { subscriptionId }
  return await requestCode(parts, { purpose: 'reissue', email, language, address, subject })
}

/**
 * Issues a new token of the subscription that the code was asked for, and mails it. Uses up the
 * code. The earlier tokens end in a day, or at once.
 *
 * @throws CodeRefusal for a wrong code, or one of another subscription
 */
export async function finishReissue(
  parts: ShopParts,
  subscriptionId: string,
  typed: TypedCode,
  { endsEarlier }: { readonly endsEarlier: boolean },
): Promise<ReissuedToken> {
  const { mailKey } = parts
  const issued = await withCode(parts, 'reissue', typed, async ({ codeId, email, subject }, tx) => {
    // This module wrote the subject.
    const asked = JSON.parse(subject) as ReissueSubject
    // Since then the owner may have given the subscription to another address.
    const isOwn = plainEmail((await showSubscription(tx, subscriptionId)).email) === email
    if (asked.subscriptionId !== subscriptionId || !isOwn) throw new CodeRefusal('code')
    const now = parts.now()
    await noteUse(tx, codeId, now)
    const made = await reissueToken(tx, subscriptionId, {
      graceMs: endsEarlier ? 0 : graceMs,
      now: () => now,
    })
    const { tokenId, token } = made
    const sealedSecret = sealSecret(tx.random, mailKey, tokenId, token)
    await queueLetter(tx, { kind: 'reissued-token', subscriptionId, tokenId, sealedSecret }, now)
    return made
  })
  parts.sendLetters()
  return issued
}
