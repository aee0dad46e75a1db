import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import t from 'tap'
import { tableOf } from '../../src/engine/trino/compile.js'
import { cliOver } from '../cli/fixtures/cli-fixture.js'
import { openTable } from './fixtures/both-engines.js'
import { sameAnswers } from './fixtures/same-answers.js'
import { sameGroups } from './fixtures/same-groups.js'
import { startTrino } from './fixtures/trino.js'
import { addRows, hiveTable } from '../support/hive.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'

const cluster = await startTrino(t)
const plan = '{rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 100000}'

/** A server over a table and over a file of its own. */
async function serve(t: Test, table: string, entry = '', at?: string): Promise<World> {
  const world = await startWorld(t, {
    ...(at !== undefined && { at }),
    files: { 'own.parquet': 'SELECT 7 AS id' },
    registry: `
datasets:
  things:
    title: Things
    engine: {trino: "${cluster.url}"}
    table: ${table}
    key: id
    require_filter: false
    ${entry}
    plans: {all: ${plan}}
  own:
    title: Own
    files: own.parquet
    plans: {all: ${plan}}
`,
  })
  const reason = () => world.app.catalog().datasets.get('things')?.reason
  while (reason()?.includes('is being read')) await sleep(100)
  return world
}

// Guarantee: a table of Trino is served like files, and the same rows give the same answers.

await sameAnswers(t, cluster)
await sameGroups(t, cluster)

const things = `SELECT i AS id, 'n' || i AS name, (i * 1.10)::DECIMAL(12,2) AS price,
  2020 + i % 5 AS year FROM range(100) t(i)`

await t.test('a table is served like files: pages, charges, groups, formats', async (t) => {
  await hiveTable(cluster, 'plain', things)
  const world = await serve(t, 'hive.das.plain', 'history: year')
  const { token } = await world.subscribe(['things:all'])
  const found = await world.get('/v1/things?id=eq.5&select=price,id', token)
  t.equal(found.text, '{"data":[{"price":5.50,"id":5}],"next_cursor":null}')
  t.equal(found.headers['x-quota-rows-remaining'], '999')
  const ids: unknown[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page = await world.get(`/v1/things?limit=40${cursor && `&cursor=${cursor}`}`, token)
    ids.push(...page.body.data.map(({ id }) => id))
    cursor = page.body.next_cursor
  }
  t.same(ids, [...Array(100).keys()])
  const groups = await world.get('/v1/things/aggregate?group=year&measures=count,avg(price)', token)
  t.match(groups.text, '{"data":[{"year":2020,"count":20,"avg(price)":52.25}')
  const top = await world.get('/v1/things/top?by=-price&limit=1&select=id&format=csv', token)
  t.equal(top.text, 'id\r\n99\r\n')
  const parquet = await world.get('/v1/things?id=eq.5&format=parquet', token)
  t.equal(parquet.status, 406)
  const schema = await world.get('/v1/things/schema?facts=true', token)
  t.equal(schema.body['rows'], 100)
  t.notMatch(JSON.stringify([found, groups, schema]), /hive|127\.0\.0\.1/)
})

await t.test('types that Hive lacks, and a table that tells no files', async (t) => {
  await cluster.sql(`CREATE TABLE memory.default.types AS SELECT * FROM (VALUES
    (BIGINT '1', UUID '123e4567-e89b-12d3-a456-426614174000', TIME '09:30:00.500000',
      TIMESTAMP '2024-01-31 09:30:00.120000 Europe/Moscow', JSON '{"a": [1, 1.10]}',
      CAST('ab' AS CHAR(4)), TIMESTAMP '2024-01-31 09:30:00.123456789', INTERVAL '2' DAY),
    (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
    ) v(id, uuid, clock, zoned, json, padded, fine, span)`)
  const world = await serve(t, 'memory.default.types')
  const { token } = await world.subscribe(['things:all'])
  const row =
    '{"id":1,"uuid":"123e4567-e89b-12d3-a456-426614174000","clock":"09:30:00.5",' +
    '"zoned":"2024-01-31T06:30:00.12Z","json":{"a":[1,1.1]},"padded":"ab  ",' +
    '"fine":"2024-01-31 09:30:00.123456789","span":"2 00:00:00.000"}'
  const filters = [
    'id=eq.1',
    'uuid=eq.123E4567-e89b-12d3-a456-426614174000',
    'clock=lt.24:00:00',
    'clock=eq.09:30:00.5',
    'clock=in.24:00:00,09:30:00.5',
    'zoned=gt.-290000-01-01',
    'zoned=eq.2024-01-31T09:30:00.12%2B03:00',
    'zoned=lt.%2B290000-01-01',
    'json=not_null',
    'padded=eq.ab%20%20',
    'fine=eq.2024-01-31%2009:30:00.123456789',
    'span=not_null',
  ]
  for (const filter of filters) {
    const { text } = await world.get(`/v1/things?${filter}`, token)
    t.equal(text, `{"data":[${row}],"next_cursor":null}`, filter)
  }
})

await t.test('a new state is a new version, and ends the cursors of the last', async (t) => {
  await hiveTable(cluster, 'live', 'SELECT i AS id FROM range(10) t(i)')
  const world = await serve(t, 'hive.das.live')
  const { token } = await world.subscribe(['things:all'])
  const first = await world.get('/v1/things?limit=5', token)
  await world.app.reload()
  const again = await world.get('/v1/things?limit=5', token)
  t.equal(again.headers.etag, first.headers.etag, 'nothing has changed')
  await addRows(cluster, 'live', 'SELECT i AS id FROM range(10, 15) t(i)')
  await world.app.reload()
  const later = await world.get('/v1/things?limit=100', token)
  t.equal(later.body.data.length, 15)
  t.not(later.headers['x-dataset-version'], first.headers['x-dataset-version'])
  const broken = await world.get(`/v1/things?cursor=${first.body.next_cursor}`, token)
  t.equal(broken.status, 400)
  t.match(broken.body.detail, /start again without a cursor/)
})

await t.test('a table that is missing, or lacks the key, says so to the owner', async (t) => {
  const missing = await serve(t, 'hive.das.missing')
  const { token } = await missing.subscribe(['things:all'])
  const { status, text } = await missing.get('/v1/things', token)
  t.equal(status, 503)
  t.notMatch(text, 'hive')
  const reasonOf = (world: World) => world.app.catalog().datasets.get('things')?.reason
  t.match(reasonOf(missing), /^hive\.das\.missing can't be read: there is no such table/)
  await hiveTable(cluster, 'keyless', 'SELECT 1.5::DOUBLE AS id')
  const keyless = await serve(t, 'hive.das.keyless')
  t.match(reasonOf(keyless), /registry\.yaml:\d+:\d+: column "id" \(number\) can't order rows/)
})

await t.test('a query that takes too long, or that a caller leaves, ends in Trino', async (t) => {
  await cluster.sql(`CREATE VIEW memory.default.slow AS SELECT a * 5000 + b AS id
    FROM UNNEST(sequence(1, 5000)) x(a), UNNEST(sequence(1, 5000)) y(b)`)
  const world = await serve(t, 'memory.default.slow', 'timeout_seconds: 0.2')
  const { token } = await world.subscribe(['things:all'])
  const path = '/v1/things/aggregate?measures=median(id)'
  const { status, body } = await world.get(path, token)
  t.equal(status, 504)
  t.equal(body.error, 'timeout')
  const running = `SELECT count(*) FROM system.runtime.queries
    WHERE source = 'dataset-access-service' AND state NOT IN ('FINISHED', 'FAILED')
      AND query LIKE '%slow%' AND query NOT LIKE '%runtime%'`
  const isQuiet = async () => String(await cluster.sql(running)) === '0'
  for (let tries = 0; !(await isQuiet()) && tries < 100; tries++);
  t.ok(await isQuiet())

  await cluster.sql(`CREATE VIEW memory.default.slower AS SELECT id + c AS id
    FROM memory.default.slow CROSS JOIN UNNEST(sequence(1, 1000)) z(c)`)
  const { engine, version, filter } = await openTable(t, cluster, 'memory.default.slow')
  const table = { ...tableOf(version), table: 'slower' }
  const caller = new AbortController()
  const asked = engine.count({ ...version, table }, filter('id', 'ne', '5'), {
    signal: caller.signal,
    client: 'a client',
  })
  while (await isQuiet());
  caller.abort(new Error('the caller left'))
  await t.rejects(asked, { message: 'the caller left' })
  for (let tries = 0; !(await isQuiet()) && tries < 100; tries++);
  t.ok(await isQuiet())
})

await t.test('das check and das explain read a table', async (t) => {
  await hiveTable(cluster, 'checked', things)
  const world = await serve(t, 'hive.das.checked')
  const { subscriptionId } = await world.subscribe(['things:all'])
  const { das } = cliOver(world.folder, world.clock)
  const checked = await das(['dataset', 'check', 'things'])
  t.match(checked.stdout, /^things: ok \(100 rows, 4 columns, table hive\.das\.checked\)/)
  const explained = await das(['explain', subscriptionId, '/v1/things?id=lt.3'])
  t.match(explained.stdout, /200: 3 rows/)
  const packed = await das(['dataset', 'pack', 'things'])
  t.not(packed.code, 0)
  t.match(packed.stderr, /"things" is a table of Trino/)
})

await t.test('while Trino is down, other datasets are served; then all are again', async (t) => {
  await hiveTable(cluster, 'down', things)
  const world = await serve(t, 'hive.das.down')
  const { token } = await world.subscribe(['things:all', 'own:all'])
  const ask = async (path: string) => (await world.get(path, token)).status
  t.equal(await ask('/v1/things?id=eq.1'), 200)
  await cluster.stop()
  const { status, headers, text } = await world.get('/v1/things?id=eq.2', token)
  t.equal(status, 503)
  t.equal(headers['retry-after'], '10')
  t.notMatch(text, /127\.0\.0\.1|ECONN/)
  await world.app.reload()
  t.equal(await ask('/v1/own'), 200)
  t.equal(await ask('/v1/things?id=eq.3'), 503)
  const late = await serve(t, 'hive.das.down', '', join(world.folder, 'late'))
  await cluster.start()
  for (const each of [world, late]) {
    await each.app.reload()
    const { token } = await each.subscribe(['things:all'])
    t.equal((await each.get('/v1/things?id=eq.4', token)).text, textOf(4))
    t.equal(each.app.catalog().datasets.get('things')?.reason, null)
  }
})

function textOf(id: number): string {
  const price = ((id * 110) / 100).toFixed(2)
  const row = `{"id":${id},"name":"n${id}","price":${price},"year":${2020 + (id % 5)}}`
  return `{"data":[${row}],"next_cursor":null}`
}
