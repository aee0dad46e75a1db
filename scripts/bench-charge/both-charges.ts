import { join } from 'node:path'
import type { DurableCharges } from '../../src/access/charge-queue.js'
import { ChargeStore } from '../../src/control/charge-store.js'
import { PostgresCharges } from '../../src/control/postgres/postgres-charges.js'
import { PostgresStore } from '../../src/control/postgres/postgres-store.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import type { ControlStore } from '../../src/control/store/store.js'
import { periodOf } from '../../src/control/usage.js'
import { median } from '../harness/statistics.js'
import { grant, sellBenchPlan } from './sell.js'
import { machine } from '../../test/support/machine.js'

/** Durable charges with nothing else going on, one batch at a time. */
export interface ChargeTimes {
  readonly single: BothTimes
  /** As many charges in a batch as there are clients. */
  readonly batch: BothTimes
}

/** Medians, in milliseconds. */
interface BothTimes {
  readonly postgresMs: number
  readonly sqliteMs: number
  /** Of the difference of neighbouring charges. */
  readonly moreMs: number
}

const runs = 300
const warmUps = 30

/** Charges in a PostgreSQL and in a file of this folder in turns. */
export async function measureCharge(
  folder: string,
  url: string,
  batch: number,
): Promise<ChargeTimes> {
  const path = join(folder, 'charges.db')
  await using file = await opened(
    SqliteStore.open(path, machine),
    ChargeStore.open(path, { ...machine, busyTimeoutMs: 50 }),
  )
  await using database = await opened(PostgresStore.open(url, machine), PostgresCharges.open(url))
  const sides = [database.charge, file.charge] as const
  for (let turn = 0; turn < warmUps; turn += 1) await pairOf(sides, 1)
  return { single: await compare(sides, 1), batch: await compare(sides, batch) }
}

/** Charges so many rows, each by itself, in one batch; takes milliseconds. */
type Timed = (count: number) => Promise<number>

async function opened(
  control: ControlStore & { close: () => Promise<void> },
  store: DurableCharges,
) {
  const { subscriptionId } = await sellBenchPlan(control)
  const caps = { datasetRowsMax: 1e9, globalRowsMax: null }
  const one = { subscriptionId, dataset: grant.dataset, rows: 1, ...caps }
  const charge: Timed = async (count) => {
    const period = periodOf(Date.now())
    const startedMs = performance.now()
    await store.chargeAll(Array.from({ length: count }, () => ({ ...one, period })))
    await store.synced()
    return performance.now() - startedMs
  }
  const close = async () => {
    await store.close()
    await control.close()
  }
  return { charge, [Symbol.asyncDispose]: close }
}

async function compare(sides: readonly [Timed, Timed], count: number): Promise<BothTimes> {
  const pairs: (readonly [number, number])[] = []
  while (pairs.length < runs) pairs.push(await pairOf(sides, count))
  return {
    postgresMs: median(pairs.map(([postgres]) => postgres)),
    sqliteMs: median(pairs.map(([, sqlite]) => sqlite)),
    moreMs: median(pairs.map(([postgres, sqlite]) => postgres - sqlite)),
  }
}

async function pairOf([postgres, sqlite]: readonly [Timed, Timed], count: number) {
  return [await postgres(count), await sqlite(count)] as const
}
