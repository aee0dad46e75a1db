import t from 'tap'
import type { Column } from '../../src/catalog/column.js'
import type { ScalarName } from '../../src/catalog/data-type.js'
import { filterPredicates, latestYears } from '../../src/catalog/predicate.js'
import { scalar } from './rows.js'

await t.test("a plan's years end with the newest value of an integer column", (t) => {
  const years = (name: ScalarName, newest: bigint | undefined, count: number) =>
    latestYears(scalar(name), newest, count)
  t.match(years('INTEGER', 2025n, 1), [{ kind: 'gte', value: 2025n }])
  t.match(years('INTEGER', 2025n, 3), [{ kind: 'gte', value: 2023n }])
  t.match(years('INTEGER', undefined, 3), [{ kind: 'nothing' }], 'no value, no row')
  t.match(years('UTINYINT', 3n, 5), [{ kind: 'not_null' }], 'further back than the column goes')
  t.end()
})

await t.test("a plan's years of days and moments are calendar years, to the last instant", (t) => {
  const firstSeen = (column: Column, newest: string, count: number) => {
    const [bound] = filterPredicates(column, 'eq', [newest])
    const value = bound?.kind === 'eq' && typeof bound.value === 'bigint' ? bound.value : undefined
    const [window, ...others] = latestYears(column, value, count)
    t.same(others, [])
    return window
  }
  const startsAt = (column: Column, start: string) => {
    const [bound] = filterPredicates(column, 'gte', [start])
    return bound
  }
  const cases: readonly (readonly [ScalarName, string, number, string])[] = [
    ['DATE', '2018-02-14', 1, '2018-01-01'],
    ['DATE', '2018-12-31', 2, '2017-01-01'],
    ['DATE', '2018-01-01', 1, '2018-01-01'],
    ['DATE', '0018-06-01', 1000, '-0981-01-01'],
    ['DATE', '-0043-03-15', 1, '-0043-01-01'],
    ['DATE', '+300000-03-15', 2, '+299999-01-01'],
    ['DATE', '9999-12-31', 1, '9999-01-01'],
    ['TIMESTAMP_S', '2023-12-31T23:59:59', 1, '2023-01-01'],
    ['TIMESTAMP', '2023-12-31T23:59:59.999999', 1, '2023-01-01'],
    ['TIMESTAMP_NS', '2023-12-31T23:59:59.999999999', 1, '2023-01-01'],
    ['TIMESTAMP_NS', '2024-01-01T00:00:00', 1, '2024-01-01'],
    ['TIMESTAMPTZ', '2024-01-01T02:59:59+03:00', 1, '2023-01-01'],
    ['TIMESTAMP', '1969-12-31T23:59:59.999999', 1, '1969-01-01'],
  ]
  for (const [name, newest, count, start] of cases) {
    t.same(
      firstSeen(scalar(name), newest, count),
      startsAt(scalar(name), start),
      `${name} ${newest}`,
    )
  }
  t.match(firstSeen(scalar('DATE'), '-5877000-01-01', 1000), { kind: 'not_null' })
  t.end()
})
