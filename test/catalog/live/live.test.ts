import { chmodSync, existsSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { LiveCatalog } from '../../../src/catalog/live/live-catalog.js'
import { hashFile } from '../../../src/versions/hash-file.js'
import { FileError } from '../../../src/versions/opener.js'
import { FileChecks } from '../../../src/versions/store/file-checks.js'
import type { Version } from '../../../src/versions/version.js'
import { asUser, openFolder } from '../../support/as-user.js'
import { datasetOf, makeCatalogFolder, versionOf } from './fixtures/catalog-folder.js'
import type { CatalogFolder } from './fixtures/catalog-folder.js'
import { machineClock } from '../../../src/clock.js'

const dayMs = 24 * 3_600_000
const files = { 'data/1.parquet': 'SELECT 1 AS x, 2 AS y' }
const others = (x: number) => ({ 'data/1.parquet': `SELECT ${x} AS x, 2 AS y` })

/** Looks until nothing is being written any more, as the watcher does. */
async function settle(live: LiveCatalog, force = false): Promise<void> {
  while ((await live.update(force)) === 'unsettled');
}

const now = (live: LiveCatalog, name?: string) => datasetOf(live.serving.catalog, name)
const folderOf = (live: LiveCatalog) =>
  dirname(versionOf(live.serving.catalog).files[0]?.path ?? '')
function fileOf({ files: [file] }: Version) {
  if (!file) throw new Error('a version without files')
  return file
}
const foldersIn = (fixture: CatalogFolder) =>
  readdirSync(join(fixture.versionsFolder, 'things')).sort()

await t.test('a file that is replaced is a new version; the old one is kept', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const live = await fixture.live()
  const first = versionOf(live.serving.catalog)
  t.equal(await live.update(), 'unchanged')
  await fixture.writeFiles(others(5))
  t.equal(await live.update(), 'unsettled', 'it may still be written to')
  t.equal(now(live).version?.id, first.id)
  t.equal(await live.update(), 'changed')
  const second = versionOf(live.serving.catalog)
  t.not(second.id, first.id)
  t.same(
    now(live).earlier.map(({ version }) => version.id),
    [first.id],
  )
  await fixture.writeFiles(files)
  await settle(live)
  t.equal(now(live).version?.id, first.id, 'the first content again is the first version again')
  t.same(
    now(live).earlier.map(({ version }) => version.id),
    [second.id],
  )
})

await t.test(
  'files that can not be served are refused, and the last good version stays',
  async (t) => {
    const fixture = await makeCatalogFolder(t, { files })
    const live = await fixture.live()
    const { id } = versionOf(live.serving.catalog)
    const refusedFor = async (t: Test, reason: RegExp) => {
      await settle(live)
      t.equal(now(live).version?.id, id)
      t.match(now(live).reason, reason)
    }
    fixture.write('data/1.parquet.part', 'PAR1 half')
    renameSync(join(fixture.folder, 'data/1.parquet.part'), join(fixture.folder, 'data/1.parquet'))
    await refusedFor(t, /^data\/1\.parquet is not a whole Parquet file/)
    fixture.writeRegistry('    description: said since')
    await refusedFor(t, /not a whole/)
    t.equal(now(live).description, 'said since', 'the registry is followed all the same')
    rmSync(join(fixture.folder, 'data/1.parquet'))
    await refusedFor(t, /^data\/\*\.parquet matches no file/)
    await fixture.writeFiles(files)
    fixture.writeRegistry('    key: nothing')
    await refusedFor(t, /there is no column "nothing"/)
    fixture.writeRegistry('')
    await settle(live)
    t.match(now(live), { reason: null, version: { id } })
    t.same(now(live).earlier, [])
  },
)

await t.test('a change that breaks programs is refused until the registry allows it', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const live = await fixture.live()
  const { id } = versionOf(live.serving.catalog)
  const take = async (select: string) => {
    await fixture.writeFiles({ 'data/1.parquet': select })
    await settle(live)
    return now(live).reason
  }
  t.match(
    await take("SELECT 'text' AS x"),
    /column "y" is gone; column "x" was INTEGER and is VARCHAR; .* allow_breaking: true in the registry/,
  )
  t.equal(now(live).version?.id, id)
  t.match(await take('SELECT 1 AS x, 2::UBIGINT AS y'), /"y" was INTEGER and is UBIGINT/)
  t.equal(await take('SELECT 1 AS x, 2::BIGINT AS y, 3 AS z'), null, 'wider, and one column more')
  t.equal(
    await take('SELECT 1 AS x, 0.5::DOUBLE AS y, 3 AS z'),
    null,
    'whole numbers get fractions',
  )
  t.match(await take('SELECT 1 AS x, 2 AS y, 3 AS z'), /"y" was DOUBLE and is INTEGER/)
  fixture.writeRegistry('    allow_breaking: true')
  t.equal(await take('SELECT 1 AS z'), null)
  t.same(
    now(live).version?.columns.map(({ name }) => name),
    ['z'],
  )
  fixture.writeRegistry('    columns: {z: {name: zed}}')
  await settle(live)
  t.equal(now(live).reason, null, 'the owner may rename what the files still hold')
})

await t.test('a registry that can not be read changes nothing', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const live = await fixture.live()
  fixture.writeRegistry('datasets: {things: {title: 5}}')
  await settle(live)
  t.match(live.serving.registryReason, /^registry\.yaml:1:[^]*title: must be a text/)
  t.match(now(live), { title: 'Things', reason: null })
  rmSync(join(fixture.folder, 'registry.yaml'))
  await settle(live)
  t.match(live.serving.registryReason, /^registry\.yaml is not there/)
  await fixture.writeFiles(others(7))
  await settle(live)
  t.equal(now(live).earlier.length, 1, 'files are followed under the last good one')
  fixture.writeRegistry('')
  await settle(live)
  t.equal(live.serving.registryReason, null)
})

await t.test('a registry or a file that could not be read is read again', async (t) => {
  const folder = openFolder(t)
  const fixture = await makeCatalogFolder(t, { folder, files })
  const live = await fixture.live()
  const registryPath = join(folder, 'registry.yaml')
  fixture.writeRegistry('    description: said since')
  chmodSync(registryPath, 0)
  await asUser(folder, () => settle(live))
  t.equal(live.serving.registryReason, "registry.yaml can't be read (EACCES).")
  const { serving } = live
  t.equal(await asUser(folder, () => live.update()), 'unchanged', 'the same reason is no change')
  t.equal(live.serving, serving)
  chmodSync(registryPath, 0o644)
  await asUser(folder, () => settle(live))
  t.equal(live.serving.registryReason, null)
  t.equal(now(live).description, 'said since')

  const path = join(folder, 'data/2.parquet')
  await fixture.writeFiles({ 'data/2.parquet': 'SELECT 3 AS x, 4 AS y' })
  chmodSync(path, 0)
  await asUser(folder, () => settle(live))
  t.match(now(live), { reason: "data/2.parquet can't be read (EACCES)", version: { rows: 1 } })
  chmodSync(path, 0o644)
  t.equal(await live.update(), 'unchanged', 'tried again after a minute')
  await live.readAgain()
  await settle(live)
  t.match(now(live), { reason: null, version: { rows: 2 } }, 'at once when the owner reloads')
})

await t.test('a registry without a sold plan is refused, unless forced', async (t) => {
  const plans = '    plans: {free: {rows_per_month: 1, history: all, price_rub: 0}}'
  const fixture = await makeCatalogFolder(t, { files, registry: plans })
  const sold = [
    { dataset: 'things', plan: 'free' },
    { dataset: 'things', plan: 'free' },
    { dataset: 'long gone', plan: 'free' },
  ]
  const live = await fixture.live({ sold: async () => sold })
  const refused = async () => {
    await settle(live)
    return live.serving.registryReason
  }
  t.match(live.serving.registryReason, /^registry\.yaml:1:1: dataset "long gone" was removed/)
  await settle(live, true)
  t.equal(live.serving.registryReason, null, 'the owner knows')
  fixture.writeRegistry('    plans: {other: {rows_per_month: 1, history: all, price_rub: 0}}')
  t.match(
    await refused(),
    /^registry\.yaml:5:5: plan "free" of dataset "things" was removed, but 2 live .* reload --force$/,
  )
  t.ok(now(live).plans.has('free'))
  fixture.writeRegistry('datasets: {}')
  t.match(await refused(), /^registry\.yaml:1:1: dataset "things" was removed/)
  t.ok(now(live).version)
  await settle(live, true)
  t.equal(live.serving.registryReason, null)
  t.notOk(live.serving.catalog.datasets.has('things'))
})

await t.test('a start serves a registry without sold plans, but calls it refused', async (t) => {
  const plan = '{rows_per_month: 1, history: all, price_rub: 0}'
  const entry = (name: string, plans: string) =>
    `  ${name}: {title: ${name}, files: data/1.parquet, plans: {${plans}}}\n`
  const things = entry('things', `free: ${plan}`)
  const more = entry('more', `free: ${plan}, pro: ${plan}`)
  const both = `datasets:\n${things}${more}`
  const fixture = await makeCatalogFolder(t, { files, registry: both })
  const sold = async () => [
    { dataset: 'things', plan: 'free' },
    { dataset: 'more', plan: 'pro' },
  ]
  const stored = () => readdirSync(fixture.versionsFolder).sort()
  const first = await fixture.live({ sold })
  t.equal(first.serving.registryReason, null)
  const { id } = versionOf(first.serving.catalog, 'more')

  fixture.writeRegistry(`datasets:\n${things}`)
  const live = await fixture.live({ sold })
  const reason = /^registry\.yaml:1:1: dataset "more" was removed, but 1 live .* reload --force$/
  t.match(live.serving.registryReason, reason)
  t.equal(now(live).version?.rows, 1, 'the others are served')
  t.same(stored(), ['more', 'things'], 'its versions are kept')
  fixture.writeRegistry(`datasets:\n${things}${entry('more', `free: ${plan}`)}`)
  await settle(live)
  t.match(live.serving.registryReason, /^registry\.yaml:3:\d+: plan "pro" of dataset "more" was/)
  t.notOk(live.serving.catalog.datasets.has('more'))
  fixture.writeRegistry(both)
  await settle(live)
  t.equal(live.serving.registryReason, null)
  t.equal(now(live, 'more').version?.id, id)
  t.match(now(live, 'more').reason, null)

  fixture.writeRegistry(`datasets:\n${things}`)
  const forced = await fixture.live({ sold })
  t.match(forced.serving.registryReason, reason)
  await settle(forced, true)
  t.equal(forced.serving.registryReason, null)
  t.same(stored(), ['things'])
})

await t.test('a dataset can be added, removed and added again', async (t) => {
  const clock = { ms: 0 }
  const fixture = await makeCatalogFolder(t, { files })
  const live = await fixture.live({ clock: { ...machineClock, now: () => clock.ms } })
  const entry = (name: string) => `  ${name}: {title: ${name}, files: data/1.parquet}\n`
  fixture.writeRegistry(`datasets:\n${entry('things')}${entry('more')}`)
  await settle(live)
  t.ok(now(live, 'more').version)
  const path = now(live, 'more').version?.files[0]?.path ?? ''
  fixture.writeRegistry(`datasets:\n${entry('things')}`)
  await settle(live)
  await live.expire()
  t.notOk(live.serving.catalog.datasets.has('more'))
  t.ok(existsSync(path), 'requests that began before may still read it')
  fixture.writeRegistry(`datasets:\n${entry('things')}${entry('more')}`)
  await settle(live)
  t.equal(now(live, 'more').version?.files[0]?.path, path)
  fixture.writeRegistry(`datasets:\n${entry('things')}`)
  await settle(live)
  await live.expire()
  clock.ms += 11 * 60_000
  await live.expire()
  t.notOk(existsSync(path))
})

await t.test('a superseded version is removed after its time', async (t) => {
  const clock = { ms: dayMs }
  const fixture = await makeCatalogFolder(t, { files })
  const live = await fixture.live({ clock: { ...machineClock, now: () => clock.ms } })
  const first = basename(folderOf(live))
  await fixture.writeFiles(others(5))
  await settle(live)
  const second = basename(folderOf(live))
  clock.ms += dayMs - 1
  await live.expire()
  t.equal(now(live).earlier.length, 1)
  clock.ms += 1
  await live.expire()
  t.equal(now(live).earlier.length, 0)
  t.same(foldersIn(fixture), [first, second].sort(), 'a request may still be reading it')
  clock.ms += 11 * 60_000
  await live.expire()
  t.same(foldersIn(fixture), [second])
  fixture.writeRegistry('    keep_versions_hours: 1')
  await fixture.writeFiles(others(6))
  await settle(live)
  clock.ms += 3_600_000
  await live.expire()
  t.equal(now(live).earlier.length, 0, 'as long as the registry says')
})

await t.test('after a restart everything is as before, and no file is read again', async (t) => {
  const clock = { ms: dayMs }
  const fixture = await makeCatalogFolder(t, { files })
  const before = await fixture.live({ clock: { ...machineClock, now: () => clock.ms } })
  const first = versionOf(before.serving.catalog).id
  await fixture.writeFiles(others(5))
  await settle(before)
  const second = versionOf(before.serving.catalog).id
  clock.ms += 1000
  fixture.write('data/2.parquet', 'PAR1 half')
  let opened = 0
  const live = await fixture.live({
    clock: { ...machineClock, now: () => clock.ms },
    openFiles: () => Promise.reject(new Error(`opened ${++opened} times`)),
  })
  t.match(now(live).reason, /^data\/2\.parquet is not a whole Parquet file/)
  t.equal(now(live).version?.id, second, 'the last good one, though the newest files are bad')
  t.same(
    now(live).earlier.map(({ version }) => version.id),
    [first],
  )
  rmSync(join(fixture.folder, 'data/2.parquet'))
  await settle(live)
  t.match(now(live), { reason: null, version: { id: second } })
  t.equal(opened, 0)
  clock.ms += dayMs
  await live.expire()
  t.same(now(live).earlier, [], 'its time began when it was superseded')
})

await t.test(
  'what an earlier build published is served, and its files are opened anew',
  async (t) => {
    const fixture = await makeCatalogFolder(t, { files })
    const before = await fixture.live()
    const { id } = versionOf(before.serving.catalog)
    const path = join(folderOf(before), 'manifest.json')
    const [, text = ''] = readFileSync(path, 'utf8').split('\n')
    const body = text.replace(/"look":\d+,/, '')
    t.not(body, text)
    writeFileSync(path, `1 ${createHash('sha256').update(body).digest('hex')}\n${body}`)
    const stricter = await fixture.live({
      openFiles: ([first = '']) => Promise.reject(new FileError(first, 'has odd dates')),
    })
    t.match(now(stricter), { reason: 'data/1.parquet has odd dates', version: { id } })
    const live = await fixture.live()
    t.match(now(live), { reason: null, version: { id } })
    const never = () => Promise.reject(new Error('opened again'))
    t.match(now(await fixture.live({ openFiles: never })), { reason: null, version: { id } })
  },
)

await t.test('a damaged or foreign versions folder is not used', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const first = await fixture.live()
  const { id } = versionOf(first.serving.catalog)
  const folder = folderOf(first)
  const source = join(fixture.folder, 'data/1.parquet')
  for (const damage of [
    () => writeFileSync(join(folder, 'manifest.json'), '1 sum\n{}'),
    () => rmSync(join(folder, '000000.parquet')),
    () => writeFileSync(join(folder, '000000.parquet'), 'PAR1 overwritten by a link'),
  ]) {
    damage()
    await fixture.writeFiles(files)
    const live = await fixture.live()
    t.match(now(live), { reason: null, version: { id } }, String(damage))
    t.same(foldersIn(fixture), [basename(folder)])
  }
  rmSync(source)
  const live = await fixture.live()
  t.match(now(live), { version: { id } }, 'a source that is gone takes nothing with it')
})

await t.test('a file that was overwritten in place is served with its new content', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  await fixture.writeFiles({ 'other.parquet': 'SELECT 8 AS x, 9 AS y' })
  const checks = new FileChecks(hashFile, machineClock)
  const live = await fixture.live({ checks })
  const first = versionOf(live.serving.catalog)
  writeFileSync(
    join(fixture.folder, 'data/1.parquet'),
    readFileSync(join(fixture.folder, 'other.parquet')),
  )
  await settle(live)
  const second = versionOf(live.serving.catalog)
  t.not(second.id, first.id)
  await checks.verify(fileOf(first))
  t.same(now(live).earlier, [], 'no walk continues on a torn version')
  t.equal(now(live).version?.id, second.id)
})

await t.test('files that crash the engine are served again only after they change', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const live = await fixture.live()
  const first = versionOf(live.serving.catalog)
  live.withdraw(first, 'reading it broke the query engine 3 times')
  t.match(now(live), { version: null, reason: /broke the query engine/ })
  await settle(live)
  t.match(now(live), {
    version: null,
    reason: 'these files crash the query engine; replace them',
  })
  await fixture.writeFiles(others(5))
  await settle(live)
  t.match(now(live), { reason: null, version: { rows: 1 } })
})

await t.test('of many files, only a new one is opened', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [
      `data/${index + 10}.parquet`,
      `SELECT ${index} AS x`,
    ]),
  )
  const fixture = await makeCatalogFolder(t, { files: many })
  const live = await fixture.live()
  await fixture.writeFiles({ 'data/90.parquet': 'SELECT 99 AS x' })
  await settle(live)
  t.equal(versionOf(live.serving.catalog).rows, 21)
})
