import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { asUser, openFolder } from '../../support/as-user.js'
import { callTool } from '../../support/mcp/mcp-messages.js'
import { startWorld, writeParquet } from '../../support/world.js'
import type { World } from '../../support/world.js'

const dayMs = 24 * 3_600_000

/** 40 rows a year; `generation` tells one refresh from the next. */
const yearOf = (year: number, generation: number) =>
  `SELECT 'c' || (i % 20) AS id, ${year} AS year, i AS n, ${generation} AS generation
   FROM range(40) t(i)`

const filesOf = (generation: number) => ({
  'data/2023.parquet': yearOf(2023, generation),
  'data/2024.parquet': yearOf(2024, generation),
})

const registryOf = (lines = '') => `
demo: {token: das_demo_open1, rate_per_minute: 10000}
datasets:
  things:
    title: Things
    files: data/*.parquet
    key: [id, year]
    history: year
${lines || '    demo: {id: [c1, c2]}'}
    plans:
      last: {rows_per_month: 100000, history: 1, price_rub: 0, rate_per_minute: 100000}
      pro: {rows_per_month: 100000, history: all, price_rub: 0, rate_per_minute: 100000}
`

const start = (t: Test, settings = {}) =>
  startWorld(t, { files: filesOf(0), registry: registryOf(), settings })

async function refresh(world: World, generation: number): Promise<void> {
  await writeParquet(world.folder, filesOf(generation))
  await world.app.reload()
}

async function rewrite(world: World, lines: string): Promise<void> {
  writeFileSync(join(world.folder, 'registry.yaml'), registryOf(lines))
  await world.app.reload()
}

/** Pages from the start to the end; `between` happens after each of them. */
async function walk(
  world: World,
  url: string,
  token: string,
  between: (page: number) => Promise<void>,
) {
  const rows: Readonly<Record<string, unknown>>[] = []
  const versions = new Set<unknown>()
  let cursor: string | null = ''
  for (let page = 1; cursor !== null; page++) {
    const answer = await world.get(`${url}${cursor && `&cursor=${cursor}`}`, token)
    if (answer.status !== 200) throw new Error(`page ${page}: ${answer.status} ${answer.text}`)
    rows.push(...answer.body.data)
    versions.add(answer.headers['x-dataset-version'])
    cursor = answer.body.next_cursor
    await between(page)
  }
  return { rows, versions }
}

// Guarantee: a walk sees one state of the data, whatever happens to the files meanwhile.
await t.test('a walk over five refreshes ends on the old version, row for row', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['things:pro'])
  const quiet = await walk(world, '/v1/things?limit=7', token, async () => {})
  const walked = await walk(world, '/v1/things?limit=7', token, async (page) => {
    if (page <= 5) await refresh(world, page)
  })
  t.same(walked.rows, quiet.rows)
  t.equal(walked.rows.length, 80)
  t.equal(walked.versions.size, 1)
  const after = await walk(world, '/v1/things?limit=50', token, async () => {})
  t.ok(after.rows.every((row) => row['generation'] === 5))
  t.notSame([...after.versions], [...walked.versions])
})

await t.test(
  'a walk with filters, a plan window and a demo subset stays on its version',
  async (t) => {
    const world = await start(t)
    const { token } = await world.subscribe(['things:last'])
    for (const [url, each, rows] of [
      ['/v1/things?id=in.c1,c2,c3&limit=2', token, 6],
      ['/v1/things?n=gte.5&limit=9', token, 35],
      ['/v1/things?limit=3', 'das_demo_open1', 8],
    ] as const) {
      const walked = await walk(world, url, each, async (page) => {
        if (page > 1) return
        await writeParquet(world.folder, { 'data/2025.parquet': yearOf(2025, 1) })
        await world.app.reload()
      })
      t.equal(walked.rows.length, rows, url)
      t.ok(walked.rows.every((row) => row['generation'] === 0))
      rmSync(join(world.folder, 'data/2025.parquet'))
      await world.app.reload(true)
    }
  },
)

await t.test('what the registry hides or narrows holds for walks under way, too', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['things:pro'])
  const demo = 'das_demo_open1'
  const begin = async (by: string) => {
    const { body } = await world.get('/v1/things?limit=2', by)
    return `/v1/things?limit=2&cursor=${body.next_cursor}`
  }
  const [next, demoNext] = [await begin(token), await begin(demo)]
  await rewrite(world, '    demo: {id: [c2]}\n    columns: {generation: {hidden: true}}')
  const page = await world.get(next, token)
  t.equal(page.status, 200)
  t.same(Object.keys(page.body.data[0] ?? {}), ['id', 'year', 'n'])
  t.equal((await world.get(`${next}&select=generation`, token)).status, 400)
  const narrowed = await world.get(demoNext, demo)
  t.ok(narrowed.body.data.every((row) => row['id'] === 'c2'))
  t.equal(narrowed.text.includes('generation'), false)
  await rewrite(world, '    columns: {n: {name: number}}')
  t.equal((await world.get(demoNext, demo)).status, 404, 'there is no demo any more')
  t.equal((await world.get(next, token)).status, 200, 'under the names that the walk began with')
})

await t.test('a plan that counts years in another column than before starts again', async (t) => {
  const files = { 'data/1.parquet': 'SELECT i AS a, i AS b FROM range(2000, 2020) t(i)' }
  const plans = 'plans: {last: {rows_per_month: 1000, history: 5, price_rub: 0}}'
  const entry = (lines: string) =>
    `datasets: {things: {title: x, files: data/*.parquet, ${lines}, ${plans}}}`
  const world = await startWorld(t, { files, registry: entry('history: a') })
  const { token } = await world.subscribe(['things:last'])
  const first = await world.get('/v1/things?limit=2', token)
  writeFileSync(join(world.folder, 'registry.yaml'), entry('history: b, columns: {a: {name: old}}'))
  await world.app.reload()
  const { status, body } = await world.get(
    `/v1/things?limit=2&cursor=${first.body.next_cursor}`,
    token,
  )
  t.equal(status, 400)
  t.match(body.detail, /start again without a cursor/)
})

await t.test(
  'an expired version is removed, and its cursors are refused with the reason',
  async (t) => {
    const world = await start(t)
    const { token } = await world.subscribe(['things:pro'], { months: 12 })
    const { body } = await world.get('/v1/things?limit=7', token)
    const next = `/v1/things?limit=7&cursor=${body.next_cursor}`
    await refresh(world, 1)
    t.equal((await world.get(next, token)).status, 200)
    world.clock.ms += dayMs
    // It stays until it is compared with the next one.
    while ((await world.get(next, token, { method: 'HEAD' })).status === 200) {
      world.clock.ms += 60_000
      await world.app.reload()
    }
    const gone = await world.get(next, token)
    t.equal(gone.status, 400)
    t.match(gone.body, { error: 'bad_request', detail: /^The cursor is not valid .* start again/ })
  },
)

await t.test('changed texts of the registry are served immediately, also to agents', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['things:pro'])
  const describe = () => callTool(world, token, 'describe_resource', { resource: 'things' })
  t.match((await describe()).content, { title: 'Things', description: null })
  await rewrite(world, '    description: said since\n    columns: {n: {unit: pieces}}')
  const { content } = await describe()
  t.match(content, { description: 'said since' })
  t.match(content['columns'], [{}, {}, { name: 'n', unit: 'pieces' }, {}])
})

await t.test('a small version is a copy: its files may be overwritten in place', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['things:pro'])
  const url = '/v1/things?year=eq.2024&limit=7'
  const before = await world.get(url, token)
  await writeParquet(world.folder, { 'other.parquet': yearOf(2024, 9) })
  const path = join(world.folder, 'data/2024.parquet')
  writeFileSync(path, readFileSync(join(world.folder, 'other.parquet')))
  t.equal((await world.get(url, token)).text, before.text)
  await world.app.reload()
  const after = await world.get(url, token)
  t.ok(after.body.data.every((row) => row['generation'] === 9))
  const walk = await world.get(`${url}&cursor=${before.body.next_cursor}`, token)
  t.ok(
    walk.body.data.every((row) => row['generation'] === 0),
    'the walk goes on in the old version',
  )
})

await t.test('a linked file that is overwritten in place is never served torn', async (t) => {
  // With a limit small files are linked too.
  const world = await start(t, { diskLimit: '1GB' })
  const { token } = await world.subscribe(['things:pro'])
  const url = '/v1/things?year=eq.2024&limit=50'
  const before = await world.get(url, token)
  t.ok(before.body.data.every((row) => row['generation'] === 0))
  await writeParquet(world.folder, { 'other.parquet': yearOf(2024, 9) })
  const path = join(world.folder, 'data/2024.parquet')
  writeFileSync(path, readFileSync(join(world.folder, 'other.parquet')))
  const torn = await world.get(url, token)
  t.match(torn, { status: 503, body: { error: 'service_unavailable' } })
  t.equal(torn.body.detail, 'This dataset is being replaced. Try again shortly.')
  t.equal(torn.headers['retry-after'], '1')
  t.equal((await world.get(url, token)).status, 503)
  await world.app.reload()
  const after = await world.get(url, token)
  t.equal(after.status, 200)
  t.ok(after.body.data.every((row) => row['generation'] === 9))
  const walk = await world.get(`/v1/things?limit=7&cursor=${before.body.next_cursor}`, token)
  t.not(walk.status, 200)
  t.match(world.log.join(''), /data\/2024\.parquet was overwritten in place/)
})

await t.test('readiness, the log and control.db say what is refused', async (t) => {
  const world = await start(t)
  writeFileSync(join(world.folder, 'data/2025.parquet'), 'PAR1 half')
  await world.app.reload()
  t.match(await world.get('/readyz'), { status: 200, body: { status: 'ready', reload: 'refused' } })
  t.match(world.log.join(''), /refused, the last good version is served/)

  rmSync(join(world.folder, 'data/2025.parquet'))
  await world.app.reload()
  t.match(await world.get('/readyz'), { status: 200, body: { status: 'ready', reload: 'ok' } })
  const ends = () => world.log.filter((line) => line.includes('served again: no longer refused'))
  t.match(ends(), [/"level":30,.*"dataset":"things"/])

  writeFileSync(join(world.folder, 'registry.yaml'), 'datasets: 5')
  await world.app.reload()
  t.match(world.log.join(''), /registry refused, the last good one is served/)
  await rewrite(world, '')
  await world.app.reload()
  t.match(ends().slice(1), [/"level":30,.*"registry served again/], 'each end once')
})

await t.test('a reload reads files that have become readable', async (t) => {
  const at = openFolder(t)
  const world = await startWorld(t, { at, files: filesOf(0), registry: registryOf() })
  const reload = async (result: string) => {
    await world.app.reload()
    t.match((await world.get('/readyz')).body, { reload: result })
  }
  for (const name of ['data/2025.parquet', 'registry.yaml']) {
    const path = join(world.folder, name)
    if (name === 'registry.yaml') writeFileSync(path, registryOf())
    else await writeParquet(world.folder, { [name]: yearOf(2025, 0) })
    chmodSync(path, 0)
    await asUser(at, () => reload('refused'))
    chmodSync(path, 0o644)
    await reload('ok')
  }
})

await t.test('a restart does not accept silently what a running server refuses', async (t) => {
  const folder = t.testdir({})
  const registry = registryOf()
  const isRefused = async (world: World) =>
    t.match((await world.get('/readyz')).body, { status: 'ready', reload: 'refused' })
  const reason =
    /registry\.yaml:10:5: plan \\"pro\\" of dataset \\"things\\" was removed, but 1 live/
  const refusals = ({ log }: World) => log.filter((line) => line.includes('registry refused'))
  const removed = registry.replace(/ {6}pro: .*\n/, '')
  await t.test('of the running one', async (t) => {
    const world = await startWorld(t, { at: folder, files: filesOf(0), registry })
    await world.subscribe(['things:pro'])
    writeFileSync(join(folder, 'registry.yaml'), removed)
    await world.app.reload()
    await isRefused(world)
    t.match(refusals(world), [reason])
  })
  const world = await startWorld(t, { at: folder, files: {}, registry: removed })
  await isRefused(world)
  t.match(refusals(world), [reason])
  t.match(refusals(world), [/"level":50,.*registry refused, but served: a start knows no other/])
  await world.app.reload(true)
  t.match((await world.get('/readyz')).body, { reload: 'ok' })
})
