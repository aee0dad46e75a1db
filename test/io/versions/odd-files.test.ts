import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { datasetOf, makeCatalogFolder } from '../../catalog/live/fixtures/catalog-folder.js'
import { brokenFiles, servedFiles, strangeFiles, unaskableFiles } from '../../support/odd-files.js'
import { startWorld, writeParquet } from '../../support/world.js'

// Guarantee: a file is served as it is, or refused in words for people that hold no absolute path;
// whatever it is, other datasets are served.

const plans = 'plans: {all: {rows_per_month: 1000000, history: all, price_rub: 0}}'

function registryOf(names: readonly string[]): string {
  const entries = names.map(
    (name) => `  ${name}:
    title: Odd
    files: ${JSON.stringify(`data/${name}.parquet`)}
    require_filter: false
    ${plans}`,
  )
  return `datasets:\n${entries.join('\n')}\n`
}

await t.test('one server serves all kinds of valid unusual files', async (t) => {
  const folder = t.testdir({})
  const names = Object.keys(servedFiles)
  for (const [name, [select, writing]] of Object.entries(servedFiles)) {
    await writeParquet(join(folder, 'data'), { [`${name}.parquet`]: select }, writing)
  }
  const world = await startWorld(t, { files: {}, registry: registryOf(names), at: folder })
  const { token } = await world.subscribe(names.map((name) => `${name}:all`))
  for (const [name, [, , row]] of Object.entries(servedFiles)) {
    const { status, text } = await world.get(`/v1/${name}?limit=1`, token)
    t.equal(status, 200, `${name}: ${text}`)
    if (row) t.ok(text.startsWith(`{"data":[${row}]`), `${name}: ${text}`)
  }
  t.same((await world.get('/v1/no_rows', token)).body, { data: [], next_cursor: null })
  const { body } = await world.get('/v1/columns_400?select=399,0', token)
  t.same(
    body.data,
    [0, 1, 2].map((i) => ({ 0: i, 399: i + 399 })),
  )
  const last = await world.get('/v1/row_groups?id=gte.59998', token)
  t.same(last.body.data, [{ id: 59998 }, { id: 59999 }])
})

await t.test('a file that is not Parquet is refused, and other datasets are served', async (t) => {
  const folder = t.testdir({})
  const data = join(folder, 'data')
  const select = `SELECT i AS id, 'name ' || i AS name FROM range(1000) t(i)`
  await writeParquet(data, { 'good.parquet': select })
  const whole = readFileSync(join(data, 'good.parquet'))
  const reasons = new Map<string, RegExp>()
  for (const [name, [change, reason]] of Object.entries(brokenFiles)) {
    writeFileSync(join(data, `${name}.parquet`), change(whole))
    reasons.set(name, reason)
  }
  for (const [name, [put, reason]] of Object.entries(strangeFiles)) {
    put(join(data, `${name}.parquet`))
    reasons.set(name, reason)
  }
  for (const [name, [columns, reason]] of Object.entries(unaskableFiles)) {
    await writeParquet(data, { [`${name}.parquet`]: columns })
    reasons.set(name, reason)
  }
  const names = ['good', ...reasons.keys()]
  const world = await startWorld(t, { files: {}, registry: registryOf(names), at: folder })
  const { token } = await world.subscribe(names.map((name) => `${name}:all`))
  const fixture = await makeCatalogFolder(t, { folder, registry: registryOf(names) })
  const catalog = await fixture.check()
  for (const [name, reason] of reasons) {
    const dataset = datasetOf(catalog, name)
    t.match(dataset.reason, reason, name)
    t.notMatch(dataset.reason, folder)
    t.equal((await world.get(`/v1/${name}`, token)).status, 503, name)
    t.equal((await world.get('/v1/good?id=eq.7', token)).status, 200)
  }
})

await t.test('a file without read permission is refused, unless the process is root', async (t) => {
  const fixture = await makeCatalogFolder(t, {
    files: { 'data/a.parquet': 'SELECT 1 AS x' },
  })
  chmodSync(join(fixture.folder, 'data', 'a.parquet'), 0)
  const { reason } = datasetOf(await fixture.open())
  if (process.getuid?.() === 0) t.equal(reason, null)
  else t.equal(reason, "data/a.parquet can't be read (EACCES)")
})

await t.test('a pattern skips everything but regular files', async (t) => {
  const fixture = await makeCatalogFolder(t, { files: { 'data/a.parquet': 'SELECT 1 AS x' } })
  const data = join(fixture.folder, 'data')
  mkdirSync(join(data, 'b.parquet'))
  execFileSync('mkfifo', [join(data, 'c.parquet')])
  symlinkSync(join(data, 'gone'), join(data, 'd.parquet'))
  t.equal(datasetOf(await fixture.open()).version?.files.length, 1)
  symlinkSync(join(data, 'c.parquet'), join(data, 'e.parquet'))
  t.match(datasetOf(await fixture.open()).reason, /^data\/e\.parquet is not a regular file/)
})

await t.test('damaged pages are never served as rows', async (t) => {
  const folder = t.testdir({})
  const data = join(folder, 'data')
  const select = `SELECT i AS id, md5(i::VARCHAR) AS name FROM range(60000) t(i)`
  await writeParquet(data, { 'good.parquet': select, 'torn.parquet': select })
  const registry = registryOf(['good', 'torn'])
  const path = join(data, 'torn.parquet')
  const bytes = readFileSync(path)
  const [from, to] = [Math.floor(bytes.length * 0.5), Math.floor(bytes.length * 0.52)]
  writeFileSync(path, bytes.fill(0xa5, from, to))
  const world = await startWorld(t, { files: {}, registry, at: folder })
  const { token } = await world.subscribe(['good:all', 'torn:all'])
  const statuses = new Set<number>()
  for (let id = 0; id < 60_000; id += 2000) {
    const query = `id=gte.${id}&limit=1000`
    const torn = await world.get(`/v1/torn?${query}`, token)
    const good = await world.get(`/v1/good?${query}`, token)
    statuses.add(torn.status)
    t.equal(good.status, 200)
    if (torn.status === 200) t.same(torn.body.data, good.body.data)
    else t.notMatch(torn.text, folder)
  }
  t.ok(statuses.has(503), 'the damage was met')
  t.same(
    [...statuses].filter((status) => ![200, 503].includes(status)),
    [],
  )
  t.equal(readdirSync(data).length, 2)
})
