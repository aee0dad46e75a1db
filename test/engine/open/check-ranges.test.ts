import { join } from 'node:path'
import t from 'tap'
import { writeParquet } from '../../support/world.js'
import { int64, openFiles, openOne, patch } from '../fixtures/open-file.js'

const plain = ', COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1'

// Guarantee: no value of a file ends the process, or is served as a text that it is not.
await t.test(
  'times beyond a day are refused by column and row, not written as texts',
  async (t) => {
    const folder = t.testdir({})
    const path = join(folder, 'a.parquet')
    const day = 86_400_000_000n
    const held = 45_296_789_012n
    const time = "TIME '12:34:56.789012'"
    const forms = {
      TIME: [time, held, day],
      TIME_NS: [`CAST('12:34:56.789012' AS TIME_NS)`, held * 1000n, day * 1000n],
      'TIME[]': [`[TIME '01:00:00', ${time}]`, held, day],
      'STRUCT("a" TIME)': [`{'a': ${time}}`, held, day],
      'MAP(TIME, INTEGER)': [`MAP {${time}: 1}`, held, day],
    } as const
    for (const [type, [value, stored, end]] of Object.entries(forms)) {
      const select = `SELECT i, CASE WHEN i = 2 THEN ${value} END AS at FROM range(4) t(i)`
      const change = async (to: bigint) => {
        await writeParquet(folder, { 'a.parquet': select }, plain)
        patch(path, int64(stored), int64(to))
      }
      for (const wrong of [-1n, end + 1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
        await change(wrong)
        const reason =
          `has a column that can't be read, "at", row 2 (counted from 0): a value that ${type} ` +
          "can't hold; correct the value, or write the column in another type"
        await t.rejects(openOne(path), { name: 'FileError', path, reason }, `${type} ${wrong}`)
      }
      for (const right of [0n, end]) {
        await change(right)
        t.equal((await openOne(path)).rows, 4, `${type} ${right}`)
      }
    }
  },
)

await t.test('decimals of more digits than their type has are refused alike', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'a.parquet')
  const value = "CAST('12345678901234.5678' AS DECIMAL(18, 4))"
  const select = `SELECT CASE WHEN i = 1 THEN ${value} END AS x FROM range(3) t(i)`
  const stored = int64(123_456_789_012_345_678n)
  const most = 10n ** 18n - 1n
  for (const wrong of [most + 1n, -most - 1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
    await writeParquet(folder, { 'a.parquet': select }, plain)
    patch(path, stored, int64(wrong))
    const reason = /"x", row 1 .*: a value that DECIMAL\(18,4\) can't hold; correct the value/
    await t.rejects(openOne(path), { name: 'FileError', path, reason }, String(wrong))
  }
})

await t.test('a value that breaks the engine is named by its column', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'a.parquet')
  const select = 'SELECT i AS id, CAST(12.34 AS DECIMAL(4, 2)) AS x FROM range(3) t(i)'
  await writeParquet(folder, { 'a.parquet': select }, plain)
  patch(path, '\xd2\x04\0\0', '\xff\xff\xff\x7f')
  const reason = /^has a column that can't be read, "x": .*\(INTERNAL\); the file is damaged/
  await t.rejects(openOne(path), { name: 'FileError', path, reason })
})

await t.test('the file and the column are named among many', async (t) => {
  const folder = t.testdir({})
  const columns = Array.from({ length: 60 }, (_, at) => `TIME '12:34:56' AS t${at}`)
  const select = (last: string) => `SELECT ${columns.join(', ')}, TIME '${last}' AS last`
  await writeParquet(
    folder,
    { 'a.parquet': select('12:34:56'), 'b.parquet': select('12:34:56.789012') },
    plain,
  )
  const [good, bad] = [join(folder, 'a.parquet'), join(folder, 'b.parquet')]
  patch(bad, int64(45_296_789_012n), int64(-1n))
  const expected = { name: 'FileError', path: bad, reason: /"last", row 0 / }
  await t.rejects(openFiles([good, bad], []), expected)
})
