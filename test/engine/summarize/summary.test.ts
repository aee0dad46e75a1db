import t from 'tap'
import { openSummaries } from '../fixtures/summaries.js'

const files = {
  '1.parquet': `SELECT * FROM (VALUES
    ('01.11', 2023, 10::BIGINT, 1.25::DECIMAL(10,2), 0.1::DOUBLE, DATE '2024-01-31'),
    ('01.12', 2023, 20, 2.50, 0.2, DATE '2024-04-01'),
    ('02', 2024, NULL, 0.25, 'nan', DATE 'infinity'),
    (NULL, 2024, 40, NULL, 0.3, NULL)) t(code, year, amount, price, ratio, day)`,
}

await t.test('groups, measures and totals', async (t) => {
  const { ask } = await openSummaries(t, { files })
  t.same(
    await ask({ group: ['prefix(code,2)'], measures: ['count', 'sum(amount)', 'avg(price)'] }),
    {
      rows: [
        '{"prefix(code,2)":"01","count":2,"sum(amount)":30,"avg(price)":1.875}',
        '{"prefix(code,2)":"02","count":1,"sum(amount)":null,"avg(price)":0.25}',
        '{"prefix(code,2)":null,"count":1,"sum(amount)":40,"avg(price)":null}',
      ],
      groups: 3,
      rowsMet: 4,
    },
  )
  console.log(
    await ask({
      group: ['quarter(day)', 'month(day)', 'day(day)', 'year(day)'],
      measures: [
        'count',
        'sum(ratio)',
        'avg(ratio)',
        'median(ratio)',
        'p25(amount)',
        'avg(amount/price)',
        'ratio(amount/price)',
        'ratio(ratio/price)',
        'min(code)',
        'max(day)',
        'distinct(code)',
        'avg(ratio/amount)',
      ],
      order: ['-count'],
      having: ['count.gte.1'],
    }),
  )
  console.log(
    await ask({
      measures: [
        'count',
        'sum(ratio)',
        'avg(ratio)',
        'median(ratio)',
        'p25(amount)',
        'avg(amount/price)',
        'ratio(amount/price)',
        'ratio(ratio/price)',
        'min(code)',
        'max(day)',
        'distinct(code)',
        'sum(price)',
        'min(ratio)',
      ],
      format: 'csv',
    }),
  )
})
