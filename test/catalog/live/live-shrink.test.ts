import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { LiveCatalog } from '../../../src/catalog/live/live-catalog.js'
import type { Force } from '../../../src/catalog/live/update.js'
import { duckDbInspector } from '../../../src/engine/duckdb/inspect/inspect.js'
import { machineClock } from '../../../src/clock.js'
import { startOfTest } from '../../support/world.js'
import { datasetOf, makeCatalogFolder } from './fixtures/catalog-folder.js'

// Guarantee: files that go missing are not published as a refresh.

const rowsOf = (year: number, rows: number) =>
  `SELECT i AS x, ${year} AS year FROM range(${rows}) t(i)`
const files = {
  'data/2022.parquet': rowsOf(2022, 200),
  'data/2023.parquet': rowsOf(2023, 200),
  'data/2024.parquet': rowsOf(2024, 200),
}
const refusal =
  'the new files hold 400 rows, 33.3 % fewer than the 600 served (shrink_max is 20%); restore the ' +
  'missing rows, or serve the new files anyway: das dataset reload --force, or ' +
  'allow_shrinking: true in the registry'

async function settle(live: LiveCatalog, force: Force = false): Promise<void> {
  while ((await live.update(force)) === 'unsettled');
}

const now = (live: LiveCatalog) => datasetOf(live.serving.catalog)

await t.test('a refresh that loses a file is refused, also by a new server', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const live = await fixture.live()
  rmSync(join(fixture.folder, 'data/2022.parquet'))
  await settle(live)
  t.match(now(live), { reason: refusal, version: { rows: 600 } })
  const next = await fixture.live()
  t.match(now(next), { reason: refusal, version: { rows: 600 } })
  await fixture.writeFiles(files)
  await settle(next)
  t.match(now(next), { reason: null, version: { rows: 600 } })
})

await t.test('the owner accepts fewer rows with force, or in the registry', async (t) => {
  const ways = ['force', 'force of it', '    allow_shrinking: true', '    shrink_max: 33.4%']
  for (const how of ways) {
    const fixture = await makeCatalogFolder(t, { files })
    const live = await fixture.live()
    rmSync(join(fixture.folder, 'data/2022.parquet'))
    await settle(live)
    t.equal(now(live).version?.rows, 600)
    await settle(live, 'another dataset')
    t.equal(now(live).version?.rows, 600)
    const force = how === 'force' || (how === 'force of it' && now(live).name)
    if (force === false) fixture.writeRegistry(how)
    await settle(live, force)
    t.match(now(live), { reason: null, version: { rows: 400 } }, how)
  }
})

await t.test('fewer rows are refused also if the old version is gone', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const live = await fixture.live()
  writeFileSync(join(fixture.folder, 'data/2022.parquet'), '')
  rmSync(join(fixture.folder, 'data/2022.parquet'))
  await settle(live)
  t.match(now(live), { reason: refusal })
  await settle(live, true)
  t.match(now(live), { reason: null, version: { rows: 400 } })
})

await t.test('a small version stays whatever is written into its files', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  for (const copyMaxBytes of [1e6, 1]) {
    const versionsFolder = join(fixture.folder, `var-${copyMaxBytes}`)
    const live = await fixture.live({ copyMaxBytes, versionsFolder })
    const [file] = now(live).version?.files ?? []
    const path = join(fixture.folder, 'data/2022.parquet')
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.subarray(0, 100))
    t.equal(readFileSync(file?.path ?? '').equals(bytes), copyMaxBytes > 1)
    await settle(live)
    t.match(now(live).reason, '2022.parquet is not a whole Parquet file')
    writeFileSync(path, bytes)
  }
})

await t.test('a loss of fewer rows than shrink_max is an ordinary refresh', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const live = await fixture.live()
  await fixture.writeFiles({ 'data/2022.parquet': rowsOf(2022, 160) })
  await settle(live)
  t.match(now(live), { reason: null, version: { rows: 560 } }, '20 % is not more than 20 %')
  fixture.writeRegistry('    shrink_max: 0%')
  await fixture.writeFiles({ 'data/2022.parquet': rowsOf(2022, 159) })
  await settle(live)
  t.match(now(live).reason, /^the new files hold 559 rows, 0\.2 % fewer than the 560 served/)
})

await t.test('a file that is replaced may lose as little as the whole', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [
      `data/year=${2015 + index}/all.parquet`,
      rowsOf(2015 + index, 100),
    ]),
  )
  const registry = 'datasets:\n  things: {title: Things, files: data/*/*.parquet}\n'
  const fixture = await makeCatalogFolder(t, { files: many, registry })
  const live = await fixture.live()
  await fixture.writeFiles({ 'data/year=2024/all.parquet': rowsOf(2024, 5) })
  await settle(live)
  const reason =
    'data/year=2024/all.parquet holds 5 rows, 95 % fewer than the 100 it had before (shrink_max ' +
    'is 20%); restore the missing rows, or serve the new files anyway: das dataset reload ' +
    '--force, or allow_shrinking: true in the registry'
  t.match(now(live), { reason, version: { rows: 1000 } })
  t.match(now(await fixture.live()), { reason, version: { rows: 1000 } }, 'also by a new server')
  await settle(live, true)
  t.match(now(live), { reason: null, version: { rows: 905 } })
})

await t.test('files that are laid out anew say nothing of each other', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const live = await fixture.live()
  for (const name of ['2022', '2023']) rmSync(join(fixture.folder, `data/${name}.parquet`))
  await fixture.writeFiles({
    'data/2024.parquet': rowsOf(2024, 100),
    'data/all.parquet': rowsOf(2022, 500),
  })
  await settle(live)
  t.match(now(live), { reason: null, version: { rows: 600 } })
})

await t.test('a moved dataset is compared file by file', async (t) => {
  const registry = (folder: string) =>
    `datasets:\n  things: {title: Things, files: ${folder}/*.parquet}\n`
  const fixture = await makeCatalogFolder(t, { files, registry: registry('data') })
  const live = await fixture.live()
  await fixture.writeFiles({
    'new/2022.parquet': rowsOf(2022, 140),
    'new/2023.parquet': rowsOf(2023, 250),
    'new/2024.parquet': rowsOf(2024, 210),
  })
  fixture.writeRegistry(registry('new'))
  await settle(live)
  t.match(now(live).reason, /^new\/2022\.parquet holds 140 rows, 30 % fewer than the 200 it had/)
})

await t.test(
  'a file that loses a column is refused, and when it is first served is not',
  async (t) => {
    const uneven = {
      'data/2023.parquet': 'SELECT 1 AS id, 5 AS v, 6 AS w',
      'data/2024.parquet': 'SELECT 2 AS id, 7 AS w',
    }
    const fixture = await makeCatalogFolder(t, { files: uneven })
    const live = await fixture.live()
    t.match(now(live), { reason: null, version: { rows: 2 } })
    await fixture.writeFiles({ 'data/2023.parquet': 'SELECT 1 AS id, 5 AS v' })
    await settle(live)
    t.match(
      now(live).reason,
      /break callers: data\/2023\.parquet lacks column "w", .*allow_breaking: true/,
    )
    await fixture.writeFiles({ 'data/2023.parquet': 'SELECT 3 AS id, 5 AS v, 6 AS w' })
    await settle(live)
    t.match(now(live), { reason: null, version: { rows: 2 } })
  },
)

await t.test('a year that can not be yet is refused where there was none', async (t) => {
  for (const [column, before, after, words] of [
    ['year', '2024', '20244', 'from 2024 to 20244'],
    ['year', '2024', '2030', 'from 2024 to 2030'],
    ['day', "DATE '2024-12-31'", "DATE '2042-12-31'", 'from 2024-12-31 to 2042-12-31'],
    ['day', "TIMESTAMP '2024-12-31'", "TIMESTAMP '2042-12-31'", 'from 2024-12-31 to 2042-12-31'],
  ] as const) {
    const fixture = await makeCatalogFolder(t, {
      files: { 'data/1.parquet': `SELECT 1 AS id, ${before} AS ${column}` },
      registry: `    history: ${column}`,
    })
    const live = await fixture.live({ clock: { ...machineClock, now: () => startOfTest } })
    const wrong = `SELECT 1 AS id, ${before} AS ${column} UNION ALL SELECT 2, ${after}`
    await fixture.writeFiles({ 'data/1.parquet': wrong })
    await settle(live)
    t.match(now(live), { reason: new RegExp(`"${column}" went ${words}; .*allow_future`) })
    fixture.writeRegistry(`    history: ${column}\n    allow_future: true`)
    await settle(live)
    t.match(now(live), { reason: null, version: { rows: 2 } })
    await fixture.writeFiles({ 'data/1.parquet': `${wrong} UNION ALL SELECT 3, ${after}` })
    fixture.writeRegistry(`    history: ${column}`)
    await settle(live)
    t.match(now(live), { reason: null, version: { rows: 3 } }, 'it was there before')
  }
})

await t.test('rows that repeat a key are refused where none did', async (t) => {
  const inspectFiles = duckDbInspector(256 * 2 ** 20)
  const rows = (from: number, count: number, year: number) =>
    `SELECT ${from} + i AS inn, ${year} AS year, '${count}' AS x FROM range(${count}) t(i)`
  const registry = '    key: inn\n    history: year'
  const fixture = await makeCatalogFolder(t, {
    files: { 'data/1.parquet': rows(0, 100, 2023), 'data/2.parquet': rows(0, 100, 2024) },
    registry,
  })
  const live = await fixture.live({ inspectFiles })
  await fixture.writeFiles({ 'data/corrected.parquet': rows(90, 12, 2024) })
  await settle(live)
  const reason =
    '20 rows of the new files share their inn, year with another row (99, 2024 has 2), and none ' +
    'did before; deliver each row once, or serve the new files anyway: das dataset reload ' +
    '--force, or allow_repeated_keys: true in the registry'
  t.match(now(live), { reason, version: { rows: 200 } })
  t.match(now(await fixture.live({ inspectFiles })), { reason, version: { rows: 200 } })
  fixture.writeRegistry(`${registry}\n    allow_repeated_keys: true`)
  await settle(live)
  t.match(now(live), { reason: null, version: { rows: 212 } })
  fixture.writeRegistry(registry)
  await fixture.writeFiles({ 'data/corrected.parquet': rows(80, 22, 2024) })
  await settle(live)
  t.match(now(live), { reason: null, version: { rows: 222 } }, 'some did before')
})

await t.test('whole numbers may become numbers, and not the other way round', async (t) => {
  const fixture = await makeCatalogFolder(t, {
    files: { 'data/1.parquet': 'SELECT 1 AS id, 5 AS x' },
  })
  const live = await fixture.live()
  await fixture.writeFiles({ 'data/1.parquet': 'SELECT 1 AS id, 5.5::DOUBLE AS x' })
  await settle(live)
  t.match(now(live), { reason: null, version: { rows: 1 } })
  await fixture.writeFiles({ 'data/1.parquet': 'SELECT 1 AS id, 5 AS x' })
  await settle(live)
  t.match(now(live).reason, /column "x" was DOUBLE and is INTEGER/)
})

await t.test('patterns that match fewer files are refused as well', async (t) => {
  const registry = (pattern: string) =>
    `datasets:\n  things:\n    title: Things\n    files: ${pattern}\n`
  const fixture = await makeCatalogFolder(t, { files, registry: registry('data/*.parquet') })
  const live = await fixture.live()
  fixture.writeRegistry(registry('data/2024.parquet'))
  await settle(live)
  t.match(now(live), { reason: /hold 200 rows, 66\.7 % fewer/, version: { rows: 600 } })
  await settle(live, true)
  t.match(now(live), { reason: null, version: { rows: 200 } })
})

await t.test('force also accepts lost columns', async (t) => {
  const fixture = await makeCatalogFolder(t, {
    files: { 'data/1.parquet': 'SELECT 1 AS x, 2 AS y' },
  })
  const live = await fixture.live()
  await fixture.writeFiles({ 'data/1.parquet': 'SELECT 1 AS x' })
  await settle(live)
  t.match(now(live).reason, /column "y" is gone; .*das dataset reload --force/)
  await settle(live, true)
  t.match(now(live), { reason: null, version: { columns: [{ name: 'x' }] } })
})

await t.test('shrink_max is a percentage', async (t) => {
  for (const wrong of ['0.2', '20', '120%', '-5%', 'some']) {
    const fixture = await makeCatalogFolder(t, { files })
    const live = await fixture.live()
    fixture.writeRegistry(`    shrink_max: ${wrong}`)
    await settle(live)
    t.match(
      live.serving.registryReason,
      /shrink_max: must be a percentage of the rows from 0% to 100%, for example 20%/,
      wrong,
    )
  }
})
