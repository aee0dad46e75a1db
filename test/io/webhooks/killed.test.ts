import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { randomOf } from '../../../scripts/harness/random.js'
import { listVersions } from '../../../src/control/dataset-versions.js'
import { addWebhook } from '../../../src/control/hooks/webhooks.js'
import { putWatchList } from '../../../src/control/hooks/watch-lists.js'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import { createSubscription } from '../../../src/control/subscriptions.js'
import { sql } from '../../../src/control/store/sql.js'
import { exported, followed } from '../../changes/fixtures/copies.js'
import type { Copy } from '../../changes/fixtures/copies.js'
import { startReceiver } from '../../sales/webhooks/fixtures/receiver.js'
import { makePlace, startServerAt } from '../../sales/webhooks/fixtures/server-at.js'
import type { ServerAt } from '../../sales/webhooks/fixtures/server-at.js'
import { testFolder } from '../../support/folder.js'
import { machine } from '../../support/machine.js'
import { startOfTest, writeParquet } from '../../support/world.js'

// Guarantee: kill -9 at any moment loses no message of a webhook and sends none twice as new, and
// a copy that follows changes stays right and is never charged less than it was given.

/** `DAS_HOOK_KILLS` sets how many, `DAS_HOOK_SEED` when. */
const kills = Number(process.env['DAS_HOOK_KILLS'] ?? 4)
const seed = Number(process.env['DAS_HOOK_SEED'] ?? 7)
/** Between two starts the server's clock goes on so far: what a killed one held is free. */
const pauseMs = 150_000
const killMsMax = 1500
const limit = 20
const reader = { dataset: 'firms', question: '', keys: ['inn'] } as const

const registry = `
datasets:
  firms:
    title: Firms
    files: a.parquet
    key: inn
    allow_breaking: true
    allow_shrinking: true
    shrink_max: 100%
    plans:
      pro: {rows_per_month: 1000000000, history: all, price_rub: 10, rate_per_minute: 1000000}
`
/** The first company changes each time. */
const rowsOf = (round: number) => ({
  'a.parquet': `SELECT 'a' || i AS inn, CASE i WHEN 0 THEN ${round} ELSE i * ${round} % 5 END AS v
    FROM range(100) t(i) WHERE i = 0 OR (i + ${round}) % 9 > 1`,
})

/** A copy that is kept over all servers, one after another, and what it was given. */
class KeptCopy {
  readonly token: string
  rows: Copy = new Map()
  since: string | null = null
  delivered = 0
  attempted = 0

  constructor(token: string) {
    this.token = token
  }

  /** False while the changes are not known. Rejects when the server is gone: nothing is kept. */
  async follow(server: ServerAt): Promise<boolean> {
    const get = async (url: string) => {
      this.attempted += url.includes('/export') ? 100 : limit
      const answer = await server.get(url, this.token)
      this.delivered += Number(answer.headers['x-rows-charged'] ?? 0)
      return answer
    }
    const rows = new Map(this.rows)
    const asked = { ...reader, token: this.token }
    if (this.since === null) {
      const { copy, version } = await exported({ get }, asked)
      Object.assign(this, { rows: copy, since: version })
      this.delivered += copy.size
      return true
    }
    const { answer } = await followed({ get }, asked, rows, this.since, limit)
    if (answer.status === 503) return false
    if (answer.status !== 200) throw new Error(answer.text)
    Object.assign(this, { rows, since: answer.body['version'] })
    return true
  }
}

await t.test('kill -9 loses no message and no change', { timeout: 3_600_000 }, async (t) => {
  const folder = testFolder(t)
  makePlace(folder, registry)
  const store = SqliteStore.open(join(folder, 'var', 'control.db'), machine)
  t.teardown(() => store.close())
  const { token, subscriptionId } = await createSubscription(store, {
    ...{ email: 'a@example.org', grants: [{ dataset: 'firms', plan: 'pro' }], months: 12 },
    ...{ globalRows: null, priceRub: 0, language: 'en', now: () => startOfTest },
  })
  const list = { dataset: 'firms', column: 'inn', values: ['a0'], fields: ['v'] }
  await putWatchList(store, subscriptionId, { name: 'first', ...list })
  const receiver = await startReceiver(t)
  for (const watch of [null, 'first']) {
    const hook = { url: receiver.url, events: ['dataset.version'], watch } as const
    await addWebhook(store, { ...hook, subscriptionId, now: startOfTest })
  }
  const copy = new KeptCopy(token)
  let round = 0
  const publish = () => writeParquet(folder, rowsOf(++round))
  for (let cycle = 0; cycle < kills; cycle += 1) {
    const random = randomOf(seed, cycle)
    await publish()
    const server = startServerAt(t, { folder, startMs: startOfTest + cycle * pauseMs })
    const killed = new AbortController()
    let onFollowed = () => {}
    const caughtUp = new Promise<void>((resolve) => (onFollowed = resolve))
    const use = async () => {
      await server.listening
      while (!killed.signal.aborted) {
        if (await copy.follow(server)) onFollowed()
        if (!random.oneOf([true, false])) continue
        await publish()
        await server.reload()
      }
    }
    const used = use().catch((cause: unknown) => {
      if (!killed.signal.aborted) throw cause
    })
    // Some are killed while they start.
    if (random.whole(0, 4) > 0) await server.listening
    // Comparisons that others began need one that lives on.
    if (random.whole(0, 4) === 0) await Promise.race([caughtUp, used])
    await Promise.race([sleep(random.whole(0, killMsMax)), used])
    killed.abort()
    await server.kill()
    await used
    if (cycle % 50 === 49) t.comment(`${cycle + 1} kills, ${receiver.received.length} messages`)
  }
  await publish()
  const last = startServerAt(t, { folder, startMs: startOfTest + kills * pauseMs })
  await last.listening
  // Steps that no killed server came to compare are compared now, the newest first.
  const known = async () => (await last.get('/v1/firms/versions', token)).body.data
  while ((await known()).some(({ changes }) => changes === 'pending')) await copy.follow(last)
  t.ok(await copy.follow(last))
  const fresh = await exported(last, { ...reader, token })
  t.same([...copy.rows].sort(), [...fresh.copy].sort(), 'the copy is equal to an export')
  const versions = (await listVersions(store, 'firms')).map(({ version }) => version).reverse()
  const ids = () => {
    const found = new Map<string, Set<string>>()
    for (const { headers, body } of receiver.received) {
      const { version } = (JSON.parse(body) as { data: { version: string } }).data
      const id = String(headers['webhook-id'])
      const name = `${id.split('_')[1]} ${version}`
      found.set(name, (found.get(name) ?? new Set()).add(id))
    }
    return found
  }
  while (ids().size < 2 * versions.length) await receiver.arrived(receiver.received.length + 1)
  t.equal(ids().size, 2 * versions.length, 'each version that was listed, once to each webhook')
  t.ok(
    [...ids().values()].every(({ size }) => size === 1),
    'a repetition has the same id',
  )
  const [charged] = await store.all<{ rows: number }>(sql`SELECT sum(rows) AS rows FROM usage`)
  const [given, paid] = [copy.delivered + fresh.copy.size, charged?.rows ?? 0]
  t.ok(given <= paid && paid <= copy.attempted + 100, `${given} ≤ ${paid} ≤ ${copy.attempted}`)
  t.comment(
    `${kills} kills, ${versions.length} versions, ${receiver.received.length} messages of ` +
      `${ids().size}; ${given} rows delivered, ${paid} charged, ${copy.attempted} attempted`,
  )
})
