import Database from 'better-sqlite3'
import t from 'tap'
import { ChargeStore } from '../../src/control/charge-store.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { WriteHealth } from '../../src/control/write-health.js'
import { storePath, subscribe, thrownBy } from './fixtures/store.js'
import { machine } from '../support/machine.js'

// Guarantee: readiness is not claimed while nothing can be recorded.

/** The health of a store that gives up on locks at once, under a clock that the test sets. */
function observe(t: Parameters<typeof storePath>[0]) {
  const path = storePath(t)
  const store = SqliteStore.open(path, machine)
  store.file.setBusyTimeout(1)
  const disk: { failure: Error | null } = { failure: null }
  const charges = ChargeStore.open(path, {
    ...machine,
    busyTimeoutMs: 1,
    sync: () => (disk.failure ? Promise.reject(disk.failure) : Promise.resolve()),
  })
  const holder = new Database(path)
  t.teardown(() => [store, charges, holder].map((each) => each.close()))
  const clock = { ms: 0 }
  const reports: unknown[] = []
  const health = new WriteHealth(store, charges, {
    now: () => clock.ms,
    report: (failure) => reports.push(failure?.cause),
  })
  const isWritableAt = (ms: number) => {
    clock.ms = ms
    return health.isWritable()
  }
  const frames = () => {
    const [state] = holder.pragma('wal_checkpoint(NOOP)') as { log: number }[]
    return state?.log ?? -1
  }
  return { store, charges, disk, holder, health, reports, isWritableAt, frames }
}

await t.test('a probe is a write that reaches the disk, at most one in two seconds', async (t) => {
  const { isWritableAt, frames } = observe(t)
  const before = frames()
  t.ok(await isWritableAt(1999))
  t.equal(frames(), before)
  t.ok(await isWritableAt(2000))
  t.equal(frames(), before + 1)
  t.ok(await isWritableAt(3999))
  t.equal(frames(), before + 1)
})

await t.test('what the service writes itself is probe enough', async (t) => {
  const { store, isWritableAt, frames } = observe(t)
  await isWritableAt(1000)
  await subscribe(store)
  const before = frames()
  t.ok(await isWritableAt(1999))
  t.equal(frames(), before)
})

await t.test('a probe changes nothing that anybody reads', async (t) => {
  const { store, holder, isWritableAt } = observe(t)
  const read = () => [
    holder.pragma('user_version', { simple: true }),
    holder.prepare('SELECT * FROM sqlite_schema').all(),
  ]
  await subscribe(store)
  const before = read()
  await isWritableAt(5000)
  t.same(read(), before)
})

await t.test('one failure is enough, one success too; each is told once', async (t) => {
  const { store, reports, isWritableAt } = observe(t)
  store.file.db.pragma('query_only = ON')
  t.notOk(await isWritableAt(2000))
  t.notOk(await isWritableAt(4000))
  t.match(reports, [{ code: 'SQLITE_READONLY' }])
  store.file.db.pragma('query_only = OFF')
  t.notOk(await isWritableAt(4001), 'nobody has tried since')
  await subscribe(store)
  t.ok(await isWritableAt(4002))
  t.match(reports, [{ code: 'SQLITE_READONLY' }, undefined])
  t.equal(reports.length, 2)
})

await t.test('a lock fails it only when it stays', async (t) => {
  const { holder, reports, isWritableAt } = observe(t)
  holder.exec('BEGIN IMMEDIATE')
  t.ok(await isWritableAt(2000))
  t.ok(await isWritableAt(4000))
  holder.exec('ROLLBACK')
  t.ok(await isWritableAt(6000))
  holder.exec('BEGIN IMMEDIATE')
  t.ok(await isWritableAt(8000))
  t.notOk(await isWritableAt(12_000))
  t.match(reports, [{ code: 'SQLITE_BUSY' }])
  holder.exec('ROLLBACK')
  t.ok(await isWritableAt(14_000))
  t.equal(reports.length, 2)
})

await t.test('a refusal or a bug in the work of a write says nothing of the store', async (t) => {
  const { store, reports, isWritableAt } = observe(t)
  const bug = new TypeError('not of SQLite')
  t.equal(
    await thrownBy(() =>
      store.write(() => {
        throw bug
      }),
    ),
    bug,
  )
  t.ok(await isWritableAt(0))
  t.equal(reports.length, 0)
})

// Guarantee: readiness is not claimed while every charge fails.
await t.test('a log with a hole keeps readiness red until it is mended', async (t) => {
  const { store, charges, disk, holder, reports, isWritableAt } = observe(t)
  const { subscriptionId } = await subscribe(store)
  const caps = { datasetRowsMax: null, globalRowsMax: null }
  const charge = () =>
    charges.chargeAll([{ subscriptionId, dataset: 'a', period: '2026-06', rows: 1, ...caps }])
  await charge()
  disk.failure = new Error('EIO')
  await t.rejects(charges.synced(), { code: 'service_unavailable' })
  disk.failure = null
  holder.exec('BEGIN')
  t.equal(holder.prepare('SELECT * FROM usage').all().length, 1)
  t.notOk(await isWritableAt(0))
  t.notOk(await isWritableAt(2000), 'the probe can not mend it while somebody reads')
  await subscribe(store)
  t.notOk(await isWritableAt(2001), 'and what another connection can write is no comfort')
  await t.rejects(charge, { code: 'service_unavailable', cause: { code: 'SQLITE_BUSY' } })
  t.equal(reports.length, 1, 'told once')
  holder.exec('COMMIT')
  t.ok(await isWritableAt(9000))
  t.match(reports, [{ message: 'EIO' }, undefined])
  await charge()
  await charges.synced()
  t.equal(reports.length, 2)
})
