import t from 'tap'
import { hashToken } from '../../../src/control/tokens/token-format.js'
import {
  findToken,
  listTokens,
  reissueToken,
  revokeToken,
} from '../../../src/control/tokens/tokens.js'
import { clockAt, hourMs, noon, openAnyStore, subscribe } from '../fixtures/store.js'

// Guarantee: a reissue ends what was issued before, at once or after the grace, and revives nothing.

await t.test('a reissue with grace lets the old token live on for just that long', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId, token } = await subscribe(store)
  const graceMs = 24 * hourMs
  const reissued = await reissueToken(store, subscriptionId, { graceMs, now: clockAt(noon) })
  t.equal(reissued.previousValidUntil, noon + graceMs)
  t.equal((await findToken(store, hashToken(token)))?.tokenExpiresAt, noon + graceMs)
  t.match(await findToken(store, hashToken(reissued.token)), {
    tokenId: reissued.tokenId,
    subscriptionId,
    tokenExpiresAt: null,
  })
})

await t.test('a reissue without grace ends the old token at once', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId, token } = await subscribe(store)
  const now = clockAt(noon)
  t.equal((await reissueToken(store, subscriptionId, { graceMs: 0, now })).previousValidUntil, noon)
  t.equal((await findToken(store, hashToken(token)))?.tokenExpiresAt, noon)
})

await t.test('a second reissue never lengthens a life that was already cut', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId, token } = await subscribe(store)
  const first = await reissueToken(store, subscriptionId, { graceMs: hourMs, now: clockAt(noon) })
  const second = await reissueToken(store, subscriptionId, {
    graceMs: 24 * hourMs,
    now: clockAt(noon + 1),
  })
  t.equal((await findToken(store, hashToken(token)))?.tokenExpiresAt, noon + hourMs)
  t.equal((await findToken(store, hashToken(first.token)))?.tokenExpiresAt, noon + 1 + 24 * hourMs)
  t.equal(second.previousValidUntil, noon + 1 + 24 * hourMs, 'the later of the two')
})

await t.test('a reissue revives neither a revoked nor an expired token', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId, tokenId, token } = await subscribe(store)
  await revokeToken(store, tokenId, clockAt(noon))
  const options = { graceMs: hourMs, now: clockAt(noon) }
  const second = await reissueToken(store, subscriptionId, options)
  t.equal(second.previousValidUntil, null, 'there was none alive')
  t.match(await findToken(store, hashToken(token)), { revokedAt: noon, tokenExpiresAt: null })

  await reissueToken(store, subscriptionId, { graceMs: 0, now: clockAt(noon) })
  await reissueToken(store, subscriptionId, options)
  t.equal((await findToken(store, hashToken(second.token)))?.tokenExpiresAt, noon)

  for (const token of await listTokens(store)) {
    if (token.expiresAt !== noon) await revokeToken(store, token.tokenId, clockAt(noon))
  }
  t.equal(
    (await reissueToken(store, subscriptionId, options)).previousValidUntil,
    null,
    'one that ends at this instant is not alive',
  )
})

await t.test('a reissue leaves the tokens of others alone', async (t) => {
  const store = openAnyStore(t)
  const mine = await subscribe(store)
  const other = await subscribe(store)
  await reissueToken(store, mine.subscriptionId, { graceMs: 0, now: clockAt(noon) })
  t.equal((await findToken(store, hashToken(other.token)))?.tokenExpiresAt, null)
})

await t.test(
  'a grace that is negative or no whole number is refused before anything changes',
  async (t) => {
    const store = openAnyStore(t)
    const { subscriptionId } = await subscribe(store)
    for (const graceMs of [-1, 0.5, NaN, Infinity]) {
      await t.rejects(() => reissueToken(store, subscriptionId, { graceMs, now: clockAt(noon) }), {
        code: 'bad_request',
      })
    }
    t.match(await listTokens(store), [{ expiresAt: null }])
  },
)
