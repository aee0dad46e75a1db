import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { callTool } from '../../support/mcp/mcp-messages.js'
import { metricsUrl, scrape, seriesOf, withMetrics } from '../../support/metrics.js'
import { slowQuestion, startSlow } from '../../support/slow.js'
import { startThings } from '../../support/things.js'
import type { World } from '../../support/world.js'

/** Waits until a series has a value that passes. */
async function until(world: World, name: string, passes: (value: number) => boolean) {
  while (!passes((await seriesOf(world)).get(name) ?? NaN)) await sleep(20)
}

await t.test('metrics are served only on a configured port', async (t) => {
  const world = await startThings(t)
  t.throws(() => metricsUrl(world))
  t.equal((await world.get('/metrics')).status, 404, 'nor at the door for users')
})

await t.test('requests are counted by door, dataset and outcome; rows by dataset', async (t) => {
  const world = await startThings(t, withMetrics)
  const { token } = await world.subscribe(['things:tiny'])
  await world.get('/v1/things?limit=2', token)
  await callTool(world, token, 'query', { resource: 'things', limit: 3 })
  await callTool(world, token, 'query', { resource: 'days' })
  await world.get('/v1/things?limit=20', token)
  await world.get('/v1/things', token)
  await world.get('/v1/things')
  const series = await seriesOf(world)
  const requests = (door: string, dataset: string, outcome: string) =>
    series.get(`das_requests_total{door="${door}",dataset="${dataset}",outcome="${outcome}"}`)
  t.equal(requests('rest', 'things', 'ok'), 2)
  t.equal(requests('mcp', 'things', 'ok'), 1)
  t.equal(requests('mcp', '', 'not_found'), 1)
  t.equal(requests('rest', 'things', 'row_quota_exceeded'), 1)
  t.equal(requests('rest', '', 'unauthorized'), 1)
  t.equal(series.get('das_rows_charged_total{dataset="things"}'), 7)
  t.equal(series.get('das_rows_sent_total{dataset="things"}'), 7)
  t.equal(series.get('das_request_duration_seconds_count{door="rest"}'), 4)
  t.equal(series.get('das_queue_wait_seconds_count'), 4, 'requests that reached a dataset')
  t.equal(series.get('das_charge_sync_seconds_count'), 3)
  t.equal(series.get('das_charge_sync_failures_total'), 0)
  t.equal(series.get('das_control_usable'), 1)
  t.ok((series.get('das_engine_seconds_total{dataset="things"}') ?? 0) > 0)
  t.ok((series.get('das_memory_bytes{part="rss"}') ?? 0) > 50e6)
  t.ok((series.get('das_event_loop_delay_max_seconds') ?? 0) > 0)
})

// Guarantee: a client can't make new series, and no series holds what it sent.
await t.test('unknown names never become labels', async (t) => {
  const world = await startThings(t, withMetrics)
  const { token, subscriptionId } = await world.subscribe(['things:pro'])
  const ask = async (name: string) => {
    await world.get(`/v1/${name}`, token)
    await world.get(`/v1/${name}/export?${name}=${name}`, token)
    await world.get(`/${name}`, token, { headers: { 'x-request-id': name } })
    await callTool(world, token, 'query', { resource: name })
    await callTool(world, token, 'describe_resource', { resource: name })
  }
  await ask('first')
  const before = await seriesOf(world)
  for (let index = 0; index < 20; index++) await ask(`guess${index}`)
  const after = await scrape(world)
  t.strictSame([...(await seriesOf(world)).keys()], [...before.keys()])
  for (const secret of ['guess', token.slice(9), subscriptionId]) t.notMatch(after, secret)
})

await t.test('a refused file, then a good one', async (t) => {
  const world = await startThings(t, withMetrics)
  const refused = 'das_dataset_refused{dataset="days"}'
  const reloads = (result: string) => `das_reloads_total{dataset="days",result="${result}"}`
  t.match(await seriesOf(world), new Map([[refused, 0]]))
  writeFileSync(join(world.folder, 'data', 'days.parquet'), 'no Parquet')
  await world.app.reload()
  const series = await seriesOf(world)
  t.equal(series.get(refused), 1)
  t.equal(series.get('das_dataset_available{dataset="days"}'), 1, 'the last good version')
  t.equal(series.get(reloads('refused')), 1)
  t.equal(series.get(reloads('served')), 1)
  t.equal(series.get('das_dataset_refused{dataset="things"}'), 0)
  writeFileSync(join(world.folder, 'registry.yaml'), 'datasets: 5')
  await world.app.reload()
  t.equal((await seriesOf(world)).get('das_registry_refused'), 1)
})

await t.test('a control.db that can not be read hides no other series', async (t) => {
  const world = await startThings(t, withMetrics)
  const before = await seriesOf(world)
  t.equal(before.get('das_letters_waiting'), 0)
  rmSync(join(world.folder, 'var', 'control.db'))
  await until(world, 'das_control_usable', (value) => value === 0)
  const after = await seriesOf(world)
  t.strictSame([...after.keys()], [...before.keys()])
  t.ok(Number.isNaN(after.get('das_letters_waiting')), 'not known')
  t.equal(after.get('das_dataset_available{dataset="things"}'), 1)
})

await t.test('the queue metric shows waiting queries, and their wait is counted', async (t) => {
  const world = await startSlow(t, 10, '1', withMetrics)
  const { token } = await world.subscribe(['slow:pro'])
  const asked = Promise.all(
    Array.from({ length: 4 }, () => world.post('/v1/slow/query', token, slowQuestion)),
  )
  await until(world, 'das_queue_length{lane="pages"}', (value) => value > 0)
  await asked
  const series = await seriesOf(world)
  t.equal(series.get('das_queue_length{lane="pages"}'), 0)
  t.ok((series.get('das_queue_wait_seconds_sum') ?? 0) > 0.1)
  const lines = world.log.filter((line) => line.includes('"msg":"request"'))
  const waits = lines.map((line) => (JSON.parse(line) as { queueMs: number }).queueMs)
  t.equal(waits.filter((wait) => wait > 100).length, 3, 'the log says it, too')
})

await t.test('tables of Trino have lanes of their own', async (t) => {
  const series = await seriesOf(await startThings(t, withMetrics))
  for (const lane of ['trino_pages', 'trino_summaries']) {
    t.equal(series.get(`das_queue_length{lane="${lane}"}`), 0)
    t.equal(series.get(`das_queries_running{lane="${lane}"}`), 0)
  }
})

await t.test('the disk shows what is stored, its limit and what is left', async (t) => {
  const world = await startThings(t, { ...withMetrics, diskLimit: '50MB' })
  const before = await seriesOf(world)
  t.equal(before.get('das_disk_limit_bytes'), 50_000_000)
  const used = before.get('das_disk_used_bytes') ?? NaN
  t.ok((before.get('das_disk_free_bytes') ?? 0) > 0)
  const source = join(world.folder, 'data', 'days.parquet')
  const { size } = statSync(source)
  rmSync(source)
  const after = (await seriesOf(world)).get('das_disk_used_bytes')
  t.equal(after, used + size, 'a link takes no space while its source is there')
  t.match(await scrape(await startThings(t, withMetrics)), /^das_disk_limit_bytes \+Inf$/m)
})

await t.test('the listener answers only this, and ends with the server', async (t) => {
  const world = await startThings(t, withMetrics)
  const url = metricsUrl(world)
  t.equal((await fetch(url.replace('/metrics', '/'))).status, 404)
  t.equal((await fetch(url, { method: 'POST' })).status, 405)
  t.match((await fetch(url)).headers.get('content-type'), /^text\/plain; version=0\.0\.4/)
  t.match(url, /^http:\/\/127\.0\.0\.1:/, 'loopback unless set')
  const taken = new URL(url).port
  await t.rejects(startThings(t, { metricsPort: taken }), {
    message: /^Can't listen on port \d+ of 127\.0\.0\.1 for metrics: .+--metrics-port/,
  })
  await world.app.close()
  await t.rejects(fetch(url))
})

await t.test('the page lists every metric; rules and dashboard use no other', async (t) => {
  const world = await startThings(t, withMetrics)
  const served = [...(await scrape(world)).matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  const page = readFileSync('docs/monitoring.md', 'utf8')
  const listed = [...page.matchAll(/^\| `(das_\w+)` +\| (\w+) /gm)]
  const pairs = (found: readonly RegExpMatchArray[]) =>
    found.map(([, name = '', type = '']) => `${name} ${type}`).sort()
  t.ok(served.length > 30)
  t.strictSame(pairs(listed), pairs(served))
  const names = new Set(served.map(([, name]) => name))
  for (const file of ['alerts.yml', 'grafana-dashboard.json']) {
    const text = readFileSync(join('docs', 'monitoring', file), 'utf8')
    const used = [...text.matchAll(/\bdas_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''))
    t.ok(used.length > 10, file)
    t.strictSame(
      used.filter((name) => !names.has(name)),
      [],
      file,
    )
  }
  const alerts = readFileSync('docs/monitoring/alerts.yml', 'utf8')
  const rules = [...alerts.matchAll(/alert: (\w+)/g)].map(([, name]) => name)
  t.strictSame(
    [...page.matchAll(/^\| `(Das\w+)` /gm)].map(([, name]) => name),
    rules,
    'every alert is explained, in the same order',
  )
})
