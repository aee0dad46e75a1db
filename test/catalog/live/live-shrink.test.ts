import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { LiveCatalog } from '../../../src/catalog/live/live-catalog.js'
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
  'missing files, or serve the new ones anyway: das dataset reload --force, or ' +
  'allow_shrinking: true in the registry'

async function settle(live: LiveCatalog, force = false): Promise<void> {
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
  for (const how of ['force', '    allow_shrinking: true', '    shrink_max: 33.4%']) {
    const fixture = await makeCatalogFolder(t, { files })
    const live = await fixture.live()
    rmSync(join(fixture.folder, 'data/2022.parquet'))
    await settle(live)
    t.equal(now(live).version?.rows, 600)
    if (how !== 'force') fixture.writeRegistry(how)
    await settle(live, how === 'force')
    t.match(now(live), { reason: null, version: { rows: 400 } }, how)
  }
})

await t.test('fewer rows are served if a file of the old version was written to', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const live = await fixture.live()
  writeFileSync(join(fixture.folder, 'data/2022.parquet'), '')
  rmSync(join(fixture.folder, 'data/2022.parquet'))
  await settle(live)
  t.match(now(live), { reason: null, version: { rows: 400 } })
})

await t.test('a loss of fewer rows than shrink_max is an ordinary refresh', async (t) => {
  const fixture = await makeCatalogFolder(t, { files })
  const live = await fixture.live()
  await fixture.writeFiles({ 'data/2022.parquet': rowsOf(2022, 80) })
  await settle(live)
  t.match(now(live), { reason: null, version: { rows: 480 } }, '20 % is not more than 20 %')
  fixture.writeRegistry('    shrink_max: 0%')
  await fixture.writeFiles({ 'data/2022.parquet': rowsOf(2022, 79) })
  await settle(live)
  t.match(now(live).reason, /^the new files hold 479 rows, 0\.2 % fewer than the 480 served/)
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
