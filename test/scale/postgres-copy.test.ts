import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { recordChanges, recordVersion } from '../../src/control/dataset-versions.js'
import { noteVersion } from '../../src/control/hooks/events.js'
import { putWatchList } from '../../src/control/hooks/watch-lists.js'
import { addWebhook, eventTypes } from '../../src/control/hooks/webhooks.js'
import { listActions, recordAction } from '../../src/control/audit.js'
import { makeConnection } from '../../src/control/connections/make-connection.js'
import { saveDatasetStates } from '../../src/control/dataset-state.js'
import type { ReportedState } from '../../src/control/dataset-state.js'
import { findKey, keyOf } from '../../src/control/keys.js'
import { listLetters, queueLetter } from '../../src/control/letters.js'
import { createCodeId, insertCode } from '../../src/control/mailed-codes/email-codes.js'
import { copyStore } from '../../src/control/postgres/copy-store.js'
import { copiedTables } from '../../src/control/postgres/copy-store.js'
import { requestReload } from '../../src/control/reload-requests.js'
import { makeOrderLink } from '../../src/control/order-links.js'
import { insertOrder } from '../../src/control/orders.js'
import type { NewOrder } from '../../src/control/orders.js'
import { makePageSecret } from '../../src/control/sessions/page-secrets.js'
import { findSession, makeSession } from '../../src/control/sessions/sessions.js'
import { insertPayment } from '../../src/control/payments.js'
import { sql, sqlText } from '../../src/control/store/sql.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import type { ControlStore } from '../../src/control/store/store.js'
import { listSubscriptions } from '../../src/control/subscriptions.js'
import { hashToken } from '../../src/control/tokens/token-format.js'
import { findToken, listTokens, newestLiveToken } from '../../src/control/tokens/tokens.js'
import { chargeAll, readUsage } from '../../src/control/usage.js'
import { noon, storePath, subscribe } from '../control/fixtures/store.js'
import { openPostgres, startPostgres } from './fixtures/postgres.js'
import { machine } from '../support/machine.js'
import { machineRandom } from '../../src/random.js'

const server = await startPostgres(t)
const bytes = Buffer.alloc(32, 9)
const noKeys = '/nonexistent'

function openFile(t: Test, path = storePath(t)): SqliteStore {
  const store = SqliteStore.open(path, machine)
  t.teardown(() => store.close())
  return store
}

/** At least one row in every table. */
async function fill(store: ControlStore): Promise<{ token: string; subscriptionId: string }> {
  const email = 'Jörg "x" \\ <Ü>@example.com'
  const { subscriptionId, tokenId, token } = await subscribe(store, { email: 'jörg@example.com' })
  for (let n = 0; n < 30; n += 1) await subscribe(store, { email: `buyer${n}@example.com` })
  const caps = { datasetRowsMax: null, globalRowsMax: null }
  const charge = { subscriptionId, dataset: 'financials', period: '2026-06', rows: 7, ...caps }
  await chargeAll(
    store,
    // More rows than a page has.
    Array.from({ length: 2100 }, (_, n) => ({ ...charge, dataset: `set${n}` })),
  )
  const order: NewOrder = {
    ...{ kind: 'new' as const, email, language: 'ru' as const, subscriptionId: null, items: [] },
    ...{
      months: 3,
      amountRub: 990,
      basedOn: null,
      buyer: null,
      orderedAt: noon,
      payUntil: noon + 1,
    },
  }
  const { orderId } = await insertOrder(store, order)
  await makeOrderLink(store, { orderId, amountRub: 990 }, noon)
  await store.run(sql`INSERT INTO refusals (day, code, requests) VALUES (20000, 'timeout', 3)`)
  const payment = { paymentId: 'p', orderId, amountRub: 1, paidAt: noon, receivedAt: noon }
  await insertPayment(store, { ...payment, outcome: 'wrong amount' })
  const codeId = createCodeId(machineRandom)
  const code = { codeId, purpose: 'order', email, language: 'en', subject: '{}' } as const
  const networks = { narrow: bytes, wider: bytes, widest: bytes }
  await insertCode(store, { ...code, networks, hash: bytes, createdAt: noon })
  await queueLetter(store, { kind: 'code', codeId, sealedSecret: bytes }, noon)
  const agent = { clientId: 'c', clientName: 'Agent\n', redirectUri: 'http://127.0.0.1/' }
  const asked = { ...agent, codeChallenge: 'x', now: noon }
  await makeConnection(store, { ...asked, owner: { subscriptionId, tokenId } })
  await makeConnection(store, { ...asked, owner: { demoHash: bytes } })
  const cookie = await makeSession(store, { email, now: noon })
  const session = await findSession(store, hashToken(cookie), noon)
  const ofPage = { sessionId: session?.sessionId ?? '', subscriptionId, now: noon }
  await makePageSecret(store, ofPage)
  await requestReload(store, { force: true, dataset: null }, noon)
  const state: ReportedState = {
    ...{ dataset: 'financials', version: 'v1', status: 'serving' as const, reason: null, rows: 1 },
    ...{
      files: 1,
      stored: null,
      packing: null,
      warnings: [],
      diskBytes: 2 ** 52,
      earlier: 0,
      updatedAt: noon,
    },
  }
  const watch = { name: 'mine', dataset: 'financials', column: 'inn', values: ['ё'], fields: [] }
  await putWatchList(store, subscriptionId, watch)
  const hook = { url: 'https://example.org/', events: eventTypes, watch: watch.name }
  await addWebhook(store, { ...hook, subscriptionId, now: noon })
  const published = { version: 'v1', previous: null, asOf: null, rows: 1, publishedAt: noon }
  await recordVersion(store, 'financials', published)
  const outcome = { changes: 'none', changesReason: 'it is the first version' } as const
  await recordChanges(store, 'financials', published, outcome)
  await noteVersion(store, { dataset: 'financials', version: 'v1' }, noon)
  await saveDatasetStates(store, ['financials'], [state], { reason: null, updatedAt: noon })
  return { token, subscriptionId }
}

await t.test('everything is copied, compared, and goes on with the next ids', async (t) => {
  const path = storePath(t)
  const file = openFile(t, path)
  const { token, subscriptionId } = await fill(file)
  const store = openPostgres(t, server.url)
  const counts = new Map<string, number>()
  writeFileSync(join(dirname(path), 'mail.key'), bytes)
  const keys = await copyStore(file, store, dirname(path), (table, rows) => counts.set(table, rows))
  t.same(
    [...counts.keys()],
    copiedTables.map(({ name }) => name),
  )
  t.equal(Math.min(...counts.values()), 1, 'every table had a row')
  t.equal(counts.get('usage'), 2100)
  t.same(keys, ['mail.key'], 'a key that the folder lacks is not made')
  t.same(await findKey(store, 'unused', 'mail.key'), bytes)
  t.equal(await findKey(store, 'unused', 'shop.key'), null)
  t.same(await listSubscriptions(store), await listSubscriptions(file))
  t.same(await listTokens(store), await listTokens(file))
  t.same(await listActions(store, {}), await listActions(file, {}))
  t.same(await listLetters(store, ['waiting']), await listLetters(file, ['waiting']))
  t.same(await findToken(store, hashToken(token)), await findToken(file, hashToken(token)))
  t.same(
    await readUsage(store, subscriptionId, '2026-06'),
    await readUsage(file, subscriptionId, '2026-06'),
  )
  for (const each of [store, file]) {
    const { tokenId, subscriptionId: made } = await subscribe(each, { email: 'new@example.com' })
    t.equal(await newestLiveToken(each, made, noon), tokenId)
    await recordAction(each, { action: 'pack.made', subject: 'next', now: noon })
  }
  const next = async (from: ControlStore) => (await listActions(from, {})).map(({ id }) => id)
  t.same(await next(store), await next(file), 'the audit trail has no gap')
})

await t.test('a target that holds anything is refused, and stays as it was', async (t) => {
  const file = openFile(t)
  await fill(file)
  const store = openPostgres(t, server.url)
  await recordAction(store, { action: 'server.started', subject: 'das', now: noon })
  await t.rejects(copyStore(file, store, noKeys), {
    message: 'the PostgreSQL holds audit already: copy into an empty schema',
  })
  t.same(await listSubscriptions(store), [])
  t.equal((await listActions(store, {})).length, 1)
})

await t.test('another key, or a damaged one, is refused, and nothing is copied', async (t) => {
  const path = storePath(t)
  const file = openFile(t, path)
  await fill(file)
  const keyPath = join(dirname(path), 'mail.key')
  const store = openPostgres(t, server.url)
  const made = await keyOf(store, 'unused', 'mail.key')
  writeFileSync(keyPath, bytes)
  await t.rejects(copyStore(file, store, dirname(path)), {
    message: 'the PostgreSQL has another mail.key already: copy into an empty schema',
  })
  writeFileSync(keyPath, 'short')
  await t.rejects(copyStore(file, store, dirname(path)), { message: /mail\.key .* is damaged/ })
  t.same(await keyOf(store, 'unused', 'mail.key'), made)
  for (const { name } of copiedTables) {
    t.same(await store.all(sql`SELECT 1 FROM ${sqlText(name)}`), [], name)
  }
})

await t.test('a row that differs is found, and nothing is copied', async (t) => {
  const file = openFile(t)
  await fill(file)
  for (const [table, change] of [
    ['tokens', "NEW.hint := 'other'"],
    ['usage', 'NEW.rows := NEW.rows + 1'],
    ['connection_secrets', "NEW.parent := '\\x00'"],
    ['letters', 'RETURN NULL'],
  ] as const) {
    const store = openPostgres(t, server.url)
    await store.run(
      sql`CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN ${sqlText(change)}; RETURN NEW; END $$`,
    )
    await store.run(
      sql`CREATE TRIGGER spoil BEFORE INSERT ON ${sqlText(table)} FOR EACH ROW EXECUTE FUNCTION spoil()`,
    )
    await t.rejects(copyStore(file, store, noKeys), {
      message: new RegExp(`^${table} .*nothing was copied`),
    })
    for (const { name } of copiedTables) {
      t.same(await store.all(sql`SELECT 1 FROM ${sqlText(name)}`), [], name)
    }
  }
})

await t.test('a table or column that this release does not know is refused', async (t) => {
  const file = openFile(t)
  file.file.db.exec('ALTER TABLE orders ADD COLUMN surprise TEXT')
  const store = openPostgres(t, server.url)
  await t.rejects(copyStore(file, store, noKeys), { message: /^orders has the columns .*surprise/ })
  file.file.db.exec('CREATE TABLE surprises (x)')
  await t.rejects(copyStore(file, store, noKeys), {
    message: /^the tables to copy are .*surprises/,
  })
  t.same(await store.all(sql`SELECT 1 FROM orders`), [])
})
