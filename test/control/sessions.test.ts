import t from 'tap'
import {
  findPageSecret,
  makePageSecret,
  pageSecretEnd,
} from '../../src/control/sessions/page-secrets.js'
import * as sessions from '../../src/control/sessions/sessions.js'
import { sql } from '../../src/control/store/sql.js'
import type { ControlStore } from '../../src/control/store/store.js'
import { LastUsed } from '../../src/control/tokens/last-used.js'
import { hashToken } from '../../src/control/tokens/token-format.js'
import { clockAt, hourMs, noon, openAnyStore, subscribe } from './fixtures/store.js'

const { sessionLifeMs, sessionsMax, pageSecretsMax } = sessions
const email = 'Buyer@example.com'

const find = (store: ControlStore, secret: string, now = noon) =>
  sessions.findSession(store, hashToken(secret), now)

await t.test('a session is found by its hash, until 30 days after its last use', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store)
  const secret = await sessions.makeSession(store, { email, now: noon })
  const found = await find(store, secret)
  t.match(found, { email, payerId: null, lastUsedAt: noon })
  t.equal(await find(store, `${secret}x`), undefined)
  const sessionId = found?.sessionId ?? ''
  await sessions.choosePayer(store, sessionId, subscriptionId)
  const uses = new LastUsed(store, clockAt(noon + hourMs), () => t.fail())
  uses.note(sessionId)
  await uses.close()
  t.match(await find(store, secret), { payerId: subscriptionId, lastUsedAt: noon + hourMs })
  const end = noon + hourMs + sessionLifeMs
  t.ok(await find(store, secret, end - 1))
  t.equal(await find(store, secret, end), undefined)
  await sessions.removeSessions(store, end - 1)
  t.ok(await find(store, secret))
  await sessions.removeSessions(store, end)
  t.equal(await find(store, secret), undefined)
})

await t.test(
  'an address has few sessions: another ends the one that is idle longest',
  async (t) => {
    const store = openAnyStore(t)
    const secrets: string[] = []
    for (let n = 0; n <= sessionsMax; n += 1) {
      const spelling = n % 2 === 0 ? email : email.toUpperCase()
      secrets.push(await sessions.makeSession(store, { email: spelling, now: noon + n }))
    }
    const other = await sessions.makeSession(store, { email: 'x@example.com', now: noon })
    const live = await Promise.all(secrets.map(async (each) => Boolean(await find(store, each))))
    t.same(
      live.map((is, n) => (is ? -1 : n)).filter((n) => n >= 0),
      [0],
    )
    await sessions.endSessionsOf(store, 'BUYER@example.com')
    t.match(await store.all(sql`SELECT email FROM sessions`), [{ email: 'x@example.com' }])
    await sessions.endSession(store, hashToken(other))
    t.same(await store.all(sql`SELECT email FROM sessions`), [])
  },
)

await t.test('secrets of pages are few, and end with session, subscription and hour', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId, expiresAt: subscriptionEnd } = await subscribe(store)
  const secret = await sessions.makeSession(store, { email, now: noon })
  const { sessionId = '' } = (await find(store, secret)) ?? {}
  const made: string[] = []
  for (let n = 0; n <= pageSecretsMax; n += 1) {
    const of = { sessionId, subscriptionId, now: noon + n }
    made.push((await makePageSecret(store, of)).secret)
  }
  t.equal(await findPageSecret(store, hashToken(made[0] ?? '')), undefined)
  const last = await findPageSecret(store, hashToken(made.at(-1) ?? ''))
  t.match(last, { sessionId, subscriptionId, grants: [{ dataset: 'financials', plan: 'start' }] })
  if (last === undefined) return
  const hour = noon + pageSecretsMax + hourMs
  t.equal(pageSecretEnd(last, noon), hour)
  t.equal(pageSecretEnd(last, hour), null)
  t.equal(pageSecretEnd({ ...last, cancelledAt: noon }, noon), null)
  t.equal(pageSecretEnd({ ...last, expiresAt: noon + 1 }, noon), noon + 1)
  t.equal(pageSecretEnd({ ...last, sessionUsedAt: noon - sessionLifeMs }, noon), null)
  t.ok(subscriptionEnd > hour)
  await sessions.removeSessions(store, hour)
  t.same(await store.all(sql`SELECT 1 FROM session_secrets`), [])
  const again = await makePageSecret(store, { sessionId, subscriptionId, now: noon })
  await sessions.endSession(store, hashToken(secret))
  t.equal(await findPageSecret(store, hashToken(again.secret)), undefined)
})
