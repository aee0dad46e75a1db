import { randomBytes } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { queueReminders } from '../../../src/control/letters.js'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import {
  cancelSubscription,
  changeSubscription,
  extendSubscription,
} from '../../../src/control/subscription-changes.js'
import { reissueToken, revokeToken } from '../../../src/control/tokens/tokens.js'
import { MailError } from '../../../src/sales/letters/mailer.js'
import type { Mailer } from '../../../src/sales/letters/mailer.js'
import { holdLetter } from '../../../src/sales/letters/outbox.js'
import { dayMs, minuteMs, openPostOffice, round } from '../../sales/letters/fixtures/post-office.js'
import { machine } from '../../support/machine.js'

const busy = { refuseGreeting: { status: 421, text: 'busy' } }

await t.test('a letter arrives once, as text and HTML, and its token is then erased', async (t) => {
  const { sell, deliver, server, letters } = await openPostOffice(t)
  const { token, subscriptionId } = await sell({ language: 'ru' })
  t.match(await deliver(), [{ kind: 'new-token', subscriptionId, end: { state: 'sent' } }])
  t.same(await deliver(), [])
  const [arrived, ...others] = server.letters
  t.same(others, [])
  t.same(arrived?.recipients, ['buyer@example.com'])
  t.equal(arrived?.mail.subject, 'Ваш доступ: Statements <b>&')
  t.match(arrived?.mail.text, 'Statements <b>& (financials), тариф start: 50\u00a0000 строк')
  t.match(arrived?.mail.html, 'Statements &#60;b&#62;&#38; (financials), тариф start')
  t.match(arrived?.mail.text, token)
  t.match(arrived?.mail.html, token)
  t.match(await letters(), [{ state: 'sent', sealedSecret: null, attempts: 1, lastError: null }])
})

// Who reads the disk, a backup or a log while mail is down finds no token.
await t.test('no file of the store contains a waiting token in clear', async (t) => {
  const { sell, deliver, server, path, letters } = await openPostOffice(t)
  server.manners.current = busy
  const { token } = await sell()
  const [{ end } = { end: undefined }] = await deliver()
  const files = readdirSync(dirname(path)).map((name) => join(dirname(path), name))
  t.ok(files.length > 1, 'the write-ahead log is there too')
  for (const file of files) t.notOk(readFileSync(file).includes(token), file)
  t.notMatch(JSON.stringify([end, letters()]), token)
  t.not((await letters())[0]?.sealedSecret, null)
})

await t.test(
  'a failed letter is tried again after 1, 2, 4 … minutes, an hour at most',
  async (t) => {
    const { sell, deliver, server, clock, letters } = await openPostOffice(t)
    await sell()
    server.manners.current = busy
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
      const nextAttemptAt = clock.ms + minutes * minuteMs
      const reason = /^127\.0\.0\.1:\d+ answered: 421 busy$/
      t.match(await deliver(), [{ end: { state: 'waiting', reason, nextAttemptAt } }])
      clock.ms = nextAttemptAt - 1
      t.same(await deliver(), [], 'not before its time')
      clock.ms += 1
    }
    server.manners.current = {}
    t.match(await deliver(), [{ end: { state: 'sent' } }])
    t.match(await letters(), [{ attempts: 9, lastError: null }])
    t.equal(
      server.letters[0]?.mail.messageId,
      `<letter-1-${(await letters())[0]?.createdAt}@example.org>`,
    )
  },
)

await t.test('a letter is given up after three days, and its token erased', async (t) => {
  const { sell, deliver, server, clock, letters } = await openPostOffice(t)
  await sell()
  const end = clock.ms + 3 * dayMs
  server.manners.current = busy
  await deliver()
  clock.ms = end - 10 * minuteMs
  while ((await letters())[0]?.state === 'waiting') {
    t.ok(clock.ms <= end)
    await deliver()
    clock.ms = (await letters())[0]?.nextAttemptAt ?? 0
  }
  const lastError = /^given up after three days: .* 421 busy$/
  t.match(await letters(), [{ state: 'failed', sealedSecret: null, lastError }])
  t.ok(((await letters())[0]?.doneAt ?? 0) > end - 60 * minuteMs)
})

await t.test('a refused recipient ends the attempts, and the token is erased', async (t) => {
  const { sell, deliver, server, letters } = await openPostOffice(t)
  await sell()
  server.manners.current = { refuseRecipient: { status: 550, text: 'no such user' } }
  const reason = /^127\.0\.0\.1:\d+ answered to RCPT TO: 550 no such user$/
  t.match(await deliver(), [{ end: { state: 'failed', reason } }])
  t.match(await letters(), [{ state: 'failed', sealedSecret: null }])
})

await t.test("a letter has the subscription's data of the moment when it is sent", async (t) => {
  const { sell, deliver, server, store, clock } = await openPostOffice(t)
  const { subscriptionId } = await sell()
  server.manners.current = busy
  await deliver()
  clock.ms += minuteMs
  const now = () => clock.ms
  await extendSubscription(store, subscriptionId, { months: 1, priceRub: () => 0, now })
  const grants = [{ dataset: 'gone', plan: 'old' }]
  await changeSubscription(store, subscriptionId, { grants, withdrawn: [], now })
  server.manners.current = {}
  await deliver()
  t.match(server.letters[0]?.mail.text, 'Until 15 August 2026, 12:00 UTC')
  t.match(server.letters[0]?.mail.text, '- gone (gone), plan old\n')
})

await t.test('the letter of a reissued token says until when the earlier one works', async (t) => {
  const { queue, deliver, server, store, clock, sell } = await openPostOffice(t)
  const { subscriptionId } = await sell()
  await deliver()
  const now = () => clock.ms
  const issued = await reissueToken(store, subscriptionId, { graceMs: dayMs, now })
  await queue({ ...issued, subscriptionId }, 'reissued-token')
  await deliver()
  t.match(server.letters[1]?.mail.text, 'Earlier tokens work until 16 June 2026, 12:00 UTC.')
  t.match(server.letters[1]?.mail.text, issued.token)
})

await t.test(
  'a letter that is no longer true is dropped, with the reason, and not sent',
  async (t) => {
    const { parts, sell, deliver, server, store, clock, letters } = await openPostOffice(t)
    const now = () => clock.ms
    const lives = { months: 12 }
    await cancelSubscription(store, (await sell(lives)).subscriptionId, now)
    await revokeToken(store, (await sell(lives)).tokenId, now)
    const replaced = (await sell(lives)).subscriptionId
    await reissueToken(store, replaced, { graceMs: dayMs, now })
    await sell({ months: 1 })
    clock.ms += 31 * dayMs
    await deliver()
    await round({ ...parts, key: randomBytes(32) })
    t.same(
      (await letters()).map(({ state, lastError }) => [state, lastError]),
      [
        ['dropped', 'the subscription was cancelled'],
        ['dropped', 'the token was revoked'],
        ['dropped', 'a newer token replaced the token'],
        ['dropped', 'the subscription is over'],
      ],
    )
    await sell(lives)
    await round({ ...parts, key: randomBytes(32) })
    t.match((await letters()).at(-1), { state: 'dropped', lastError: /mail\.key is not the one/ })
    t.ok((await letters()).every(({ sealedSecret }) => sealedSecret === null))
    t.same(server.letters, [])
  },
)

await t.test('a reminder is dropped when the subscription was extended or has ended', async (t) => {
  const { deliver, server, store, clock, sell, letters } = await openPostOffice(t)
  const now = () => clock.ms
  const sold = (await Promise.all([sell(), sell(), sell()])).map((each) => each.subscriptionId)
  await deliver()
  clock.ms += 25 * dayMs
  t.equal(await queueReminders(store, { now: clock.ms, aheadMs: 7 * dayMs }), 3)
  const [extended = '', cancelled = ''] = sold
  await extendSubscription(store, extended, { months: 1, priceRub: () => 0, now })
  await cancelSubscription(store, cancelled, now)
  clock.ms += 5 * dayMs
  await deliver()
  t.same(
    (await letters()).slice(3).map(({ lastError }) => lastError),
    ['the subscription was extended', 'the subscription was cancelled', 'the subscription is over'],
  )
  t.equal(server.letters.length, 3)
})

await t.test('two simultaneous processes send each letter once', async (t) => {
  const { parts, path, sell, server, letters } = await openPostOffice(t)
  const second = SqliteStore.open(path, machine)
  t.teardown(() => second.close())
  for (let count = 0; count < 10; count += 1) await sell()
  const rounds = await Promise.all([round(parts), round({ ...parts, store: second })])
  t.ok(
    rounds.every((deliveries) => deliveries.length > 0),
    'both had work',
  )
  t.equal(server.letters.length, 10)
  t.equal(new Set(server.letters.map(({ mail }) => mail.messageId)).size, 10)
  t.ok((await letters()).every(({ state, attempts }) => state === 'sent' && attempts === 1))
})

await t.test('the letter of a process that died is free when its hold is over', async (t) => {
  const { parts, sell, deliver, clock, server, letters } = await openPostOffice(t)
  await sell()
  t.ok(await holdLetter(parts, {}))
  t.same(await deliver(), [])
  t.equal(await holdLetter(parts, { letterId: 1 }), undefined, 'nor is it taken by name')
  clock.ms += 2 * minuteMs
  t.match(await deliver(), [{ end: { state: 'sent' } }])
  t.equal(server.letters.length, 1)
  t.match(await letters(), [{ attempts: 2 }])
})

await t.test('letters are sent after a clock that jumped ahead and back', async (t) => {
  const { parts, sell, deliver, clock, server } = await openPostOffice(t)
  await sell()
  const rightly = clock.ms
  clock.ms += 2 * dayMs
  server.manners.current = busy
  await deliver()
  clock.ms = rightly
  t.match(await deliver(), [{ end: { state: 'waiting' } }])
  clock.ms += 2 * dayMs
  t.ok(await holdLetter(parts, {}), 'held by a wrong clock')
  clock.ms = rightly + 2 * minuteMs
  server.manners.current = {}
  t.match(await deliver(), [{ end: { state: 'sent' } }])
})

await t.test('an attempt that outlived its hold does not queue a sent letter again', async (t) => {
  const { parts, sell, deliver, clock, server, letters } = await openPostOffice(t)
  await sell()
  const send: Mailer['send'] = async (message) => {
    clock.ms += 3 * minuteMs
    await deliver()
    server.manners.current = busy
    await parts.mailer.send(message)
  }
  t.match(await round({ ...parts, mailer: { send } }), [{ end: { state: 'waiting' } }])
  t.match(await letters(), [{ state: 'sent', sealedSecret: null }])
  t.equal(server.letters.length, 1)
})

await t.test(
  'an attempt that outlived its hold does not release a letter that another process holds',
  async (t) => {
    const { parts, sell, clock, letters } = await openPostOffice(t)
    await sell()
    const send: Mailer['send'] = async () => {
      clock.ms += 3 * minuteMs
      t.match(await holdLetter(parts, {}), { attempts: 2 })
      throw new MailError('too late', { isPermanent: false })
    }
    t.match(await round({ ...parts, mailer: { send } }), [{ end: { state: 'waiting' } }])
    t.match(await letters(), [{ state: 'waiting', attempts: 2, lastError: null }])
    t.equal(await holdLetter(parts, { letterId: 1 }), undefined)
  },
)

await t.test(
  'a clock that steps back a little does not release a letter that is being sent',
  async (t) => {
    const { parts, sell, clock } = await openPostOffice(t)
    await sell()
    t.ok(await holdLetter(parts, {}))
    clock.ms -= 1000
    t.equal(await holdLetter(parts, { letterId: 1 }), undefined)
  },
)

await t.test('the result of a sent letter is saved after a lock ends', async (t) => {
  const { path, parts, store, sell, server, letters } = await openPostOffice(t)
  await sell()
  store.file.setBusyTimeout(1)
  const holder = new Database(path)
  t.teardown(() => holder.close())
  const send: Mailer['send'] = async (message) => {
    await parts.mailer.send(message)
    holder.exec('BEGIN IMMEDIATE')
    store.file.watchWrites((failure) => {
      if (failure) setImmediate(() => holder.inTransaction && holder.exec('ROLLBACK'))
    })
  }
  t.match(await round({ ...parts, mailer: { send } }), [{ end: { state: 'sent' } }])
  t.match(await letters(), [{ state: 'sent' }])
  t.equal(server.letters.length, 1)
})
