import { join } from 'node:path'
import { openDuckDb, writeParquet } from '../harness/duckdb.js'
import { makeFixture, makeFolder, subscribe, unlimited, writeRegistry } from '../harness/fixture.js'
import type { Fixture } from '../harness/fixture.js'
import type { Run } from '../harness/script.js'
import type { Cap } from './rule.js'

/** A fixture with two datasets, `short` and `long`. */
export interface ChargesFixture extends Fixture {
  /** The path of control.db. */
  readonly database: string
}

/** A subscription that asks, and how much it may have. */
export interface Subscriber {
  readonly id: string
  readonly token: string
  readonly caps: readonly Cap[]
}

/** Names of the datasets, which have the same columns. */
export const datasets = ['short', 'long'] as const
/** Letters of a row's label: those of `long` make a kill cut answers in the middle. */
const labelLetters = { short: 100, long: 2000 } as const
/** Ids from 0 on. */
export const rowsOfDataset = 2000
/** `id` and `label`. */
export const columnsOfDataset = 2

/** Rows a month: far above any run, and about what ten cycles ask for. */
const planRows = { large: 1_000_000_000, small: 4000 } as const
const globalRows = 8000

/** Makes data and registry; a failed run keeps them. */
export async function makeChargesFixture(run: Run): Promise<ChargesFixture> {
  const fixture = await makeFixture(await makeFolder(run, 'check-charges', { isKept: true }))
  const { folder } = fixture
  using duckdb = await openDuckDb()
  for (const name of datasets) {
    const label = `repeat('x', ${labelLetters[name]}) AS label`
    const rows = `SELECT i AS id, ${label} FROM range(${rowsOfDataset}) t(i)`
    await writeParquet(duckdb, join(folder, 'data', `${name}.parquet`), rows)
  }
  const plans = Object.fromEntries(
    Object.entries(planRows).map(([name, rows]) => [name, { ...unlimited, rows_per_month: rows }]),
  )
  const entries = datasets.map((name) => {
    return [name, { title: name, files: `data/${name}.parquet`, require_filter: false, plans }]
  })
  await writeRegistry(folder, Object.fromEntries(entries))
  return { ...fixture, database: join(folder, 'state', 'control.db') }
}

/** Sells a subscription that no run uses up. */
export function sellLarge(fixture: Fixture): Promise<Subscriber> {
  return sell(fixture, 'large', null)
}

/** Sells two that are soon used up: one by the quota of each dataset, one by that of both. */
export async function sellLimited(fixture: Fixture): Promise<readonly Subscriber[]> {
  return [await sell(fixture, 'small', null), await sell(fixture, 'large', globalRows)]
}

async function sell(
  fixture: Fixture,
  plan: keyof typeof planRows,
  rowsOfAll: number | null,
): Promise<Subscriber> {
  const plans = datasets.map((dataset) => `${dataset}:${plan}`)
  const limit = rowsOfAll === null ? [] : ['--global-rows', String(rowsOfAll)]
  const { subscription, token } = await subscribe(fixture, plans, limit)
  const caps: Cap[] = datasets.map((dataset) => ({ subscription, dataset, rows: planRows[plan] }))
  if (rowsOfAll !== null) caps.push({ subscription, dataset: null, rows: rowsOfAll })
  return { id: subscription, token, caps }
}
