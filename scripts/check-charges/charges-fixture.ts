import { DuckDBInstance } from '@duckdb/node-api'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Cap } from './rule.js'

/** A folder with data, a registry and a server's state. */
export interface House {
  readonly folder: string
  readonly database: string
}

/** A subscription that asks, and how much it may have. */
export interface Subscriber {
  readonly id: string
  readonly token: string
  readonly caps: readonly Cap[]
}

/** Names of the datasets, all of one shape. */
export const datasets = ['short', 'long'] as const
/** Letters of a row's label. */
const labelLetters = { short: 100, long: 2000 } as const
/** Ids from 0 on. */
export const rowsOfDataset = 2000

/** Rows a month: far above any run, and about what ten cycles ask for. */
const planRows = { large: 1_000_000_000, small: 4000 } as const
const globalRows = 8000

const run = promisify(execFile)
const Created = Type.Object({ subscription: Type.String(), token: Type.String() })

/** The built command line. */
export const launcher = resolve('dist', 'das.cjs')

/** Makes the folder; rows of one dataset are so long that a kill cuts answers in the middle. */
export async function buildHouse(): Promise<House> {
  const folder = await mkdtemp(join(tmpdir(), 'das-check-charges-'))
  await mkdir(join(folder, 'data'))
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  for (const name of datasets) {
    const label = `repeat('x', ${labelLetters[name]}) AS label`
    const rows = `SELECT i AS id, ${label} FROM range(${rowsOfDataset}) t(i)`
    await connection.run(`COPY (${rows}) TO '${join(folder, 'data', name)}.parquet'`)
  }
  connection.closeSync()
  instance.closeSync()
  await writeFile(join(folder, 'registry.yaml'), registryText())
  return { folder, database: join(folder, 'var', 'control.db') }
}

/** Sells a subscription that no run uses up. */
export function addLarge(house: House): Promise<Subscriber> {
  return subscribe(house, 'large', null)
}

/** Sells two that are soon used up: one by the quota of each dataset, one by that over both. */
export async function addLimited(house: House): Promise<readonly Subscriber[]> {
  return [await subscribe(house, 'small', null), await subscribe(house, 'large', globalRows)]
}

/** The options by which every command finds the house. */
export function placeOptions({ folder }: House): readonly string[] {
  return ['--registry', join(folder, 'registry.yaml'), '--state', join(folder, 'var')]
}

/** The environment without settings that the caller made for a server of their own. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('DAS_'))
  return Object.fromEntries(entries)
}

async function subscribe(
  house: House,
  plan: keyof typeof planRows,
  rowsOfAll: number | null,
): Promise<Subscriber> {
  const plans = datasets.flatMap((dataset) => ['--plan', `${dataset}:${plan}`])
  const most = rowsOfAll === null ? [] : ['--global-rows', String(rowsOfAll)]
  const what = ['subscription', 'create', '--json', '--email', 'buyer@example.org']
  const argv = [launcher, ...what, ...plans, ...most, ...placeOptions(house)]
  const { stdout } = await run(process.execPath, argv, { env: bareEnvironment() })
  const { subscription, token } = Value.Parse(Created, JSON.parse(stdout))
  const caps: Cap[] = datasets.map((dataset) => ({ subscription, dataset, rows: planRows[plan] }))
  if (rowsOfAll !== null) caps.push({ subscription, dataset: null, rows: rowsOfAll })
  return { id: subscription, token, caps }
}

/** JSON is YAML too. The rate never refuses: it would only keep clients from the quota. */
function registryText(): string {
  const plans = Object.fromEntries(
    Object.entries(planRows).map(([name, rows]) => [
      name,
      { rows_per_month: rows, history: 'all', price_rub: 0, rate_per_minute: 1_000_000_000 },
    ]),
  )
  const entries = datasets.map((name) => [
    name,
    { title: name, files: `data/${name}.parquet`, require_filter: false, plans },
  ])
  return JSON.stringify({ datasets: Object.fromEntries(entries) })
}
