import { mkdir } from 'node:fs/promises'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { openDuckDb, writeParquet } from '../harness/duckdb.js'
import {
  makeFixture,
  makeFolder,
  serve,
  subscribe,
  unlimited,
  writeRegistry,
} from '../harness/fixture.js'
import { send } from '../harness/http.js'
import type { Target } from '../harness/http.js'
import type { Run } from '../harness/script.js'
import { createHiveTable, startTrinoServer } from '../harness/trino.js'
import type { DescribedColumn } from '../harness/trino.js'
import { eventually } from '../harness/wait.js'

/** The dataset of files, then that of the table: the first is what the second is compared with. */
export const datasets = ['files', 'table'] as const

const yearsOfTable = 10
const plan = 'bench'
const servedMsMax = 300_000

/** The rows: ids from 0 on, in order. */
function select(rows: number): string {
  return `SELECT i AS id, (2015 + i % ${yearsOfTable})::INTEGER AS year,
    'name ' || (i * 7919) % 1000003 AS name, 'city ' || i % 1117 AS city,
    ((i * 104729) % 100000007 / 100)::DECIMAL(12,2) AS price, (i * 31) % 1009 AS pieces,
    (i % 1000) / 1000.0::DOUBLE AS share, DATE '2015-01-01' + (i % 3650)::INTEGER AS day
    FROM range(${rows}) t(i)`
}

const columns: readonly DescribedColumn[] = [
  ['id', 'BIGINT'],
  ['year', 'INTEGER'],
  ['name', 'VARCHAR'],
  ['city', 'VARCHAR'],
  ['price', 'DECIMAL(12,2)'],
  ['pieces', 'BIGINT'],
  ['share', 'DOUBLE'],
  ['day', 'DATE'],
]

/**
 * Makes one Parquet file, a table of Trino over it and a dataset over each, and starts Trino and
 * the built server, with one subscription.
 *
 * @throws Error where Trino can't be started
 */
export async function startBoth(rows: number, run: Run): Promise<Omit<Target, 'agent'>> {
  const fixture = await makeFixture(await makeFolder(run, 'bench-trino'))
  const folder = join(fixture.folder, 'data', 'things')
  await mkdir(folder)
  using duckdb = await openDuckDb()
  await writeParquet(duckdb, join(folder, 'rows.parquet'), select(rows))
  run.update('starting Trino')
  const cluster = await startTrinoServer((close) => run.cleanup.add(close))
  await createHiveTable(cluster, 'things', folder, columns)
  const plans = { [plan]: unlimited }
  // The first questions wait until Trino has compiled itself.
  const more = { require_filter: false, timeout_seconds: 60 }
  const entry = { title: 'Things', key: 'id', plans, ...more }
  const engine = { trino: cluster.url }
  await writeRegistry(fixture.folder, {
    files: { ...entry, files: 'data/things/rows.parquet' },
    table: { ...entry, engine, table: 'hive.das.things' },
  })
  const sold = datasets.map((dataset) => `${dataset}:${plan}`)
  const { token } = await subscribe(fixture, sold)
  const { base } = await serve(fixture, run.cleanup)
  // A start does not wait long for a cluster that has just started itself.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const wait = { withinMs: servedMsMax, everyMs: 1000 }
  for (const dataset of datasets) {
    const message = { method: 'GET', path: `/v1/${dataset}?id=eq.0`, body: '' } as const
    await eventually(`the dataset ${dataset} is served`, wait, async () =>
      (await send({ base, token, agent }, message)).status === 200 ? true : undefined,
    )
  }
  agent.destroy()
  return { base, token }
}
