import type { Test } from 'tap'
import { startWorld } from './world.js'
import type { World, WorldOptions } from './world.js'

/** Two small datasets with every kind of plan, and a third that few are granted. */
const files = {
  'data/2022.parquet': thingsOf(2022),
  'data/2023.parquet': thingsOf(2023),
  'data/2024.parquet': thingsOf(2024),
  'data/days.parquet': `SELECT i AS id, DATE '2022-01-01' + (i * 100)::INT AS day,
      'note ' || i AS "internal_note", i % 2 AS half FROM range(10) t(i)`,
  'data/big.parquet': `SELECT i AS id, 'n' || i % 10 AS name FROM range(100001) t(i)`,
}

/** Five things a year: a0 … a4; `note` is empty in the odd ones. */
function thingsOf(year: number): string {
  return `SELECT ${year} AS year, 'a' || i AS id, i AS "2110",
      CASE WHEN i % 2 = 0 THEN 'even' END AS note FROM range(5) t(i)`
}

const registry = `
demo: {token: das_demo_things, rate_per_minute: 10000}
datasets:
  things:
    title: Things
    files: data/20*.parquet
    key: [id, year]
    history: year
    demo: {id: ["a1", "a2"]}
    plans:
      last: {rows_per_month: 1000, history: 1, price_rub: 0, rate_per_minute: 100000}
      two: {rows_per_month: 1000, history: 2, price_rub: 0, rate_per_minute: 100000}
      pro: {rows_per_month: 1000000, history: all, price_rub: 10, rate_per_minute: 100000}
      tiny: {rows_per_month: 7, history: all, price_rub: 0, rate_per_minute: 100000}
      slow: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 5}
  days:
    title: Days
    files: data/days.parquet
    key: id
    history: day
    columns: {internal_note: {hidden: true}}
    plans:
      last: {rows_per_month: 100, history: 1, price_rub: 0}
      two: {rows_per_month: 100, history: 2, price_rub: 0, rate_per_minute: 100000}
      pro: {rows_per_month: 100, history: all, price_rub: 0, rate_per_minute: 100000}
  big:
    title: Big
    files: data/big.parquet
    key: id
    plans:
      pro: {rows_per_month: 1000000, history: all, price_rub: 0, rate_per_minute: 100000}
prompts:
  - name: check_counterparty
    title: Check a counterparty
    description: Check a company before doing business with it.
    datasets: [things]
    arguments:
      - name: inn
        description: a taxpayer number of 10 digits (12 for a person)
        required: true
        pattern: '[0-9]{10}([0-9]{2})?'
      - {name: focus, description: one line of text}
    text: |
      Call list_resources and describe_resource, then query with the filter inn eq "{inn}".
      {focus}
  - name: compare_days
    title: Compare things and days
    description: Compare the two datasets, day by day.
    datasets: [things, days]
    text: 'Compare them. A filter is {"column": "id", "op": "eq"}.'
`

const storedOrder = { things: ['year', 'id'] }

/** A world over things, days and big. */
export function startThings(
  t: Test,
  settings: NonNullable<WorldOptions['settings']> = {},
  more: Pick<WorldOptions, 'portalFolder' | 'isTimeStill' | 'receivers'> = {},
): Promise<World> {
  return startWorld(t, { files, registry, storedOrder, settings, ...more })
}

export const demoToken = 'das_demo_things'
