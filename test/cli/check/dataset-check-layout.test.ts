import t from 'tap'
import { openerFor } from '../../../src/app/reading.js'
import { openCatalog, readRegistry } from '../../../src/catalog.js'
import { slowReasons } from '../../../src/cli/check/version-findings.js'
import type { FileFooter } from '../../../src/versions/inspector.js'
import type { Version } from '../../../src/versions/version.js'
import { buildThings, checksOf, findingsOf } from '../fixtures/checked.js'
import { machineClock } from '../../../src/clock.js'

const entry = '    key: id\n'
const layoutCodes = /^(layout_slow|pack_advised)/

/** The findings of a layout only: code → message. */
async function layoutOf(
  files: Readonly<Record<string, string>>,
  writing: string,
): Promise<Readonly<Record<string, string>>> {
  const found = await findingsOf(t, files, { entry, writing })
  return Object.fromEntries(Object.entries(found).filter(([code]) => layoutCodes.test(code)))
}

await t.test('sorted files without overlap have no findings', async (t) => {
  const part = (from: number) => `SELECT i AS id FROM range(${from}, ${from + 40_000}) t(i)`
  const files = {
    'a.parquet': part(0),
    'b.parquet': part(39_999),
    'c.parquet': part(79_998),
  }
  t.same(await layoutOf(files, ', ROW_GROUP_SIZE 10240'), {})
})

await t.test('files that are not sorted by the key are reported with the remedy', async (t) => {
  const files = {
    'a.parquet': 'SELECT i AS id FROM range(60000) t(i)',
    'b.parquet': 'SELECT 60000 + (i * 7919) % 60000 AS id FROM range(60000) t(i)',
  }
  const found = await layoutOf(files, ', ROW_GROUP_SIZE 10240')
  t.same(Object.keys(found), ['layout_slow', 'pack_advised'])
  t.match(found['layout_slow'], '1 of 2 files not sorted by "id" (first data/b.parquet)')
  t.match(found['pack_advised'], /^`das dataset pack things`.*: a look-up by id takes /)
})

await t.test('overlapping files are reported with the number that a look-up opens', async (t) => {
  const select = (mark: string) =>
    `SELECT lpad(i::VARCHAR, 6, '0') AS id, '${mark}' AS mark FROM range(40000) t(i)`
  const files = { 'a.parquet': select('a'), 'b.parquet': select('b'), 'c.parquet': select('c') }
  const found = await layoutOf(files, ', ROW_GROUP_SIZE 10240')
  t.same(Object.keys(found), ['layout_slow', 'pack_advised'])
  t.match(found['layout_slow'], 'each opens up to 3 of 3 files')
})

await t.test('footers without statistics are reported', async (t) => {
  // DuckDB keeps none of a row group whose greatest text is long and can't be shortened upwards.
  const select = `SELECT CASE WHEN i = 119999 THEN repeat(chr(1114111), 200) ELSE lpad(i::VARCHAR, 6, '0') END
    AS id FROM range(120000) t(i)`
  const found = await layoutOf({ 'a.parquet': select }, ', ROW_GROUP_SIZE 10240')
  t.same(Object.keys(found), ['layout_slow', 'pack_advised'])
  t.match(found['layout_slow'], '1 of 1 file without statistics of "id" (first data/a.parquet)')
})

await t.test('large row groups are reported', async (t) => {
  const files = { 'a.parquet': 'SELECT i AS id FROM range(250000) t(i)' }
  const found = await layoutOf(files, ', ROW_GROUP_SIZE 300000')
  t.same(Object.keys(found), ['layout_slow', 'pack_advised'])
  t.match(found['layout_slow'], '250000 rows on average')
})

await t.test('the advice has the measured gain of packing', async (t) => {
  const select = 'SELECT (i * 7919) % 120000 AS id FROM range(120000) t(i)'
  const writing = ', ROW_GROUP_SIZE 10240'
  const { das } = await buildThings(t, { 'a.parquet': select }, { entry, writing })
  const gained = await das(['dataset', 'check'], {
    measureGain: async ({ dataset }) => {
      t.equal(dataset, 'things')
      return { nowMs: 38.4, packedMs: 2.04 }
    },
  })
  t.match(
    gained.stdout,
    'info: `das dataset pack things`: a look-up by id takes 38 ms here; packed 2 ms ' +
      '(measured on a sample)\n',
  )
  const failed = await das(['dataset', 'check'], {
    measureGain: () => Promise.reject(new Error('the disk is full')),
  })
  t.equal(failed.code, 0)
  t.match(failed.stdout, 'may help; measuring it failed: the disk is full\n')
})

await t.test('a dataset without layout findings is not measured', async (t) => {
  const { das } = await buildThings(t, { 'a.parquet': 'SELECT 1 AS id' }, { entry })
  const measureGain = () => Promise.reject(new Error('not asked for'))
  t.equal((await das(['dataset', 'check'], { measureGain })).stdout.split('\n').length, 2)
})

await t.test('small row groups are reported by their average', async (t) => {
  const cli = await buildThings(t, { 'a.parquet': 'SELECT i AS id FROM range(1700) t(i)' })
  await checksOf(cli)
  const registry = await readRegistry(`${cli.folder}/registry.yaml`)
  const options = { clock: machineClock, openFiles: openerFor(2 ** 28), versionsFolder: null }
  const version = (await openCatalog(registry, options)).datasets.get('things')?.version
  const [file] = version?.files ?? []
  if (!version || !file) throw new Error('not opened')
  const reasonsOf = (files: number) => {
    const many: Version = { ...version, files: Array(files).fill(file), rows: files * file.rows }
    const footer: FileFooter = { rowGroups: 1, unsortedRowGroups: 0, silentRowGroups: 0 }
    return slowReasons(many, Array(files).fill(footer))
  }
  t.same(reasonsOf(58), [], 'a small dataset')
  t.match(reasonsOf(60), [/1700 rows on average/])
})
