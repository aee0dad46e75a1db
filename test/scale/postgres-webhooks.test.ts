import { join } from 'node:path'
import t from 'tap'
import { listDeliveries } from '../../src/control/hooks/deliveries.js'
import { createSubscription } from '../../src/control/subscriptions.js'
import { addWebhook } from '../../src/control/hooks/webhooks.js'
import { PostgresStore } from '../../src/control/postgres/postgres-store.js'
import { startReceiver } from '../sales/webhooks/fixtures/receiver.js'
import { makePlace, startServerAt } from '../sales/webhooks/fixtures/server-at.js'
import type { ServerAt } from '../sales/webhooks/fixtures/server-at.js'
import { testFolder } from '../support/folder.js'
import { machine } from '../support/machine.js'
import { writeParquet } from '../support/world.js'
import { startPostgres } from './fixtures/postgres.js'

// Guarantee: two servers over one PostgreSQL send each event once, and one that lacks a version or
// its changes asks to wait.

const registry = `
datasets:
  firms:
    title: Firms
    files: a.parquet
    key: inn
    allow_breaking: true
    plans:
      pro: {rows_per_month: 1000, history: all, price_rub: 10, rate_per_minute: 1000000}
`
const rows = (v: number) => ({ 'a.parquet': `SELECT 'a' AS inn, ${v} AS v` })

/** The version recorded after one, as a server lists it, once it is no longer `pending` there. */
async function nextOf({ get }: ServerAt, token: string, before = '') {
  for (;;) {
    const [newest] = (await get('/v1/firms/versions', token)).body.data
    const isNew = newest && newest['version'] !== before
    if (isNew && newest['changes'] !== 'pending') return String(newest['version'])
  }
}

await t.test('each event is sent once, and what a server lacks is 503', async (t) => {
  const { url: controlUrl } = await startPostgres(t)
  const receiver = await startReceiver(t)
  const store = new PostgresStore(controlUrl, machine)
  t.teardown(() => store.close())
  const startMs = Date.now()
  const { token, subscriptionId } = await createSubscription(store, {
    ...{ email: 'a@example.org', grants: [{ dataset: 'firms', plan: 'pro' }], months: 1 },
    ...{ globalRows: null, priceRub: 0, language: 'en', now: () => startMs },
  })
  const hook = { url: receiver.url, events: ['dataset.version'], watch: null } as const
  const { webhookId } = await addWebhook(store, { ...hook, subscriptionId, now: startMs })
  const folder = testFolder(t)
  const start = (name: string) => {
    const place = join(folder, name)
    makePlace(place, registry)
    return { place, server: startServerAt(t, { folder: place, startMs, controlUrl }) }
  }
  await writeParquet(join(folder, 'one'), rows(1))
  const one = start('one')
  await writeParquet(join(folder, 'two'), rows(1))
  const two = start('two')
  await Promise.all([one, two].map(({ server }) => server.listening))
  const versions = [await nextOf(one.server, token)]
  for (const v of [2, 3]) {
    const before = versions.at(-1) ?? ''
    await writeParquet(one.place, rows(v))
    await one.server.reload()
    const version = await nextOf(one.server, token, before)
    versions.push(version)
    const [newest] = (await two.server.get('/v1/firms/versions', token)).body.data
    t.match(newest, { version, previous: before, changes: 'pending' })
    const lacking = await two.server.get(`/v1/firms/changes?since=${version}`, token)
    t.match([lacking.status, lacking.headers['retry-after']], [503, /^\d+$/])
    const asked = `/v1/firms/changes?since=${before}`
    t.equal((await two.server.get(asked, token)).status, 200, 'it serves what it has')
    await writeParquet(two.place, rows(v))
    await two.server.reload()
    t.equal(await nextOf(two.server, token, before), version)
    const [here, there] = await Promise.all([one, two].map((each) => each.server.get(asked, token)))
    t.match(here?.body.data, [{ change: 'changed', row: { inn: 'a', v } }])
    t.same(there?.body, here?.body)
    await receiver.arrived(versions.length)
  }
  // One that is killed before it records an answer sends the message again, with the same id.
  const all = { upTo: Number.MAX_SAFE_INTEGER, limit: 10 }
  while ((await listDeliveries(store, webhookId, all)).some(({ state }) => state !== 'sent'));
  await one.server.kill()
  await writeParquet(two.place, rows(4))
  await two.server.reload()
  versions.push(await nextOf(two.server, token, versions.at(-1)))
  await receiver.arrived(versions.length)
  const sent = receiver.received.map(({ body }) => JSON.parse(body) as object)
  t.same(
    sent,
    versions.map((version) => ({ type: 'dataset.version', data: { dataset: 'firms', version } })),
  )
})
