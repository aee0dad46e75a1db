import t from 'tap'
import { subscribe } from '../control/fixtures/store.js'
import { seriesOf, withMetrics } from '../support/metrics.js'
import { startThings } from '../support/things.js'
import { sql } from '../../src/control/store/sql.js'
import { openPostgres, startPostgres } from './fixtures/postgres.js'

const { url } = await startPostgres(t)

await t.test('charges in a PostgreSQL are measured, and those that it refuses', async (t) => {
  const world = await startThings(t, { ...withMetrics, controlUrl: url })
  const store = openPostgres(t, url, { schema: 'das' })
  const { token } = await subscribe(store, {
    email: 'subscriber@example.org',
    grants: [{ dataset: 'things', plan: 'pro' }],
    now: () => world.clock.ms,
  })
  const ask = () => world.get('/v1/things?limit=2', token)
  const counts = async () => {
    const series = await seriesOf(world)
    return [
      series.get('das_charge_sync_seconds_count'),
      series.get('das_charge_sync_failures_total'),
    ]
  }
  t.same(await counts(), [0, 0])
  t.equal((await ask()).status, 200)
  t.same(await counts(), [1, 0])
  const seconds = (await seriesOf(world)).get('das_charge_sync_seconds_sum') ?? 0
  t.ok(seconds > 0 && seconds < 10, `${seconds} s`)

  await store.run(sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'no space left' USING ERRCODE = 'disk_full'; END $$`)
  await store.run(sql`CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON usage
    FOR EACH ROW EXECUTE FUNCTION refuse()`)
  t.match(await ask(), { status: 503, body: { error: 'service_unavailable' } })
  t.same(await counts(), [1, 1])
  await store.run(sql`DROP TRIGGER refuse ON usage`)
  t.equal((await ask()).status, 200)
  t.same(await counts(), [2, 1])
})
