import Database from 'better-sqlite3'
import t from 'tap'
import { listActions, recordAction } from '../../src/control/audit.js'
import { saveDatasetStates } from '../../src/control/dataset-state.js'
import type { ReportedState } from '../../src/control/dataset-state.js'
import { endAttempt, queueLetter, takeLetter } from '../../src/control/letters.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import type { ControlStore } from '../../src/control/store/store.js'
import { cancelSubscription, changeSubscription } from '../../src/control/subscription-changes.js'
import { createToken } from '../../src/control/tokens/token-format.js'
import { reissueToken, revokeToken } from '../../src/control/tokens/tokens.js'
import { clockAt, hourMs, noon, openStore, storePath, subscribe } from './fixtures/store.js'
import { machine } from '../support/machine.js'
import { machineRandom } from '../../src/random.js'

// Guarantee: what the trail holds can't be changed or removed by a statement.
await t.test('entries are added and never updated, deleted or replaced', async (t) => {
  const store = openStore(t)
  await recordAction(store, { action: 'pack.made', subject: 'things', now: noon })
  const before = await listActions(store, {})
  const refused = /the audit trail is append-only/
  const row = "1, 2, 'x', 'pack.made', 'y', '{}'"
  for (const sql of [
    "UPDATE audit SET actor = 'x'",
    'UPDATE OR REPLACE audit SET id = id',
    'DELETE FROM audit',
    `INSERT OR REPLACE INTO audit VALUES (${row})`,
    `REPLACE INTO audit VALUES (${row})`,
    `INSERT INTO audit VALUES (${row})
       ON CONFLICT (id) DO UPDATE SET actor = excluded.actor`,
  ]) {
    t.throws(() => store.file.db.exec(sql), { message: refused }, sql)
  }
  t.same(await listActions(store, {}), before)
  t.end()
})

await t.test('a change and its entry are stored together or not at all', async (t) => {
  const store = openStore(t)
  const { subscriptionId, tokenId } = await subscribe(store)
  const before = await listActions(store, {})
  const failure = new Error('after the change')
  for (const change of [
    (tx: ControlStore) => revokeToken(tx, tokenId, clockAt(noon)),
    (tx: ControlStore) => cancelSubscription(tx, subscriptionId, clockAt(noon)),
  ]) {
    await t.rejects(
      () =>
        store.write(async (tx) => {
          await change(tx)
          throw failure
        }),
      failure,
    )
  }
  t.same(await listActions(store, {}), before)
  store.file.db.exec(
    "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END",
  )
  await t.rejects(() => revokeToken(store, tokenId, clockAt(noon)), { message: 'full' })
  const revoked = store.file.db.prepare('SELECT revoked_at FROM tokens').pluck().get()
  t.equal(revoked, null, 'a token that is not in the trail as revoked is not revoked')
  t.end()
})

await t.test('an entry says when, who, what, to what, and what changed', async (t) => {
  const path = storePath(t)
  openStore(t, path)
  const store = SqliteStore.open(path, { ...machine, actor: 'olga' })
  t.teardown(() => store.close())
  const { subscriptionId, tokenId } = await subscribe(store)
  const now = clockAt(noon + hourMs)
  await changeSubscription(store, subscriptionId, {
    grants: [{ dataset: 'financials', plan: 'pro' }],
    withdrawn: [],
    email: 'new@example.com',
    now,
  })
  const next = await reissueToken(store, subscriptionId, { graceMs: hourMs, now })
  await revokeToken(store, tokenId, now)
  await revokeToken(store, tokenId, now)
  t.same(await listActions(store, {}), [
    {
      id: 1,
      recordedAt: noon,
      actor: 'olga',
      action: 'subscription.created',
      subject: subscriptionId,
      details: {
        email: 'buyer@example.com',
        grants: ['financials:start'],
        months: 1,
        price_rub: 990,
        global_rows: null,
        expires_at: '2026-07-15T12:00:00Z',
      },
    },
    {
      id: 2,
      recordedAt: noon,
      actor: 'olga',
      action: 'token.issued',
      subject: tokenId,
      details: { subscription: subscriptionId },
    },
    {
      id: 3,
      recordedAt: noon + hourMs,
      actor: 'olga',
      action: 'subscription.changed',
      subject: subscriptionId,
      details: {
        email: { before: 'buyer@example.com', after: 'new@example.com' },
        grants: { before: ['financials:start'], after: ['financials:pro'] },
      },
    },
    {
      id: 4,
      recordedAt: noon + hourMs,
      actor: 'olga',
      action: 'token.reissued',
      subject: next.tokenId,
      details: {
        subscription: subscriptionId,
        earlier: [tokenId],
        earlier_valid_until: '2026-06-15T14:00:00Z',
      },
    },
    {
      id: 5,
      recordedAt: noon + hourMs,
      actor: 'olga',
      action: 'token.revoked',
      subject: tokenId,
      details: { subscription: subscriptionId },
    },
  ])
  const found = async (subject: string) =>
    (await listActions(store, { subject })).map(({ id }) => id)
  t.same(await found(subscriptionId), [1, 2, 3, 4, 5], 'also what was done to its tokens')
  t.same(await found(tokenId), [2, 4, 5])
  t.same(await found('new@example.com'), [3])
  t.same(await found('nobody'), [])
  t.equal((await listActions(store, { since: noon + 1 })).length, 3)
  t.end()
})

// Guarantee: a reader of the trail can't act as a subscriber.
await t.test('a token in the answer of a mail server is left out', async (t) => {
  const store = openStore(t)
  const { subscriptionId, tokenId } = await subscribe(store)
  const { token } = createToken(machineRandom)
  const letter = { subscriptionId, tokenId, kind: 'new-token' } as const
  await queueLetter(store, { ...letter, sealedSecret: Buffer.from('sealed') }, noon)
  const held = await takeLetter(store, { now: noon, holdMs: 1, waitMaxMs: 1 })
  if (held === undefined) throw new Error('no letter waits')
  const end = { state: 'failed', reason: `550 "${token}" looks like spam`, now: noon } as const
  await endAttempt(store, held, end)
  await endAttempt(store, held, end)
  const [entry, ...others] = await listActions(store, { subject: 'letter 1' })
  t.match(entry, {
    actor: 'server',
    action: 'letter.failed',
    details: { subscription: subscriptionId, reason: '550 "[token]" looks like spam' },
  })
  t.same(others, [], 'one end, one entry')
  t.end()
})

const things: ReportedState = {
  dataset: 'things',
  version: 'v1',
  status: 'serving',
  reason: null,
  rows: 3,
  files: 1,
  stored: 'linked',
  packing: null,
  warnings: [],
  diskBytes: 0,
  earlier: 0,
  updatedAt: noon,
}

await t.test('what a server serves is recorded once, also across its restarts', async (t) => {
  const store = openStore(t)
  const save = (names: readonly string[], changes: Partial<ReportedState>, reason: string | null) =>
    saveDatasetStates(store, names, names.length > 0 ? [{ ...things, ...changes }] : [], {
      reason,
      updatedAt: noon,
    })
  const names = ['things']
  const recorded = async () =>
    (await listActions(store, {})).map(({ action, subject, details }) => [action, subject, details])
  await save(names, {}, null)
  await save(names, {}, null)
  const published = { version: 'v1', rows: 3, files: 1, replaced: null }
  t.same(await recorded(), [['version.published', 'things', published]])
  const half = { status: 'stale', reason: 'half a file' } as const
  await save(names, half, 'bad plan')
  await save(names, half, 'bad plan')
  await save(names, { version: 'v2' }, null)
  await save(names, { version: 'v2', reason: 'the packed copy is damaged' }, null)
  await save(names, { version: null, status: 'unavailable', reason: 'no file' }, null)
  await save([], {}, null)
  t.same((await recorded()).slice(1), [
    ['version.refused', 'things', { version: 'v1', reason: 'half a file' }],
    ['registry.refused', 'registry.yaml', { reason: 'bad plan' }],
    ['version.published', 'things', { version: 'v2', rows: 3, files: 1, replaced: 'v1' }],
    ['version.damaged', 'things', { version: 'v2', reason: 'the packed copy is damaged' }],
    ['dataset.unavailable', 'things', { version: null, reason: 'no file' }],
    ['dataset.removed', 'things', {}],
  ])
  t.end()
})

await t.test('another program sees the same trail in the file', async (t) => {
  const path = storePath(t)
  await recordAction(openStore(t, path), { action: 'pack.made', subject: 'things', now: noon })
  const db = new Database(path)
  t.teardown(() => db.close())
  t.throws(() => db.exec('DELETE FROM audit'), { message: /append-only/ })
  t.equal(db.prepare('SELECT action FROM audit').pluck().get(), 'pack.made')
  t.end()
})
