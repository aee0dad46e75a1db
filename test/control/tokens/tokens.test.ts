import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { hashToken } from '../../../src/control/tokens/token-format.js'
import {
  findToken,
  issueToken,
  listTokens,
  reissueToken,
  revokeToken,
} from '../../../src/control/tokens/tokens.js'
import { sql } from '../../../src/control/store/sql.js'
import {
  clockAt,
  hourMs,
  noon,
  openAnyStore,
  openStore,
  storePath,
  subscribe,
} from '../fixtures/store.js'

await t.test('the secret of a token is in no file, only its hash is', async (t) => {
  const path = storePath(t)
  const store = openStore(t, path)
  const { subscriptionId, token } = await subscribe(store)
  const reissued = await reissueToken(store, subscriptionId, { graceMs: 0, now: clockAt(noon) })
  const secrets = [token, reissued.token].map((text) => text.slice('das_live_'.length, -6))
  const files = () =>
    Buffer.concat(readdirSync(dirname(path)).map((name) => readFileSync(join(dirname(path), name))))

  for (const state of ['open', 'closed']) {
    if (state === 'closed') await store.close()
    t.ok(files().includes(hashToken(token)), `the hash is there, ${state}`)
    for (const secret of secrets) t.notOk(files().includes(secret), `no secret, ${state}`)
  }
})

await t.test('a live token is found with all that decides about it, frozen', async (t) => {
  const store = openAnyStore(t)
  const made = await subscribe(store, {
    grants: [
      { dataset: 'procurement', plan: 'free' },
      { dataset: 'financials', plan: 'pro' },
    ],
    globalRows: 5000,
  })
  const found = await findToken(store, hashToken(made.token))
  t.same(found, {
    tokenId: made.tokenId,
    subscriptionId: made.subscriptionId,
    hash: hashToken(made.token),
    tokenExpiresAt: null,
    revokedAt: null,
    subscriptionExpiresAt: made.expiresAt,
    cancelledAt: null,
    globalRows: 5000,
    grants: [
      { dataset: 'financials', plan: 'pro' },
      { dataset: 'procurement', plan: 'free' },
    ],
  })
  t.ok(Object.isFrozen(found) && Object.isFrozen(found?.grants))
  t.ok(found?.grants.every((grant) => Object.isFrozen(grant)))
})

await t.test('a hash that nobody was given finds nothing', async (t) => {
  const store = openAnyStore(t)
  const { token } = await subscribe(store)
  const almost = hashToken(token)
  almost.writeUInt8(almost.readUInt8(31) ^ 1, 31)
  t.equal(await findToken(store, almost), undefined)
  t.equal(await findToken(store, Buffer.alloc(0)), undefined)
})

await t.test('revoked, expired and cancelled tokens are found as what they are', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId, tokenId, token } = await subscribe(store)
  await revokeToken(store, tokenId, clockAt(noon + 1))
  t.match(await findToken(store, hashToken(token)), { tokenId, revokedAt: noon + 1 })

  await store.run(
    sql`UPDATE subscriptions SET expires_at = ${noon + 2}, cancelled_at = ${noon + 2} WHERE id = ${subscriptionId}`,
  )
  t.match(await findToken(store, hashToken(token)), {
    subscriptionExpiresAt: noon + 2,
    cancelledAt: noon + 2,
  })
})

await t.test('a token of a subscription that lost all its grants is found with none', async (t) => {
  const store = openAnyStore(t)
  const { token } = await subscribe(store)
  await store.run(sql`DELETE FROM grants`)
  t.same((await findToken(store, hashToken(token)))?.grants, [])
})

await t.test('a revocation by another process counts for the next request', async (t) => {
  const path = storePath(t)
  const server = openAnyStore(t, path)
  const commandLine = openAnyStore(t, path)
  const { tokenId, token } = await subscribe(server)
  t.equal((await findToken(server, hashToken(token)))?.revokedAt, null)
  await revokeToken(commandLine, tokenId, clockAt(noon))
  t.equal((await findToken(server, hashToken(token)))?.revokedAt, noon)
})

await t.test('revoking twice keeps the first time', async (t) => {
  const store = openAnyStore(t)
  const { tokenId } = await subscribe(store)
  await revokeToken(store, tokenId, clockAt(noon))
  await revokeToken(store, tokenId, clockAt(noon + hourMs))
  t.match(await listTokens(store), [{ tokenId, revokedAt: noon }])
})

await t.test('an unknown token or subscription is not found, and nothing changes', async (t) => {
  const store = openAnyStore(t)
  await subscribe(store)
  const before = await listTokens(store)
  const now = clockAt(noon)
  await t.rejects(() => revokeToken(store, 'tok_none', now), {
    code: 'not_found',
    detail: "There is no token 'tok_none'.",
  })
  const noSubscription = { code: 'not_found', detail: "There is no subscription 'sub_none'." }
  await t.rejects(() => issueToken(store, 'sub_none', { now }), noSubscription)
  await t.rejects(() => reissueToken(store, 'sub_none', { graceMs: 0, now }), noSubscription)
  t.same(await listTokens(store), before)
})

await t.test('the list shows every token, oldest first, without secret and hash', async (t) => {
  const store = openAnyStore(t)
  const first = await subscribe(store)
  const second = await subscribe(store, { now: clockAt(noon + 1) })
  const third = await issueToken(store, first.subscriptionId, { now: clockAt(noon + 2) })

  const list = await listTokens(store)
  t.same(
    list.map(({ tokenId }) => tokenId),
    [first.tokenId, second.tokenId, third.tokenId],
  )
  t.same(list[0], {
    tokenId: first.tokenId,
    subscriptionId: first.subscriptionId,
    hint: `das_live_…${first.token.slice(-4)}`,
    createdAt: noon,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  })
  t.same(
    (await listTokens(store, first.subscriptionId)).map(({ tokenId }) => tokenId),
    [first.tokenId, third.tokenId],
  )
  t.same(await listTokens(store, 'sub_none'), [])
})
