import t from 'tap'
import { describeResource } from '../support/mcp/mcp-messages.js'
import { startWorld } from '../support/world.js'

/** Datasets that offer a guide little to go by. */

const plans = 'plans: {pro: {rows_per_month: 1000, history: all, price_rub: 0}}'

await t.test('many rows of amounts alone, without key or history, are described', async (t) => {
  const world = await startWorld(t, {
    files: {
      'data/amounts.parquet':
        'SELECT i * 0.37::DOUBLE AS amount, i * 1.5::DOUBLE AS price FROM range(100001) t(i)',
    },
    registry: `datasets: {amounts: {title: Amounts, files: data/amounts.parquet, ${plans}}}`,
  })
  const { token } = await world.subscribe(['amounts:pro'])
  const answer = await describeResource(world, token, 'amounts')
  t.notOk(answer.isError, answer.text)
  t.match(answer.content, {
    rows: 100_001,
    profiled_rows: 100_000,
    hint: /^min, max and shares come from a sample of 100000 rows: other values exist\.$/,
    columns: [
      { name: 'amount', min: Number, max: Number },
      { name: 'price', min: Number, max: Number },
    ],
  })
})

await t.test('a dataset without rows is described, with all types', async (t) => {
  const columns = [
    "DATE '2024-01-01' AS day",
    "TIMESTAMP '2024-01-01 00:00:00' AS moment",
    "TIMESTAMPTZ '2024-01-01 00:00:00+00' AS zoned",
    "TIME '09:30:00' AS clock",
    "TIMETZ '09:30:00+00' AS zoned_clock",
    '1.50::DECIMAL(5,3) AS dec',
    '0.5::DOUBLE AS dbl',
    '1::BIGINT AS big',
    'true AS flag',
    "'x' AS text",
    "'a'::ENUM ('a', 'b') AS kind",
    "'ab'::BLOB AS bytes",
    '[1.5] AS list',
    "{'a': DATE '2024-01-01'} AS struct",
    "MAP {'a': 1} AS map",
    'uuid() AS id',
  ]
  const world = await startWorld(t, {
    files: { 'data/none.parquet': `SELECT ${columns.join(', ')} WHERE false` },
    registry: `datasets: {none: {title: None, files: data/none.parquet, ${plans}}}`,
  })
  const { token } = await world.subscribe(['none:pro'])
  const answer = await describeResource(world, token, 'none')
  t.notOk(answer.isError, answer.text)
  t.match(answer.content, { rows: 0, profiled_rows: 0, examples: [], sample_rows: { day: [] } })
  t.equal((answer.content['columns'] as unknown[]).length, columns.length)
})
