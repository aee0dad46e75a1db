/**
 * A server of its own over the product's modules, wired as app.ts does, for `bench-charge.ts`: with the
 * product's charge queue (`queue`), or with one that grants whatever is asked and writes nothing
 * (`none`). It tells its port and token, and how often it charged and wrote whenever it is asked.
 */
import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { ChargeQueue } from '../../src/access/charge-queue.js'
import type { Charges } from '../../src/access/charge-queue.js'
import { openerFor } from '../../src/app/reading.js'
import { openCatalog, readRegistry, versionsFolderOf } from '../../src/catalog.js'
import { ChargeStore } from '../../src/control/charge-store.js'
import { LastUsed } from '../../src/control/tokens/last-used.js'
import { ControlStore } from '../../src/control/store/store.js'
import { createSubscription } from '../../src/control/subscriptions.js'
import { DuckDbEngine } from '../../src/engine/duckdb/duckdb-engine.js'
import { buildServer } from '../../src/http/server.js'
import { createService } from '../../src/service.js'

const [kind = '', registryPath = '', folder = ''] = process.argv.slice(2)
const memoryLimitBytes = 1024 ** 3
const logger = pino({ level: 'silent' })
const counts = { charges: 0, writes: 0 }

/** What the same server would cost if nothing had to be recorded. */
const unrecorded: Charges = {
  charge: ({ rows, period }) =>
    Promise.resolve({ granted: rows, period, datasetUsed: rows, globalUsed: rows }),
}

function chargesOf(path: string): Charges {
  if (kind === 'none') return unrecorded
  const store = ChargeStore.open(path, { busyTimeoutMs: 50 })
  const queue = new ChargeQueue(store)
  store.watchWrites(() => {
    counts.writes += 1
  })
  return {
    charge: (charge, signal) => {
      counts.charges += 1
      return queue.charge(charge, signal)
    },
  }
}

async function openEngine(versions: string) {
  const tempFolder = join(folder, 'tmp')
  await mkdir(tempFolder)
  return DuckDbEngine.open({
    folders: [versions],
    tempFolder,
    memoryLimitBytes,
    threads: availableParallelism(),
    slots: availableParallelism(),
    queueMax: 256,
    waitMaxMs: 5000,
  })
}

async function start() {
  const versionsFolder = versionsFolderOf(folder)
  await mkdir(versionsFolder, { recursive: true })
  const catalog = await openCatalog(await readRegistry(registryPath), {
    openFiles: openerFor(memoryLimitBytes),
    versionsFolder,
  })
  const path = join(folder, 'control.db')
  const control = ControlStore.open(path)
  const { token } = createSubscription(control, {
    email: 'bench@example.org',
    grants: [{ dataset: 'financials', plan: 'bench' }],
    months: 1,
    globalRows: null,
    priceRub: 0,
    language: 'en',
    now: Date.now,
  })
  const engine = await openEngine(versionsFolder)
  const service = createService({
    catalog: () => catalog,
    control,
    charges: chargesOf(path),
    lastUsed: new LastUsed(control, Date.now, () => undefined),
    engine,
    cursorKey: randomBytes(32),
    now: Date.now,
  })
  const server = buildServer({
    service,
    logger,
    trustProxy: [],
    corsOrigins: [],
    doors: [],
    isReady: () => true,
    isUpToDate: () => true,
    isDamaged: () => false,
  })
  const base = await server.listen({ host: '127.0.0.1', port: 0 })
  process.on('message', () => process.send?.(counts))
  process.on('disconnect', () => {
    void server
      .close()
      .then(() => engine.close())
      .then(() => control.close())
  })
  process.send?.({ base, token })
}

await start()
