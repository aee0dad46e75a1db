import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import Database from 'better-sqlite3'
import t from 'tap'
import { ChargeQueue } from '../../../src/access/charge-queue.js'
import { ChargeStore } from '../../../src/control/charge-store.js'
import type { ChargeStoreOptions } from '../../../src/control/charge-store.js'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import { readUsage } from '../../../src/control/usage.js'
import { storePath, subscribe } from '../../control/fixtures/store.js'
import { machine } from '../../support/machine.js'
import { MovingClock } from '../../support/moving-clock.js'

// Guarantee: what is answered is charged, and what is refused or abandoned is not.

const period = '2026-06'
const stays = new AbortController().signal

/** A queue over a store that gives up on locks at once, and a second connection that locks it. */
async function openQueue(t: Parameters<typeof storePath>[0], sync?: ChargeStoreOptions['sync']) {
  const path = storePath(t)
  const clock = new MovingClock(0)
  const store = SqliteStore.open(path, machine)
  const charges = ChargeStore.open(path, {
    ...machine,
    clock,
    busyTimeoutMs: 0,
    ...(sync && { sync }),
  })
  const { subscriptionId } = await subscribe(store)
  const holder = new Database(path)
  const queue = new ChargeQueue(charges, clock)
  t.teardown(async () => {
    holder.close()
    await queue.close()
    await store.close()
  })
  const charge = (rows: number, signal: AbortSignal = stays) =>
    queue.charge(
      {
        subscriptionId,
        dataset: 'financials',
        period,
        rows,
        datasetRowsMax: 100,
        globalRowsMax: null,
      },
      signal,
    )
  const used = async () => (await readUsage(store, subscriptionId, period)).total
  return { clock, charges, queue, holder, charge, used }
}

/** Resolves at the next write that is tried, however it ends. */
function nextWrite(charges: ChargeStore): Promise<unknown> {
  return new Promise((resolve) => {
    charges.watchWrites((failure) => resolve(failure?.cause))
  })
}

await t.test('charges of one turn are one transaction, in the order of their coming', async (t) => {
  const { charges, charge, used } = await openQueue(t)
  let writes = 0
  charges.watchWrites(() => {
    writes += 1
  })
  const results = await Promise.all([60, 30, 20, 5].map((rows) => charge(rows)))
  t.same(
    results.map(({ granted }) => granted),
    [60, 30, 10, 0],
  )
  t.equal(writes, 1)
  t.equal(await used(), 100)
})

await t.test('charges wait for a lock, and later charges wait behind them', async (t) => {
  const { clock, charges, holder, charge, used } = await openQueue(t)
  holder.exec('BEGIN IMMEDIATE')
  const first = charge(80)
  t.match(await nextWrite(charges), { code: 'SQLITE_BUSY' })
  const second = charge(80)
  const next = nextWrite(charges)
  await clock.advance(150)
  t.match(await next, { code: 'SQLITE_BUSY' })
  holder.exec('ROLLBACK')
  await clock.advance(150)
  t.match(await Promise.all([first, second]), [{ granted: 80 }, { granted: 20 }])
  t.equal(await used(), 100)
})

await t.test('a lock that stays is a 503 without a charge', async (t) => {
  const { clock, charges, holder, charge, used } = await openQueue(t)
  holder.exec('BEGIN IMMEDIATE')
  const refused = t.rejects(charge(80), {
    code: 'service_unavailable',
    retryAfterSeconds: 5,
    cause: { code: 'SQLITE_BUSY' },
  })
  let writes = 0
  charges.watchWrites(() => {
    writes += 1
  })
  await clock.advance(4999)
  const tried = writes
  t.ok(tried > 30, 'it was tried again and again')
  await clock.advance(151)
  await refused
  t.equal(writes, tried + 1)
  holder.exec('ROLLBACK')
  t.equal(await used(), 0)
  t.match(await charge(80), { granted: 80 })
})

await t.test('an error other than a lock is not retried', async (t) => {
  const { holder, charge, used } = await openQueue(t)
  holder.exec('ALTER TABLE usage RENAME TO elsewhere')
  await t.rejects(charge(80), { code: 'SQLITE_ERROR', message: 'no such table: usage' })
  holder.exec('ALTER TABLE elsewhere RENAME TO usage')
  t.equal(await used(), 0)
})

await t.test('a client that disconnects while waiting is not charged', async (t) => {
  const { clock, charges, holder, charge, used } = await openQueue(t)
  const gone = new AbortController()
  holder.exec('BEGIN IMMEDIATE')
  const abandoned = charge(80, gone.signal)
  const other = charge(30)
  t.match(await nextWrite(charges), { code: 'SQLITE_BUSY' })
  const reason = new Error('the client is gone')
  const left = t.rejects(abandoned, reason)
  gone.abort(reason)
  holder.exec('ROLLBACK')
  await clock.advance(150)
  await left
  t.match(await other, { granted: 30 })
  t.equal(await used(), 30)
})

await t.test('at most 256 charges wait; the next is an immediate 503', async (t) => {
  const { clock, charges, holder, charge, used } = await openQueue(t)
  holder.exec('BEGIN IMMEDIATE')
  const waiting = Array.from({ length: 256 }, () => charge(0))
  await t.rejects(charge(1), { code: 'service_unavailable', retryAfterSeconds: 5 })
  t.match(await nextWrite(charges), { code: 'SQLITE_BUSY' })
  await t.rejects(charge(1), { code: 'service_unavailable', cause: undefined })
  holder.exec('ROLLBACK')
  await clock.advance(150)
  t.equal((await Promise.all(waiting)).length, 256)
  t.match(await charge(1), { granted: 1 })
  t.equal(await used(), 1)
})

await t.test('those that wait for the disk are counted, too', async (t) => {
  const disk: (() => void)[] = []
  let isOver = false
  const { charge, used } = await openQueue(t, () =>
    isOver ? Promise.resolve() : new Promise((resolve) => disk.push(resolve)),
  )
  const committed = Array.from({ length: 256 }, () => charge(0))
  await new Promise((resolve) => setImmediate(resolve))
  await t.rejects(charge(1), { code: 'service_unavailable', retryAfterSeconds: 5 })
  disk[0]?.()
  t.equal((await Promise.all(committed)).length, 256)
  const next = charge(1)
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
  disk[1]?.()
  t.match(await next, { granted: 1 })
  t.equal(await used(), 1)
  isOver = true
})

await t.test('closing writes or fails the waiting charges and accepts no more', async (t) => {
  const open = await openQueue(t)
  const written = open.charge(10)
  await open.queue.close()
  t.match(await written, { granted: 10 })
  t.equal(await open.used(), 10)

  const locked = await openQueue(t)
  locked.holder.exec('BEGIN IMMEDIATE')
  const unpaid = locked.charge(10)
  t.match(await nextWrite(locked.charges), { code: 'SQLITE_BUSY' })
  const closing = locked.queue.close()
  await t.rejects(unpaid, { code: 'service_unavailable' })
  await t.rejects(locked.charge(10), { code: 'service_unavailable' })
  await closing
  t.equal(await locked.used(), 0)
})

await t.test('ended charges leave nothing in memory', async (t) => {
  const { charge } = await openQueue(t, () => Promise.resolve())
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heapAfter = async (charges: number) => {
    for (let made = 0; made < charges; made++) await charge(0)
    collect()
    return process.memoryUsage().heapUsed
  }
  // V8 compiles what runs, and the heap grows, while the first rounds run.
  const heaps: number[] = []
  while (heaps.length < 9) heaps.push(await heapAfter(2000))
  const grown = Math.min(...heaps.slice(6)) - Math.min(...heaps.slice(2, 5))
  t.ok(grown < 300_000, `${grown} bytes of ${heaps.join()}`)
})
