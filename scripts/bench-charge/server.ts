/**
 * A server of its own over the built modules, wired as app.ts does, for `bench-charge.ts`: with the
 * product's charge queue (`queue`), or with one that grants whatever is asked and writes nothing
 * (`none`). It tells its port and token, and how often it charged and wrote whenever it is asked.
 */
import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Charges } from '../../src/access/charge-queue.js'
import { built } from './built.js'

const [kind = '', registryPath = '', folder = ''] = process.argv.slice(2)
const memoryLimitBytes = 1024 ** 3
const logger = pino({ level: 'silent' })
const counts = { charges: 0, writes: 0 }

/** What the same server would cost if nothing had to be recorded. */
const unrecorded: Charges = {
  charge: ({ rows, period }) =>
    Promise.resolve({ granted: rows, period, datasetUsed: rows, globalUsed: rows }),
}

async function chargesOf(path: string): Promise<Charges> {
  if (kind === 'none') return unrecorded
  const { ChargeQueue } = await built('access/charge-queue')
  const { ChargeStore } = await built('control/charge-store')
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
  const { DuckDbEngine } = await built('engine/duckdb/duckdb-engine')
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
  const { openCatalog, readRegistry, versionsFolderOf } = await built('catalog/catalog')
  const versionsFolder = versionsFolderOf(folder)
  await mkdir(versionsFolder, { recursive: true })
  const { openerFor } = await built('app/reading')
  const catalog = await openCatalog(await readRegistry(registryPath), {
    openFiles: openerFor(memoryLimitBytes),
    versionsFolder,
  })
  const { ControlStore } = await built('control/store')
  const path = join(folder, 'control.db')
  const control = ControlStore.open(path)
  const { createSubscription } = await built('control/subscriptions')
  const { token } = createSubscription(control, {
    email: 'bench@example.org',
    grants: [{ dataset: 'financials', plan: 'bench' }],
    months: 1,
    globalRows: null,
    priceRub: 0,
    language: 'en',
    now: Date.now,
  })
  const { LastUsed } = await built('control/last-used')
  const { createService } = await built('service')
  const engine = await openEngine(versionsFolder)
  const service = createService({
    catalog: () => catalog,
    control,
    charges: await chargesOf(path),
    lastUsed: new LastUsed(control, Date.now, () => undefined),
    engine,
    cursorKey: randomBytes(32),
    now: Date.now,
  })
  const { buildServer } = await built('http/server')
  const server = buildServer({
    service,
    logger,
    trustProxy: [],
    corsOrigins: [],
    doors: [],
    isReady: () => true,
    isUpToDate: () => true,
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
