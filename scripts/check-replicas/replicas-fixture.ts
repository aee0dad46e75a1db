import { join } from 'node:path'
import { PostgresStore } from '../../src/control/postgres/postgres-store.js'
import { createSubscription } from '../../src/control/subscriptions.js'
import type { Cleanup } from '../harness/cleanup.js'
import { openDuckDb, writeParquet } from '../harness/duckdb.js'
import { makeFixture, makeFolder, unlimited, writeRegistry } from '../harness/fixture.js'
import { startPostgresServer } from '../harness/postgres.js'
import type { PostgresServer } from '../harness/postgres.js'
import type { Run } from '../harness/script.js'
import { machine } from '../../test/support/machine.js'

/** One registry, one PostgreSQL, and who may ask. */
export interface ReplicasFixture {
  readonly folder: string
  readonly postgres: PostgresServer
  readonly subscribers: readonly Subscriber[]
}

/** A subscription that asks. */
export interface Subscriber {
  readonly id: string
  readonly token: string
}

/** The only dataset: ids from 0 on, in order. */
export const dataset = 'things'
export const rowsOfDataset = 20_000
const labelLetters = 300
export const plan = 'large'
const subscribersCount = 4

/** The value of a row, which clients compare. */
export function valueOf(id: number): number {
  return (id * 7919) % 1_000_003
}

/**
 * Makes data and registry, starts PostgreSQL with these settings and sells; a failed run keeps the
 * folder.
 */
export async function makeReplicasFixture(
  run: Run,
  settings: readonly string[] = [],
): Promise<ReplicasFixture> {
  const { folder } = await makeFixture(await makeFolder(run, 'check-replicas', { isKept: true }))
  using duckdb = await openDuckDb()
  const columns = `i AS id, (i * 7919) % 1000003 AS value, repeat('x', ${labelLetters}) AS label`
  const rows = `SELECT ${columns} FROM range(${rowsOfDataset}) t(i)`
  await writeParquet(duckdb, join(folder, 'data', `${dataset}.parquet`), rows)
  const files = `data/${dataset}.parquet`
  const plans = { [plan]: unlimited }
  await writeRegistry(folder, {
    [dataset]: { title: 'Things', files, require_filter: false, plans },
  })
  const postgres = await startPostgresServer((close) => run.cleanup.add(close), { settings })
  return { folder, postgres, subscribers: await sell(postgres.url, run.cleanup) }
}

async function sell(url: string, cleanup: Cleanup): Promise<readonly Subscriber[]> {
  const store = PostgresStore.open(url, machine)
  const forget = cleanup.add(() => store.close())
  const sold: Subscriber[] = []
  while (sold.length < subscribersCount) {
    const { subscriptionId, token } = await createSubscription(store, {
      email: `buyer${sold.length}@example.org`,
      grants: [{ dataset, plan }],
      months: 1,
      globalRows: null,
      priceRub: 0,
      language: 'en',
      now: Date.now,
    })
    sold.push({ id: subscriptionId, token })
  }
  forget()
  await store.close()
  return sold
}

/** Rows charged by subscription, as the database says. */
export async function readCharged(url: string): Promise<ReadonlyMap<string, number>> {
  const store = PostgresStore.open(url, { ...machine, size: 1 })
  try {
    const found = await store.all<{ id: string; rows: number }>(
      'SELECT subscription_id AS id, sum(rows)::bigint AS rows FROM usage GROUP BY subscription_id',
    )
    return new Map(found.map(({ id, rows }) => [id, rows]))
  } finally {
    await store.close()
  }
}
