import t from 'tap'
import { sql } from '../../../src/control/store/sql.js'
import { openControl } from '../../support/control.js'
import { startThings } from '../../support/things.js'
import { startReceiver } from './fixtures/receiver.js'

const dayMs = 24 * 3_600_000
const receiver = await startReceiver(t)
const world = await startThings(t, {}, { isTimeStill: true, receivers: receiver.hosts })
const store = openControl(t, world)
const { token, subscriptionId } = await world.subscribe(['things:tiny'], { months: 2 })
const events = ['quota.80', 'quota.used', 'subscription.ending']
await world.post('/v1/webhooks', token, { url: receiver.url, events })
await world.app.prepare()

/** Reads so many rows, lets minutes pass, and returns what was sent. */
async function sentAfter(rows: number, more = 0): Promise<unknown[]> {
  if (rows > 0) {
    const { status } = await world.get(`/v1/things?limit=${rows}`, token)
    t.equal(status, 200)
  }
  world.clock.pass(more)
  for (let count = 0; count < 3; count += 1) await world.clock.advance(61_000)
  return receiver.received.splice(0).map(({ body }) => JSON.parse(body) as unknown)
}

/** The events of the subscription whose occasion is in this year. */
async function eventsOf(year: string): Promise<string[]> {
  const rows = await store.all<{ event: string }>(
    sql`SELECT type || ' ' || dataset || ' ' || occasion AS event FROM events
     WHERE subscription_id = ${subscriptionId} AND occasion LIKE ${`${year}%`} ORDER BY id`,
  )
  return rows.map(({ event }) => event)
}

await t.test(
  '80 % and all of a quota are reported once a month, the end of a term once',
  async (t) => {
    const data = { dataset: 'things', limit: 7 }
    t.same(await sentAfter(5), [])
    t.same(await sentAfter(1), [{ type: 'quota.80', data: { ...data, used: 6 } }])
    t.same(await sentAfter(1), [{ type: 'quota.used', data: { ...data, used: 7 } }])
    t.same(await sentAfter(0), [])
    t.same(await eventsOf('2026'), ['quota.80 things 2026-11', 'quota.used things 2026-11'])
    const december = Date.UTC(2026, 11, 1)
    t.same(await sentAfter(0, december - world.clock.now()), [])
    t.same(
      await sentAfter(7),
      ['quota.80', 'quota.used'].map((type) => ({ type, data: { ...data, used: 7 } })),
    )
    t.same(await sentAfter(0, 30.5 * dayMs), [], 'a month may have 31 days')
    t.same(await eventsOf('2026'), ['quota.80 things 2026-12', 'quota.used things 2026-12'])
    const ending = { subscription: subscriptionId, expires_at: '2027-01-15T12:00:00Z' }
    t.same(await sentAfter(0, 10 * dayMs), [{ type: 'subscription.ending', data: ending }])
    t.same(await sentAfter(0, dayMs), [])
    t.same(await eventsOf('2027'), ['subscription.ending  2027-01-15T12:00:00Z'])
  },
)
