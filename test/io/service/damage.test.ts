import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { age, rot, rotGrossly } from '../../support/damage.js'
import { startWorld, writeParquet } from '../../support/world.js'
import type { Answer, World } from '../../support/world.js'

// Guarantee: an answer holds what was published, or it is an error. What is damaged is found before
// it is read, withdrawn, and served again by itself once it is sound.

const registry = `
datasets:
  things:
    title: Things
    files: data/*.parquet
    key: id
    plans: {pro: {rows_per_month: 10000000, history: all, price_rub: 0, rate_per_minute: 100000}}
`
const select = (from: number) =>
  `SELECT i AS id, md5(i::VARCHAR) AS text, i * 7 AS n FROM range(${from}, ${from + 500}) r(i)`
const files = { 'data/1.parquet': select(0), 'data/2.parquet': select(500) }
const url = '/v1/things?limit=1000'

interface Place {
  readonly folder: string
  readonly source: string
}

/** Sources and state in one file system, where files are linked. */
async function linked(t: Test): Promise<Place> {
  const folder = t.testdir({})
  await writeParquet(folder, files)
  return place(folder, folder)
}

/** Sources in another file system than the state, where files are copied. */
async function copied(t: Test): Promise<Place> {
  const sources = t.testdir({})
  const folder = mkdtempSync(join('/dev/shm', 'das-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  await writeParquet(sources, files)
  symlinkSync(join(sources, 'data'), join(folder, 'data'))
  return place(folder, sources)
}

function place(folder: string, sources: string): Place {
  const source = join(sources, 'data/2.parquet')
  age(source)
  mkdirSync(join(folder, 'kept'))
  copyFileSync(source, join(folder, 'kept/2.parquet'))
  return { folder, source }
}

/** With a limit small files are linked too, so that what befalls a dropped one befalls the served. */
const withLimit = { diskLimit: '1GB' }
const start = (t: Test, { folder }: Place, settings = {}) =>
  startWorld(t, { at: folder, files: {}, registry, settings: { ...withLimit, ...settings } })

const ask = (world: World, token: string): Promise<Answer> => world.get(url, token)

/** The file that is served, not the one at its source. */
function storedFile(world: World): string {
  const path = world.app.catalog().datasets.get('things')?.version?.files[1]?.path
  if (path === undefined) throw new Error('nothing is served')
  return path
}

const listed = (world: World) => world.app.catalog().datasets.get('things')

await t.test('one flipped bit in a linked file: no answer after a restart', async (t) => {
  for (const share of [0.02, 0.3, 0.6, 0.9]) {
    const at = await linked(t)
    const before = await start(t, at)
    const { token } = await before.subscribe(['things:pro'])
    const good = await ask(before, token)
    t.equal(good.body.data.length, 1000)
    await before.app.close()
    rot(at.source, share)
    const world = await start(t, at)
    t.equal((await ask(world, token)).status, 503, `a bit at ${share}`)
    await world.app.reload()
    t.equal((await ask(world, token)).status, 503, 'the source is damaged as well')
    t.match(listed(world), { version: null, reason: /^data\/2\.parquet is damaged: .* --force$/ })
    t.match(world.log.join(''), /"file":"data\/2\.parquet","found":"damaged"/)
    t.notMatch(world.log.join(''), new RegExp(at.folder))
    t.equal((await world.get('/readyz')).status, 503)
    copyFileSync(join(at.folder, 'kept/2.parquet'), `${at.source}.new`)
    rmSync(at.source)
    copyFileSync(`${at.source}.new`, at.source)
    rmSync(`${at.source}.new`)
    await world.app.reload()
    const healed = await ask(world, token)
    t.same(healed.body.data, good.body.data, 'an intact file is served again, without a restart')
    t.equal(healed.headers['etag'], good.headers['etag'])
    t.match(await world.get('/readyz'), { status: 200, body: { data: 'ok' } })
  }
})

await t.test('a damaged file may be put right in place, with its old time', async (t) => {
  const at = await linked(t)
  const before = await start(t, at)
  const { token } = await before.subscribe(['things:pro'])
  const good = await ask(before, token)
  await before.app.close()
  rot(at.source, 0.4)
  const world = await start(t, at)
  t.equal((await ask(world, token)).status, 503)
  await world.app.reload()
  rot(at.source, 0.4)
  await world.app.reload()
  t.same((await ask(world, token)).body.data, good.body.data)
})

await t.test('a damaged file is accepted as new content only by the owner', async (t) => {
  for (const how of ['touch', 'force'] as const) {
    const at = await linked(t)
    const world = await start(t, at)
    const { token } = await world.subscribe(['things:pro'])
    const good = await ask(world, token)
    await writeParquet(at.folder, { 'kept/other.parquet': select(7000) })
    const other = readFileSync(join(at.folder, 'kept/other.parquet'))
    const same = readFileSync(at.source)
    const size = Math.min(other.length, same.length)
    t.ok(size > 0)
    rot(at.source, 0.4)
    t.equal((await ask(world, token)).status, 503, 'the change is seen by its time (ctime)')
    await world.app.reload()
    t.equal(listed(world)?.version, null)
    if (how === 'touch') utimesSync(at.source, 1_700_000_001, 1_700_000_001)
    await world.app.reload(how === 'force')
    t.equal(listed(world)?.reason, null, how)
    t.not(listed(world)?.version?.id, good.headers['x-dataset-version'])
    await world.app.close()
    const next = await start(t, at)
    await ask(next, token)
    t.equal(listed(next)?.reason, null, 'and stays so after a restart')
  }
})

await t.test('a damaged copy is made again from the intact source', async (t) => {
  for (const share of [0.02, 0.5, 0.95]) {
    const at = await copied(t)
    const before = await start(t, at)
    const { token } = await before.subscribe(['things:pro'])
    const good = await ask(before, token)
    const stored = storedFile(before)
    await before.app.close()
    rot(stored, share)
    const world = await start(t, at)
    const first = await ask(world, token)
    t.equal(first.status, 503)
    await world.app.reload()
    const healed = await ask(world, token)
    t.same(healed.body.data, good.body.data)
    t.equal(healed.headers['etag'], good.headers['etag'])
    t.match(listed(world), { reason: null })
    t.not(storedFile(world), stored, 'the engine may remember what stood there')
  }
})

await t.test('gross damage under a running server falls back and heals', async (t) => {
  const at = await copied(t)
  const world = await start(t, at)
  const { token } = await world.subscribe(['things:pro'])
  const good = await ask(world, token)
  await world.app.close()
  rotGrossly(storedFile(world))
  const again = await start(t, at)
  for (let tries = 0; tries < 3; tries++) {
    const answer = await ask(again, token)
    if (answer.status === 200) t.same(answer.body.data, good.body.data)
  }
  await again.app.reload()
  t.same((await ask(again, token)).body.data, good.body.data)
})

await t.test('the scrub finds rot in what was verified before', async (t) => {
  const at = await copied(t)
  const world = await start(t, at, { scrubDays: '0.000005' })
  const { token } = await world.subscribe(['things:pro'])
  const good = await ask(world, token)
  const stored = storedFile(world)
  rot(stored, 0.5)
  await world.app.prepare()
  const isHealed = () => {
    const version = listed(world)?.version
    return version && !version.files.some(({ path }) => path === stored)
  }
  for (let waits = 0; waits < 6000 && !isHealed(); waits++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.ok(isHealed(), 'without a restart or a refresh')
  t.match(world.log.join(''), /"found":"damaged"/)
  t.same((await ask(world, token)).body.data, good.body.data)
})

await t.test('a file that is touched is served without a gap', async (t) => {
  const at = await linked(t)
  const world = await start(t, at)
  const { token } = await world.subscribe(['things:pro'])
  const good = await ask(world, token)
  for (let times = 1; times <= 5; times++) {
    utimesSync(at.source, 1_700_000_000 + times, 1_700_000_000 + times)
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(world, token)))
    await Promise.all([world.app.reload(), ...Array.from({ length: 10 }, () => ask(world, token))])
    for (const { status, body } of answers) {
      t.equal(status, 200)
      t.same(body.data, good.body.data)
    }
    t.equal((await ask(world, token)).headers['etag'], good.headers['etag'])
  }
  t.equal(world.log.filter((line) => line.includes('withdrawn')).length, 0)
})

await t.test('an overwrite that restores size and time is never served', async (t) => {
  const at = await linked(t)
  const world = await start(t, at)
  const { token } = await world.subscribe(['things:pro'])
  t.equal((await ask(world, token)).status, 200)
  const bytes = readFileSync(at.source)
  bytes.fill(0x55, 100, 900)
  writeFileSync(at.source, bytes, { flag: 'r+' })
  age(at.source)
  t.equal((await ask(world, token)).status, 503)
  await world.app.reload()
  t.match(listed(world), { version: null, reason: /damaged/ })
})

await t.test('a superseded version that rots ends its walks, and no other', async (t) => {
  const at = await linked(t)
  const world = await start(t, at)
  const { token } = await world.subscribe(['things:pro'])
  const page = await world.get('/v1/things?limit=600', token)
  const stored = storedFile(world)
  await writeParquet(at.folder, { 'data/2.parquet': select(5000) })
  await world.app.reload()
  const next = `/v1/things?limit=600&cursor=${page.body.next_cursor}`
  t.equal((await world.get(next, token)).status, 200)
  rot(stored, 0.5)
  t.equal((await world.get(next, token)).status, 503)
  t.equal((await world.get(next, token)).status, 400, 'the cursor says: start again')
  t.match(listed(world), { reason: null, earlier: [] })
  t.equal((await ask(world, token)).body.data.at(-1)?.['id'], 5499)
})
