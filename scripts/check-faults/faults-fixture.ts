import { join } from 'node:path'
import { age } from '../../test/support/damage.js'
import { openDuckDb, writeParquet } from '../harness/duckdb.js'
import {
  das,
  makeFixture,
  makeFolder,
  subscribe,
  unlimited,
  writeRegistry,
} from '../harness/fixture.js'
import type { Fixture, Sold } from '../harness/fixture.js'
import type { Run } from '../harness/script.js'
import { system } from '../harness/process.js'
import { rowCount, rowsSql } from './rows.js'

/** The same rows as dropped, and with a packed copy that has a search file. */
export const datasets = ['plain', 'packed'] as const

/** A fixture with a subscription that watches, and another whose rows nobody counts. */
export interface FaultsFixture extends Fixture {
  readonly watcher: Sold
  readonly other: Sold
  /** The path of control.db. */
  readonly database: string
}

/** Rows of a page of an export. */
const limitMax = 1000

/** Makes data, packed copy and subscriptions once; each fault gets a copy of the folder. */
export async function makeFaultsFixture(run: Run): Promise<FaultsFixture> {
  const fixture = await makeFixture(await makeFolder(run, 'check-faults'))
  const { folder } = fixture
  using duckdb = await openDuckDb()
  const half = rowCount / 2
  await writeParquet(duckdb, join(folder, 'data', '1.parquet'), rowsSql(0, half))
  await writeParquet(duckdb, join(folder, 'data', '2.parquet'), rowsSql(half, rowCount))
  // A whole second, which rot leaves as it was.
  for (const name of ['1', '2']) age(join(folder, 'data', `${name}.parquet`))
  const entry = {
    title: 'Rows',
    files: 'data/*.parquet',
    require_filter: false,
    limit: { default: 100, max: limitMax },
    plans: { all: unlimited },
  }
  const packed = { ...entry, key: 'id', columns: { word: { search: true } } }
  await writeRegistry(folder, { plain: entry, packed })
  const { code, stderr } = await das(fixture, ['dataset', 'pack', 'packed'])
  if (code !== 0) throw new Error(`das dataset pack failed: ${stderr}`)
  const plans = datasets.map((name) => `${name}:all`)
  const year = ['--months', '12']
  const watcher = await subscribe(fixture, plans, year)
  const other = await subscribe(fixture, plans, year)
  return { ...fixture, watcher, other, database: join(folder, 'state', 'control.db') }
}

/** A copy in a folder, which may be a mounted file system. */
export async function copyFixture(made: FaultsFixture, folder: string): Promise<FaultsFixture> {
  // With its hard links: stored versions share their bytes with the dropped files.
  await system('cp', '-a', `${made.folder}/.`, folder)
  return { ...made, folder, database: join(folder, 'state', 'control.db') }
}
