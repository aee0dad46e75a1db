import fs, { statSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import t from 'tap'
import type { Test } from 'tap'
import { ChargeStore } from '../../src/control/charge-store.js'
import { sql } from '../../src/control/store/sql.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { readUsage } from '../../src/control/usage.js'
import { storePath, subscribe } from './fixtures/store.js'
import { machine } from '../support/machine.js'
import { MovingClock } from '../support/moving-clock.js'

// Guarantee: a charge is on disk before anybody hears that it was made.

const period = '2026-06'

interface Sync {
  readonly file: number
  readonly finish: () => void
  readonly fail: (cause: Error) => void
}

/** A charge store whose syncs end when the test says so. */
async function openCharges(t: Test) {
  const path = storePath(t)
  const clock = new MovingClock(0)
  const control = SqliteStore.open(path, machine)
  const { subscriptionId } = await subscribe(control)
  const syncs: Sync[] = []
  const charges = ChargeStore.open(path, {
    ...machine,
    clock,
    busyTimeoutMs: 1,
    sync: (file) =>
      new Promise((resolve, reject) => {
        syncs.push({ file, finish: resolve, fail: reject })
      }),
  })
  t.teardown(async () => {
    await charges.close()
    await control.close()
  })
  const caps = { datasetRowsMax: null, globalRowsMax: null }
  const charge = (rows: number) =>
    charges.chargeAll([{ subscriptionId, dataset: 'financials', period, rows, ...caps }])
  const used = async () => (await readUsage(control, subscriptionId, period)).total
  return { path, clock, charges, charge, used, syncs }
}

/** Lets everything run that waits for nothing but its turn. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

await t.test(
  'every process counts a charge at once, and it is durable after the sync',
  async (t) => {
    const { charges, charge, used, syncs } = await openCharges(t)
    t.match(await charge(7), [{ granted: 7, datasetUsed: 7 }])
    t.equal(await used(), 7, 'another connection sees it')
    let isDurable = false
    const synced = charges.synced().then(() => {
      isDurable = true
    })
    await turn()
    t.equal(syncs.length, 1)
    t.notOk(isDurable)
    syncs[0]?.finish()
    await synced
    t.ok(isDurable)
  },
)

await t.test('charges committed during two syncs wait together for the next one', async (t) => {
  const { charges, charge, syncs } = await openCharges(t)
  const ended: string[] = []
  const commit = async (...names: readonly string[]) => {
    await Promise.all(names.map(() => charge(1)))
    for (const name of names) void charges.synced().then(() => ended.push(name))
    await turn()
  }
  await commit('a', 'b')
  t.equal(syncs.length, 1, 'one sync for both')
  await commit('c')
  t.equal(syncs.length, 2, 'c may have come too late for it')
  const [first, second] = syncs
  t.not(first?.file, second?.file, 'a failed write is told once for each open file')
  await commit('d', 'e')
  t.equal(syncs.length, 2, 'no more than two at the same time')
  syncs[1]?.finish()
  await turn()
  t.same(ended, ['c'], 'each hears of its own sync')
  t.equal(syncs.length, 3)
  t.equal(syncs[2]?.file, second?.file)
  syncs[2]?.finish()
  await turn()
  t.same(ended, ['c', 'd', 'e'])
  syncs[0]?.finish()
  await turn()
  t.same(ended, ['c', 'd', 'e', 'a', 'b'])
})

await t.test('a failed sync is a 503; committed charges stay', async (t) => {
  const { path, charges, charge, used, syncs } = await openCharges(t)
  const ends: unknown[] = []
  charges.watchWrites((failure) => ends.push(failure?.cause))
  await charge(7)
  const failed = charges.synced()
  await turn()
  const cause = new Error('EIO: i/o error, fdatasync')
  syncs[0]?.fail(cause)
  await t.rejects(failed, { code: 'service_unavailable', retryAfterSeconds: 5, cause })
  t.same(ends, [cause], 'and readiness hears of it')
  t.equal(await used(), 7)
  const before = statSync(`${path}-wal`).size
  t.match(await charge(1), [{ datasetUsed: 8 }])
  t.ok(statSync(`${path}-wal`).size < before, 'the log, which may have a hole, is begun anew')
  const synced = charges.synced()
  await turn()
  syncs[1]?.finish()
  await synced
})

await t.test('while a reader uses a log with a gap, nothing is charged', async (t) => {
  const { path, charges, charge, used, syncs } = await openCharges(t)
  await charge(7)
  const failed = charges.synced()
  await turn()
  syncs[0]?.fail(new Error('EIO'))
  await t.rejects(failed, { code: 'service_unavailable' })
  const reader = SqliteStore.open(path, machine)
  t.teardown(async () => {
    await reader.close()
  })
  reader.file.db.exec('BEGIN')
  t.equal((await reader.all(sql`SELECT * FROM usage`)).length, 1)
  await t.rejects(() => charge(1), {
    code: 'service_unavailable',
    cause: { message: 'the write-ahead log is in use' },
  })
  reader.file.db.exec('COMMIT')
  t.match(await charge(1), [{ datasetUsed: 8 }])
  t.equal(await used(), 8)
})

await t.test('commits after a failed sync are repaired first', async (t) => {
  const { path, charges, charge, syncs } = await openCharges(t)
  await charge(1)
  const first = charges.synced()
  await turn()
  await charge(1)
  const second = charges.synced()
  const before = statSync(`${path}-wal`).size
  await turn()
  await charge(1)
  const third = charges.synced()
  syncs[0]?.fail(new Error('EIO'))
  await t.rejects(first, { code: 'service_unavailable' })
  await third
  syncs[1]?.finish()
  await second
  t.equal(syncs.length, 2, 'Linux tells of a failure once: the next sync would prove nothing')
  t.equal(statSync(`${path}-wal`).size, 0, 'all of it is in the database, durably')
  t.ok(before > 0)
})

await t.test('charges wait for a silent disk no longer than the time limit', async (t) => {
  const { clock, charges, charge, syncs, used } = await openCharges(t)
  const ends: unknown[] = []
  charges.watchWrites((failure) => ends.push(failure?.cause))
  await charge(7)
  const message = 'the disk took longer than 5000 ms'
  const late = t.rejects(charges.synced(), { code: 'service_unavailable', cause: { message } })
  await clock.advance(4999)
  t.same(ends, [])
  await clock.advance(1)
  await late
  t.match(ends, [{ message }])
  await charge(1)
  const later = charges.synced()
  syncs[0]?.finish()
  await turn()
  syncs[1]?.finish()
  await later
  t.equal(await used(), 8)
})

/** For everybody who imports it from now on, or did. */
function replaceFdatasync(by: unknown): void {
  Object.assign(fs, { fdatasync: by })
  syncBuiltinESMExports()
}

// Guarantee: it is the log that is synced, and by the system's own call.
await t.test('by default, the log is synced with fdatasync after it was written', async (t) => {
  const synced: [string, number][] = []
  const { fdatasync } = fs
  const spied = (file: number, done: (cause: Error | null) => void) => {
    synced.push([fs.readlinkSync(`/proc/self/fd/${file}`), fs.fstatSync(file).size])
    fdatasync(file, done)
  }
  replaceFdatasync(spied)
  t.teardown(() => replaceFdatasync(fdatasync))
  const path = storePath(t)
  const control = SqliteStore.open(path, machine)
  const { subscriptionId } = await subscribe(control)
  const charges = ChargeStore.open(path, { ...machine, busyTimeoutMs: 1 })
  const before = statSync(`${path}-wal`).size
  const caps = { datasetRowsMax: null, globalRowsMax: null }
  await charges.chargeAll([{ subscriptionId, dataset: 'financials', period, rows: 5, ...caps }])
  await charges.synced()
  t.equal(synced.length, 1)
  const [[file = '', size = 0] = []] = synced
  t.equal(file, `${path}-wal`)
  t.ok(size > before, 'the charge is in it')
  await charges.close()
  await charges.close()
  t.equal((await readUsage(control, subscriptionId, period)).total, 5)
  await control.close()
})
