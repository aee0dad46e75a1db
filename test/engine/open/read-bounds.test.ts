import { join } from 'node:path'
import t from 'tap'
import { writeParquet } from '../../support/world.js'
import { openOne, openRows, patch } from '../fixtures/open-file.js'

// Guarantee: a file is left unread only when it can't hold a row that is asked for. Bounds are what
// tells (`filesThatMayHold`), so they are exact, in the form that a filter's value has.

/** Type → smallest and largest value, each in one row of 5000, and one for all rows between. */
const bounded = {
  INTEGER: ['-7', '123456', '0'],
  BIGINT: ['-9223372036854775808', '9223372036854775807', '0'],
  UBIGINT: ['0', '18446744073709551615', '5'],
  'DECIMAL(4,2)': ['-99.99', '0.50', '0.00'],
  'DECIMAL(4,4)': ['-0.0001', '0.5000', '0.0000'],
  VARCHAR: ['', 'яблоко 🦆', 'a'],
  DATE: ['-0043-03-15', '+12024-12-31', '2024-01-01'],
  TIMESTAMP: ['-0043-03-15T01:02:03.5', '2024-12-31T00:00:00', '2024-01-01T00:00:00'],
  TIMESTAMP_NS: ['1970-01-01T00:00:00.000000001', '2024-12-31T00:00:00', '2024-01-01T00:00:00'],
  TIMESTAMPTZ: ['2023-12-31T21:00:00.25Z', '2024-12-31T00:00:00Z', '2024-01-01T00:00:00Z'],
  TIME: ['00:00:00.000001', '24:00:00', '12:00:00'],
} as const

/** As DuckDB reads it: years beyond 0001–9999 in its own words. */
function sqlOf(text: string, type: string): string {
  const words = text.replace(/^-0043(.{6})/, '0044$1 (BC)').replace('+', '')
  return `CAST('${words}' AS ${type})`
}

function boundedSelect(type: keyof typeof bounded, others = ''): string {
  const [min, max, middle] = bounded[type].map((text) => sqlOf(text, type))
  return `SELECT CASE WHEN i = 4990 THEN ${min} WHEN i = 5 THEN ${max} ${others}
    WHEN i % 9 > 0 THEN ${middle} END AS x FROM range(5000) t(i)`
}

await t.test('bounds from the footer are those of the values', async (t) => {
  for (const type of Object.keys(bounded) as (keyof typeof bounded)[]) {
    const [min, max] = bounded[type]
    const writing = ', ROW_GROUP_SIZE 2048'
    const { bounds } = await openRows(t, boundedSelect(type), { boundsOf: ['x'], writing })
    t.strictSame(bounds.get('x'), { min, max }, type)
  }
})

await t.test('a file is full where no value is empty', async (t) => {
  const rows = 'FROM range(5000) t(i)'
  const isFull = async (type: string, value: string) => {
    const select = `SELECT CAST(${value} AS ${type}) AS x ${rows}`
    const writing = ', ROW_GROUP_SIZE 2048'
    const { bounds } = await openRows(t, select, { boundsOf: ['x'], writing })
    return bounds.get('x')?.isFull === true
  }
  t.ok(await isFull('INTEGER', 'i'))
  t.ok(await isFull('VARCHAR', 'i'))
  t.ok(await isFull('DATE', `DATE '2024-01-01' + i::INTEGER`))
  t.notOk(await isFull('INTEGER', 'nullif(i, 4990)'), 'one row has none')
  t.notOk(await isFull('DATE', `CASE WHEN i = 4990 THEN 'infinity' ELSE '2024-01-01' END`))
})

await t.test('bounds are read from the column where the footer lacks them', async (t) => {
  const boundsOf = ['x']
  const long = `SELECT repeat('я', 200 + i::INTEGER) AS x FROM range(3) t(i)`
  const texts = await openRows(t, long, { boundsOf })
  t.strictSame(texts.bounds.get('x'), {
    ...{ min: 'я'.repeat(200), max: 'я'.repeat(202), isFull: true },
  })
  const gap = await openRows(t, `${long} UNION ALL SELECT NULL`, { boundsOf })
  t.notOk(gap.bounds.get('x')?.isFull, 'one row has none')
  for (const type of ['DATE', 'TIMESTAMP', 'TIMESTAMP_NS', 'TIMESTAMPTZ'] as const) {
    const [min, max] = bounded[type]
    const others = `WHEN i = 7 THEN 'infinity' WHEN i = 8 THEN '-infinity'`
    const { bounds } = await openRows(t, boundedSelect(type, others), { boundsOf })
    t.strictSame(bounds.get('x'), { min, max }, `${type}: of the finite values`)
  }
  const infinite = await openRows(t, `SELECT DATE 'infinity' AS x`, { boundsOf })
  t.equal(infinite.bounds.get('x'), null, 'what is infinite is empty')
})

await t.test('bounds that a writer shortened are read from the column', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'a.parquet')
  await writeParquet(folder, { 'a.parquet': `SELECT unnest(['aaa1', 'mmm5', 'zzz9']) AS x` })
  // In the footer: largest and smallest value, and of both that they are exact; then they are not.
  const [max, min] = ['\x28\x04zzz9', '\x18\x04aaa1']
  patch(path, `${max}${min}\x11\x11`, `\x28\x04zz{ \x18\x04aaa \x12\x12`)
  const { bounds } = await openOne(path, ['x'])
  t.strictSame(bounds.get('x'), { min: 'aaa1', max: 'zzz9', isFull: true })
})

await t.test('bounds are null without a value, and only of what was asked for', async (t) => {
  const boundsOf = ['x', 'y', 'list', 'ratio', 'missing']
  const select = `SELECT NULL::INTEGER AS x, NULL::VARCHAR AS y, 1 AS z, [1] AS list, 0.5::DOUBLE AS
    ratio FROM range(5000)`
  const full = await openRows(t, select, { boundsOf, writing: ', ROW_GROUP_SIZE 2048' })
  const none = [
    ['x', null],
    ['y', null],
  ] as const
  t.strictSame([...full.bounds], none)
  t.strictSame([...(await openRows(t, `${select} WHERE false`, { boundsOf })).bounds], none)
})
