import { createHash } from 'node:crypto'
import t from 'tap'
import { listActions, newestActionAt, recordAction, whoDid } from '../../src/control/audit.js'
import { listConnections, showConnection } from '../../src/control/connections/connections.js'
import { endAllConnections, endConnection } from '../../src/control/connections/end-connection.js'
import { redeemCode, refreshSecrets } from '../../src/control/connections/exchange-secrets.js'
import { connectionsMax, makeConnection } from '../../src/control/connections/make-connection.js'
import { removeConnections } from '../../src/control/connections/remove-connections.js'
import { findSecret } from '../../src/control/connections/secret-lookup.js'
import { liveGrants } from '../../src/control/grants.js'
import * as letters from '../../src/control/letters.js'
import * as codes from '../../src/control/mailed-codes/email-codes.js'
import * as reloads from '../../src/control/reload-requests.js'
import { openOrders, orderDaysSince, paidByDay } from '../../src/control/order-counts.js'
import * as links from '../../src/control/order-links.js'
import * as orders from '../../src/control/orders.js'
import { findPayment, insertPayment, paymentsOf } from '../../src/control/payments.js'
import { RefusalCounts, refusalsSince } from '../../src/control/refusals.js'
import { findSession, makeSession, removeSessions } from '../../src/control/sessions/sessions.js'
import { sql } from '../../src/control/store/sql.js'
import type { ControlStore } from '../../src/control/store/store.js'
import { liveSubscriptions } from '../../src/control/subscriber-grants.js'
import { subscriptionsEnding, subscriptionsOfMonth } from '../../src/control/subscriptions.js'
import { usageOfMonth } from '../../src/control/usage-report.js'
import { hashToken } from '../../src/control/tokens/token-format.js'
import { LastUsed } from '../../src/control/tokens/last-used.js'
import { findToken, listTokens, reissueToken } from '../../src/control/tokens/tokens.js'
import { clockAt, hourMs, noon, openAnyStore, subscribe } from './fixtures/store.js'
import { MovingClock } from '../support/moving-clock.js'
import { machineRandom } from '../../src/random.js'

// What other tests ask only of a file.

const dayMs = 24 * hourMs
const noonDay = Math.floor(noon / dayMs)
const bytes = Buffer.alloc(32, 9)
const email = 'Buyer@example.com'

await t.test('letters wait, are held, end, and remind once', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId, tokenId } = await subscribe(store)
  const sealed = { kind: 'new-token', subscriptionId, tokenId, sealedSecret: bytes } as const
  const letterId = await letters.queueLetter(store, sealed, noon)
  t.same(await letters.waitingLetters(store), { count: 1, oldestAt: noon })
  const take = { now: noon, holdMs: 1000, waitMaxMs: dayMs }
  const taken = await Promise.all([1, 2, 3].map(() => letters.takeLetter(store, take)))
  const [letter, ...others] = taken.filter((each) => each !== undefined)
  t.match(letter, { letterId, sealedSecret: bytes, attempts: 1 })
  t.same(others, [], 'one of three takes it')
  if (letter === undefined) return
  const again = noon + 2 * hourMs
  const end = { state: 'waiting', reason: 'later', nextAttemptAt: again } as const
  await letters.endAttempt(store, letter, end)
  t.equal(await letters.takeLetter(store, { ...take, now: noon + hourMs }), undefined)
  const early = { ...take, now: noon + hourMs, isEarly: true, letterId }
  const second = await letters.takeLetter(store, early)
  t.match(second, { attempts: 2, lastError: 'later' })
  if (second) await letters.endAttempt(store, second, { state: 'sent', now: noon + hourMs })
  t.match(await letters.listLetters(store, ['sent', 'failed']), [{ sealedSecret: null }])
  t.same(await letters.listLetters(store, ['waiting']), [])
  t.same(await letters.listLetters(store, []), [])
  const ahead = { now: noon, aheadMs: 40 * dayMs }
  t.equal(await letters.queueReminders(store, ahead), 1)
  t.equal(await letters.queueReminders(store, ahead), 0)
  t.match(await listActions(store, { subject: `letter ${letterId}` }), [{ action: 'letter.sent' }])
  t.match(await listActions(store, { subject: subscriptionId }), { length: 3 })
  t.equal(await newestActionAt(store), noon + hourMs)
})

await t.test("links of orders, owners' sessions and counts of refusals", async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store, { email })
  const { orderId, amountRub } = await orders.insertOrder(store, {
    ...{ kind: 'renew', email, language: 'ru', subscriptionId, items: [], months: 3 },
    ...{ amountRub: 990, basedOn: null, buyer: null, orderedAt: noon, payUntil: noon + 1 },
  })
  const secret = await links.makeOrderLink(store, { orderId, amountRub }, noon)
  t.equal(await links.orderOfLink(store, secret, noon + 14 * dayMs - 1), orderId)
  t.equal(await links.orderOfLink(store, secret, noon + 14 * dayMs), null)
  await links.removeOrderLinks(store, noon + 14 * dayMs - 1)
  t.equal(await links.orderOfLink(store, secret, noon), orderId)
  const other = await links.makeOrderLink(store, { orderId, amountRub: amountRub + 1 }, noon)
  t.equal(await links.orderOfLink(store, other, noon), null, 'an order of another amount')
  t.equal(await links.orderOfLink(store, `${secret}0`, noon), null)
  const action = 'order.confirmed'
  t.equal(await whoDid(store, orderId, [action, 'order.declined']), null)
  await recordAction(store, { action, subject: orderId, details: { by: email }, now: noon })
  t.match(await whoDid(store, orderId, [action, 'order.declined']), { by: email })
  const owned = await makeSession(store, { email, now: noon, kind: 'owner' })
  const hash = hashToken(owned)
  t.match(await findSession(store, hash, noon, 'owner'), { email })
  t.equal(await findSession(store, hash, noon), undefined)
  await removeSessions(store, noon + 12 * hourMs - 1)
  t.ok(await findSession(store, hash, noon, 'owner'))
  await removeSessions(store, noon + 12 * hourMs)
  t.equal(await findSession(store, hash, noon, 'owner'), undefined)
  t.match(await paidByDay(store), [{ day: noonDay, orders: 1, amountRub: 990 }])
  const waiting = { state: 'waiting', orderedDay: noonDay, doneDay: null, orders: 1 }
  t.same(await orderDaysSince(store, noonDay), [waiting], 'the sale of the owner is none')
  t.match(await subscriptionsEnding(store, { now: noon, by: noon + 31 * dayMs }), [{ email }])
  t.same(await subscriptionsEnding(store, { now: noon, by: noon + 29 * dayMs }), [])
  for await (const page of subscriptionsOfMonth(store, { now: noon, period: '2026-06' })) {
    t.match(page, [{ email }])
    t.same(await usageOfMonth(store, '2026-06', page), [])
  }
  t.match(await openOrders(store, 1), { newest: [{ orderId }], count: 1 })
  t.match(await openOrders(store, 0), { newest: [], count: 1 })
})

// Guarantee: no refused request is counted twice or lost while the store can't be written.
await t.test('refused requests are counted by day and code', async (t) => {
  const store = openAnyStore(t)
  const clock = new MovingClock(noon)
  const failures: unknown[] = []
  let isBroken = true
  const broken: ControlStore['write'] = (work) =>
    isBroken ? Promise.reject(new Error('locked')) : store.write(work)
  const faulty = { write: broken } as ControlStore
  const counts = new RefusalCounts({
    store: faulty,
    clock,
    report: (cause) => failures.push(cause),
  })
  counts.start()
  for (const code of ['not_found', 'unauthorized', 'not_found'] as const) counts.note(code)
  await clock.advance(60_000)
  t.equal(failures.length, 1)
  t.same(await refusalsSince(store, noonDay), [])
  isBroken = false
  await clock.advance(60_000)
  clock.ms += dayMs
  counts.note('not_found')
  await counts.close()
  t.same(await refusalsSince(store, noonDay), [
    { code: 'not_found', requests: 3 },
    { code: 'unauthorized', requests: 1 },
  ])
  t.same(await refusalsSince(store, noonDay + 1), [{ code: 'not_found', requests: 1 }])
})

await t.test('orders wait, end and are removed; payments are kept', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store, { email })
  const asked: orders.NewOrder = {
    ...{ kind: 'renew', email, language: 'ru', subscriptionId, items: [], months: 3 },
    ...{ amountRub: 990, basedOn: null, buyer: null, orderedAt: noon, payUntil: noon + 1 },
  }
  const { orderId } = await orders.insertOrder(store, asked)
  await t.rejects(orders.insertOrder(store, asked), 'one order of a subscription waits')
  t.match(await orders.showOrder(store, orderId), { ...asked, state: 'waiting' })
  t.match(await orders.ordersOfEmail(store, 'BUYER@example.com', noon), [{ orderId }])
  t.match(await orders.ordersOfSubscription(store, subscriptionId), [{ orderId }])
  t.same(await orders.overdueOrders(store, noon + 1), [orderId])
  await orders.endOrder(store, orderId, { state: 'expired', now: noon + 1 })
  t.match(await orders.listOrders(store, ['expired', 'declined', 'confirmed']), [{ orderId }])
  t.same(await orders.listOrders(store, ['waiting']), [])
  const payment = { paymentId: 'p', orderId, amountRub: 1, paidAt: noon, receivedAt: noon }
  await insertPayment(store, { ...payment, outcome: 'not waiting' })
  t.match(await findPayment(store, 'p'), payment)
  t.match(await paymentsOf(store, orderId), [payment])
  t.equal(await orders.removeUnpaidOrders(store, noon + dayMs), 0)
  const other = await orders.insertOrder(store, asked)
  await orders.endOrder(store, other.orderId, { state: 'declined', now: noon })
  t.equal(await orders.removeUnpaidOrders(store, noon + dayMs), 1)
})

await t.test('codes are counted, tried and removed with their letters', async (t) => {
  const store = openAnyStore(t)
  const codeId = codes.createCodeId(machineRandom)
  const code = { codeId, purpose: 'order', email, language: 'en', hash: bytes } as const
  const networks = { narrow: bytes, wider: null, widest: bytes }
  await codes.insertCode(store, { ...code, subject: '{}', networks, createdAt: noon })
  await letters.queueLetter(store, { kind: 'code', codeId, sealedSecret: bytes }, noon)
  const counted = (since: number, now: number) =>
    codes.countCodes(store, { email: 'buyer@EXAMPLE.com', networks, window: { since, now } })
  const one = { all: 1, ofEmail: 1, narrow: 1, wider: 0, widest: 1 }
  const none = { all: 0, ofEmail: 0, narrow: 0, wider: 0, widest: 0 }
  t.same(await counted(noon - 1, noon), one)
  t.same(await counted(noon, noon + 1), none)
  t.same(await counted(noon - 2, noon - 1), none, 'made while the clock ran ahead')
  const window = { since: noon - 1, now: noon }
  t.equal(await codes.countReissueCodes(store, email, window), 0)
  await codes.noteWrongTry(store, codeId)
  await codes.noteUse(store, codeId, noon + 1)
  t.match(await codes.findCode(store, codeId), { ...code, wrongTries: 1, usedAt: noon + 1 })
  t.equal(await codes.removeCodes(store, { until: noon - 1, ahead: noon }), 0)
  t.equal(await codes.removeCodes(store, { until: noon, ahead: noon + 1 }), 1)
  t.same(await letters.listLetters(store, ['waiting']), [])
})

await t.test('agents connect, refresh, lose replayed secrets, and are removed', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId, tokenId } = await subscribe(store)
  const agent = { clientId: 'c', clientName: 'Agent', redirectUri: 'http://127.0.0.1/' }
  const asked = { ...agent, codeChallenge: 'x', now: noon }
  const owner = { subscriptionId, tokenId }
  const { connectionId, code } = await makeConnection(store, { ...asked, owner })
  const at = (now: number) => ({
    ...{ store, isMailOn: true, terms: { demoHash: bytes, now } },
  })
  const proof = { ...agent, hash: hashToken(code), codeChallenge: 'x' }
  const first = await redeemCode(at(noon), proof)
  t.match(await letters.listLetters(store, ['waiting']), [{ kind: 'connection-made' }])
  const refresh = (secret: string | undefined, now: number) =>
    refreshSecrets(at(now), { hash: hashToken(secret ?? ''), clientId: 'c' })
  let newest = first
  for (let n = 1; n < 60; n += 1) newest = await refresh(newest?.refresh, noon + n)
  t.match(newest, { accessExpiresAt: noon + 59 + hourMs })
  t.match(await findSecret(store, hashToken(newest?.access ?? '')), { connectionId, owner })
  const stored = await store.all<{ hash: Buffer }>(sql`SELECT hash FROM connection_secrets`)
  t.equal(stored.length, 71, '20 unused secrets, 50 used ones and the code')
  const reissued = await reissueToken(store, subscriptionId, {
    ...{ graceMs: 0, now: clockAt(noon + hourMs), keepsConnections: true },
  })
  t.match(await showConnection(store, connectionId), { tokenId: reissued.tokenId })
  t.equal(await redeemCode(at(noon + hourMs), proof), undefined, 'the code again')
  t.match(await listConnections(store, subscriptionId), [{ endReason: 'replayed' }])
  t.equal(await endConnection(store, connectionId, { reason: 'revoked', now: noon }), false)
  t.same(await endAllConnections(store, subscriptionId, { now: noon }), [])
  t.ok((await removeConnections(store, noon + 31 * dayMs)) > 0)
  await removeConnections(store, noon + 90 * dayMs)
  t.same(await listConnections(store), [])
})

await t.test('a connection too many ends the most idle one', async (t) => {
  const store = openAnyStore(t)
  const agent = { clientId: 'c', clientName: 'Agent', redirectUri: 'http://127.0.0.1/' }
  const { subscriptionId, tokenId } = await subscribe(store)
  for (let n = 0; n <= connectionsMax.subscription; n += 1) {
    const asked = { ...agent, codeChallenge: 'x', now: noon + n }
    await makeConnection(store, { ...asked, owner: { subscriptionId, tokenId } })
    if (n < 3) await makeConnection(store, { ...asked, owner: { demoHash: bytes } })
  }
  const ended = (await listConnections(store)).filter(({ endReason }) => endReason !== null)
  t.match(ended, [{ endReason: 'displaced', createdAt: noon, subscriptionId }])
})

await t.test('reloads are requested, taken, finished and withdrawn', async (t) => {
  const store = openAnyStore(t)
  t.equal(await reloads.takeReload(store, noon), undefined)
  const id = await reloads.requestReload(store, { force: true, dataset: null }, noon)
  t.equal(await reloads.reloadProgress(store, id), 'waiting')
  t.same(await reloads.takeReload(store, noon), { id, force: true, dataset: null })
  t.equal(await reloads.reloadProgress(store, id), 'taken')
  await reloads.returnReload(store, id)
  t.equal(await reloads.reloadProgress(store, id), 'waiting')
  t.same(await reloads.takeReload(store, noon), { id, force: true, dataset: null })
  await reloads.finishReload(store, id, noon)
  t.equal(await reloads.reloadProgress(store, id), 'finished')
  const other = await reloads.requestReload(store, { force: true, dataset: 'things' }, noon)
  t.equal(await reloads.withdrawReload(store, other, noon), true)
  t.equal(await reloads.withdrawReload(store, other, noon), false)
})

await t.test('tokens and subscriptions are found by what they are', async (t) => {
  const store = openAnyStore(t)
  const { token, tokenId, subscriptionId } = await subscribe(store, { email })
  t.match(await findToken(store, hashToken(token)), { tokenId })
  const unknown = createHash('sha256').update('unknown').digest()
  t.equal(await findToken(store, unknown), undefined)
  t.match(await liveSubscriptions(store, 'buyer@example.COM', noon), [{ subscriptionId, email }])
  t.same(await liveGrants(store, noon), [{ dataset: 'financials', plan: 'start' }])
})

await t.test('the last use of a token is kept, and never goes back', async (t) => {
  const store = openAnyStore(t)
  const { tokenId } = await subscribe(store)
  for (const ms of [noon, noon + hourMs, noon + 1]) {
    const lastUsed = new LastUsed(store, clockAt(ms), () => {})
    lastUsed.note(tokenId)
    await lastUsed.close()
  }
  t.match(await listTokens(store), [{ lastUsedAt: noon + hourMs }])
})

await t.test('actions are found by what their details name, at any depth', async (t) => {
  const store: ControlStore = openAnyStore(t)
  const record = (subject: string, details: Record<string, string | number | string[]>) =>
    recordAction(store, { action: 'pack.made', subject, details, now: noon })
  await record('one', { deep: ['a', 'tok "x" é'] })
  await record('two', { 'tok "x" é': 'only a name' })
  await record('three', { text: 'tok "x" é and more' })
  await record('five', { number: 5 })
  const found = async (subject: string) =>
    (await listActions(store, { subject, since: noon })).map((each) => each.subject)
  t.same(await found('tok "x" é'), ['one'])
  t.same(await found('5'), [])
  t.same(await found('two'), ['two'])
})
