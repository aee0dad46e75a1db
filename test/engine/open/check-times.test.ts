import { join } from 'node:path'
import t from 'tap'
import { noType, typeText } from '../../../src/columns/data-type.js'
import { int64, openOne, patchFooter } from '../fixtures/open-file.js'
import { writeParquet } from '../../support/world.js'

/** The type of a time of a day in a footer, without and with a zone: pandas writes the latter. */
const [local, zoned] = ['\x12\x1c\x2c\0\0\0', '\x11\x1c\x2c\0\0\0']

const held = 45_296_789_012n
const day = 86_400_000_000n
const time = "TIME '12:34:56.789012'"

// Guarantee: no footer ends the process.
await t.test('statistics of times beyond a day are refused by column and row group', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'a.parquet')
  const forms = {
    TIME: [time, held, day],
    'TIME WITH TIME ZONE': [time, held, day],
    TIME_NS: [`CAST('12:34:56.789012' AS TIME_NS)`, held * 1000n, day * 1000n],
    'TIME[]': [`[${time}]`, held, day],
    'STRUCT("a" TIME)': [`{'a': ${time}}`, held, day],
  } as const
  for (const [type, [value, stored, end]] of Object.entries(forms)) {
    // The second of two row groups has the value.
    const select = `SELECT i, 'x' AS s, CASE WHEN i = 3000 THEN ${value} END AS "at", 1.5 AS n
      FROM range(4096) t(i)`
    const write = async () => {
      await writeParquet(folder, { 'a.parquet': select }, ', ROW_GROUP_SIZE 2048')
      if (type.endsWith('ZONE')) patchFooter(path, local, zoned)
    }
    for (const wrong of [-1n, end + 1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      await write()
      patchFooter(path, int64(stored), int64(wrong))
      const reason =
        'has statistics of column "at" that are no times of a day, row group 1 (from 0): the ' +
        'file is damaged or badly written; copy or write it again'
      await t.rejects(openOne(path), { name: 'FileError', path, reason }, `${type} ${wrong}`)
    }
    await write()
    const { rows, columns } = await openOne(path)
    const served = columns.find(({ name }) => name === 'at')?.type ?? noType
    t.same([rows, typeText(served)], [4096, type])
  }
})

await t.test('a footer of many columns and types is read to its end', async (t) => {
  const folder = t.testdir({})
  const columns = Array.from({ length: 40 }, (_, at) => `TIME '12:34:56' AS t${at}`)
  const others = `{'x': [1, 2], 'y': MAP {'k': DATE '2024-01-02'}} AS nested, NULL AS nothing,
    uuid() AS id, 1.25::DECIMAL(30, 2) AS d, true AS yes, TIMESTAMP '2024-01-02' AS ts`
  const select = `SELECT i, ${others}, ${columns.join(', ')}, ${time} AS last FROM range(5) t(i)`
  const path = join(folder, 'a.parquet')
  const options = ", KV_METADATA {note: 'a text'}"
  await writeParquet(folder, { 'a.parquet': select }, options)
  t.equal((await openOne(path)).rows, 5)
  patchFooter(path, int64(held), int64(-held))
  await t.rejects(openOne(path), {
    name: 'FileError',
    path,
    reason: /^has statistics of column "last" .*group 0 /,
  })
})
