/**
 * A server over the product's modules, wired like app.ts, for `bench-charge.ts`: with the product's
 * charge queue over SQLite or a PostgreSQL, or with one that grants every charge and writes nothing.
 */
import { RateLimits } from '../../src/access/rate-limits.js'
import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { ChargeQueue } from '../../src/access/charge-queue.js'
import type { Charges, DurableCharges } from '../../src/access/charge-queue.js'
import { openEngine, openerFor } from '../../src/app/reading.js'
import { openCatalog, readRegistry, versionsFolderOf } from '../../src/catalog.js'
import { ChargeStore } from '../../src/control/charge-store.js'
import { PostgresCharges } from '../../src/control/postgres/postgres-charges.js'
import { PostgresStore } from '../../src/control/postgres/postgres-store.js'
import { LastUsed } from '../../src/control/tokens/last-used.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { buildServer } from '../../src/http/server.js'
import { createService } from '../../src/service.js'
import { serveOrders } from '../harness/worker.js'
import { sellBenchPlan } from './sell.js'
import { machine } from '../../test/support/machine.js'
import { machineClock } from '../../src/clock.js'
import { machineRandom } from '../../src/random.js'

/** How the server is to run; the same order again asks how often it has charged. */
export interface ChargeServerOrder {
  readonly isCharging: boolean
  readonly registry: string
  readonly folder: string
  /** The PostgreSQL of its records; null = control.db in the folder. */
  readonly controlUrl: string | null
}

export interface ChargeServerState {
  readonly base: string
  readonly token: string
  /** How often it has charged so far, and in how many transactions. */
  readonly charges: number
  readonly writes: number
}

const memoryLimitBytes = 1024 ** 3
const counts = { charges: 0, writes: 0 }

/** What the same server costs when nothing is recorded. */
const unrecorded: Charges = {
  charge: ({ rows, period }) =>
    Promise.resolve({ granted: rows, period, datasetUsed: rows, globalUsed: rows }),
}

function recorded(path: string, controlUrl: string | null): Charges {
  const queue = new ChargeQueue(
    controlUrl === null ? ofFile(path) : ofDatabase(controlUrl),
    machineClock,
  )
  return {
    charge: (charge, signal) => {
      counts.charges += 1
      return queue.charge(charge, signal)
    },
  }
}

function ofFile(path: string): ChargeStore {
  const store = ChargeStore.open(path, { ...machine, busyTimeoutMs: 50 })
  store.watchWrites(() => {
    counts.writes += 1
  })
  return store
}

function ofDatabase(url: string): DurableCharges {
  const store = PostgresCharges.open(url)
  return {
    chargeAll: (batch) => {
      counts.writes += 1
      return store.chargeAll(batch)
    },
    synced: () => store.synced(),
    close: () => store.close(),
  }
}

async function start({ isCharging, registry, folder, controlUrl }: ChargeServerOrder) {
  const versionsFolder = versionsFolderOf(folder)
  await mkdir(versionsFolder, { recursive: true })
  const catalog = await openCatalog(await readRegistry(registry), {
    clock: machineClock,
    openFiles: openerFor(memoryLimitBytes),
    versionsFolder,
  })
  const path = join(folder, 'control.db')
  const control =
    controlUrl === null ? SqliteStore.open(path, machine) : PostgresStore.open(controlUrl, machine)
  const { token } = await sellBenchPlan(control)
  const tempFolder = join(folder, 'tmp')
  await mkdir(tempFolder)
  const options = {
    clock: machineClock,
    folders: [versionsFolder],
    tempFolder,
    memoryLimitBytes,
    slots: null,
  }
  const engine = await openEngine(options)
  const service = createService({
    rates: RateLimits.inMemory(() => performance.now(), machineRandom),
    catalog: () => catalog,
    control,
    charges: isCharging ? recorded(path, controlUrl) : unrecorded,
    lastUsed: new LastUsed(control, Date.now, () => undefined),
    engine,
    cursorKey: randomBytes(32),
    clock: machineClock,
  })
  const server = buildServer({
    clock: machineClock,
    random: machineRandom,
    service,
    logger: pino({ level: 'silent' }),
    trustProxy: [],
    corsOrigins: [],
    doors: [],
    isReady: async () => true,
    isUpToDate: () => true,
    isDamaged: () => false,
    isStopping: () => false,
  })
  const close = async () => {
    await server.close()
    await engine.close()
    await control.close()
  }
  return { base: await server.listen({ host: '127.0.0.1', port: 0 }), token, close }
}

let running: Awaited<ReturnType<typeof start>> | null = null

async function answer(order: ChargeServerOrder): Promise<ChargeServerState> {
  running ??= await start(order)
  return { base: running.base, token: running.token, ...counts }
}

serveOrders(answer, async () => running?.close())
