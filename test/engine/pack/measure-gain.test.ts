import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import t from 'tap'
import { duckDbGain } from '../../../src/engine/duckdb/pack/measure-gain.js'
import { writeParquet } from '../../support/parquet.js'
import { never, openVersion } from '../fixtures/open-engine.js'

const measureGain = duckDbGain(256 * 1024 ** 2)
const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('das-gain-'))

await t.test('look-ups are timed on the files as they are and on a packed sample', async (t) => {
  const folder = t.testdir({})
  const rows = (from: number) =>
    `SELECT CAST((i * 7919) % 5003 AS VARCHAR) AS id, ${from} + i AS n FROM range(5000) t(i)`
  await writeParquet(folder, { 'data/a.parquet': rows(0), 'data/b.parquet': rows(5000) })
  const before = left()
  const gain = await measureGain(await openVersion(folder, { entry: '    key: [id, n]\n' }), never)
  t.ok(gain && gain.nowMs > 0 && gain.packedMs > 0)
  t.same(left(), before, 'the sample is gone')
})

await t.test('nothing is measured without a key or without rows', async (t) => {
  const folder = t.testdir({})
  await writeParquet(folder, { 'data/a.parquet': 'SELECT 1 AS id WHERE false' })
  t.equal(await measureGain(await openVersion(folder, { entry: '    key: id\n' }), never), null)
  t.equal(await measureGain(await openVersion(folder), never), null)
})
