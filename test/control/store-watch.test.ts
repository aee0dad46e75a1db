import { copyFileSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { ChargeStore } from '../../src/control/charge-store.js'
import { StoreWatch } from '../../src/control/store-watch.js'
import type { StoreEvent } from '../../src/control/store-watch.js'
import { backUp } from '../../src/control/store/backup.js'
import { sql } from '../../src/control/store/sql.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { hashToken } from '../../src/control/tokens/token-format.js'
import { findToken, revokeToken } from '../../src/control/tokens/tokens.js'
import { readUsage } from '../../src/control/usage.js'
import { clockAt, damageTable, noon, openStore, storePath, subscribe } from './fixtures/store.js'
import { machine } from '../support/machine.js'
import { machineClock } from '../../src/clock.js'

// Guarantee: a server answers from the control.db that lies in its state folder, or not at all.

const unavailable = { code: 'service_unavailable' }

/** The two connections of a server under watch, a subscription, and a backup that holds it. */
async function observe(t: Test) {
  const path = storePath(t)
  const control = SqliteStore.open(path, machine)
  const charges = ChargeStore.open(path, { ...machine, busyTimeoutMs: 50 })
  const events: StoreEvent[] = []
  const watch = new StoreWatch({
    clock: machineClock,
    path,
    control: control.file,
    charges,
    report: (event) => events.push(event),
  })
  t.teardown(async () => {
    await charges.close()
    await control.close()
  })
  const sold = await subscribe(control)
  const backup = join(dirname(path), 'backup.db')
  backUp(control.file, backup)
  const charge = (rows: number) =>
    charges.chargeAll([
      {
        subscriptionId: sold.subscriptionId,
        dataset: 'financials',
        period: '2026-06',
        rows,
        datasetRowsMax: null,
        globalRowsMax: null,
      },
    ])
  const kinds = () => events.map(({ kind }) => kind)
  return { path, backup, control, charges, watch, sold, charge, events, kinds }
}

/** As docs/operating.md says: everything aside, then the copy in its place. */
function putAside(path: string): void {
  const aside = join(dirname(path), 'aside')
  mkdirSync(aside)
  for (const suffix of ['', '-wal', '-shm']) {
    renameSync(path + suffix, join(aside, `control.db${suffix}`))
  }
}

await t.test('a restored file is used as soon as it is complete and sound', async (t) => {
  const { path, backup, control, charges, watch, sold, charge, kinds } = await observe(t)
  const hash = hashToken(sold.token)
  const late = await subscribe(control, { email: 'late@example.com' })
  await charge(5)
  await charges.synced()
  watch.check()
  t.ok(watch.isSound)

  putAside(path)
  watch.check()
  t.notOk(watch.isSound)
  await t.rejects(() => findToken(control, hash), unavailable)
  await t.rejects(charge(1), unavailable)
  await t.rejects(() => control.write(async () => undefined), unavailable)

  writeFileSync(path, '')
  watch.check()
  watch.check()
  t.notOk(watch.isSound, 'a copy that has only begun')
  copyFileSync(backup, path)
  truncateSync(path, 20_000)
  watch.check()
  watch.check()
  t.notOk(watch.isSound, 'half a copy that stands still')
  copyFileSync(backup, path)
  watch.check()
  t.notOk(watch.isSound, 'it may still be written')
  watch.check()
  t.ok(watch.isSound)
  t.same(kinds(), ['replaced', 'refused', 'refused', 'reopened'])

  t.equal((await findToken(control, hash))?.subscriptionId, sold.subscriptionId)
  t.equal(await findToken(control, hashToken(late.token)), undefined, 'sold after the backup')
  t.match(await charge(7), [{ granted: 7, datasetUsed: 7 }])
  await charges.synced()
  const command = openStore(t, path)
  t.equal((await readUsage(command, sold.subscriptionId, '2026-06')).total, 7)
  await revokeToken(command, sold.tokenId, clockAt(noon))
  t.equal((await findToken(control, hash))?.revokedAt, noon, 'what a command revokes is revoked')
  t.equal(control.file.db.pragma('busy_timeout', { simple: true }), 5000)
})

await t.test('commits to the former file stay there, complete', async (t) => {
  const { path, backup, watch, sold, charge } = await observe(t)
  await charge(5)
  putAside(path)
  copyFileSync(backup, path)
  for (let count = 0; count < 3; count += 1) watch.check()
  t.ok(watch.isSound)
  const former = openStore(t, join(dirname(path), 'aside', 'control.db'))
  t.equal((await readUsage(former, sold.subscriptionId, '2026-06')).total, 5)
  t.equal(former.file.db.pragma('integrity_check', { simple: true }), 'ok')
})

// Guarantee: a removed log loses nothing that was charged or sold.
for (const suffixes of [['-wal'], ['-shm'], ['-wal', '-shm']]) {
  await t.test(`nothing is lost with ${suffixes.join(' and ')}`, async (t) => {
    const { path, control, watch, sold, charge, charges, kinds } = await observe(t)
    watch.check()
    await charge(5)
    const late = await subscribe(control, { email: 'late@example.com' })
    for (const suffix of suffixes) rmSync(path + suffix)
    await charge(2)
    watch.check()
    t.ok(watch.isSound)
    t.same(kinds(), ['log lost', 'log saved'])
    await charge(1)
    await charges.synced()
    watch.check()
    t.same(kinds(), ['log lost', 'log saved'], 'once')
    const copy = join(dirname(path), 'copy.db')
    for (const suffix of ['', '-wal']) copyFileSync(path + suffix, copy + suffix)
    for (const file of [path, copy]) {
      const other = openStore(t, file)
      t.equal((await readUsage(other, sold.subscriptionId, '2026-06')).total, 8, file)
      t.ok(await findToken(other, hashToken(late.token)))
      t.equal(other.file.db.pragma('integrity_check', { simple: true }), 'ok')
    }
  })
}

await t.test('a lost log is saved when the connection that reads has ended', async (t) => {
  const { path, watch, sold, charge, kinds } = await observe(t)
  watch.check()
  await charge(5)
  const reader = openStore(t, path)
  reader.file.db.exec('BEGIN; SELECT * FROM usage')
  await charge(2)
  rmSync(`${path}-wal`)
  watch.check()
  watch.check()
  t.same(kinds(), ['log lost'])
  t.ok(watch.isSound, 'requests are answered meanwhile')
  reader.file.db.exec('COMMIT')
  watch.check()
  t.same(kinds(), ['log lost', 'log saved'])
  const other = openStore(t, path)
  t.equal((await readUsage(other, sold.subscriptionId, '2026-06')).total, 7)
})

await t.test('a file that is not a store is refused once, and a sound one is used', async (t) => {
  const { path, backup, watch, events, kinds } = await observe(t)
  putAside(path)
  writeFileSync(path, 'no database, but more than a few letters long '.repeat(100))
  for (let count = 0; count < 4; count += 1) watch.check()
  t.same(kinds(), ['replaced', 'refused'])
  t.match(events[1], { cause: { code: 'SQLITE_NOTADB' } })
  rmSync(path)
  watch.check()
  copyFileSync(backup, path)
  watch.check()
  watch.check()
  t.ok(watch.isSound)
})

await t.test(
  'a store that is closed and refused refuses every statement, and none fails',
  async (t) => {
    const { control, charges, charge } = await observe(t)
    // As when the file can't be opened again after its log was lost.
    charges.release()
    charges.block()
    control.file.close()
    control.file.block()
    await t.rejects(() => control.all(sql`SELECT * FROM letters`), unavailable)
    await t.rejects(() => control.write(async () => undefined), unavailable)
    t.throws(() => control.file.checkpoint(), unavailable)
    await t.rejects(charge(1), unavailable)
  },
)

await t.test(
  'damage that SQLite finds blocks the store until another file is in its place',
  async (t) => {
    const { path, backup, control, watch, sold, charge, events, kinds } = await observe(t)
    control.file.checkpoint()
    damageTable(path, 'reloads')
    await t.rejects(() => control.all(sql`SELECT * FROM reloads`), unavailable)
    await t.rejects(
      () => control.all(sql`SELECT * FROM letters`),
      unavailable,
      'and what is not damaged, too',
    )
    await t.rejects(charge(1), unavailable)
    for (let count = 0; count < 3; count += 1) watch.check()
    t.same(kinds(), ['damaged'])
    t.match(events[0], { cause: { cause: { code: 'SQLITE_CORRUPT' } } })
    putAside(path)
    watch.check()
    copyFileSync(backup, path)
    watch.check()
    watch.check()
    t.same(kinds(), ['damaged', 'reopened'])
    t.equal((await findToken(control, hashToken(sold.token)))?.tokenId, sold.tokenId)
  },
)
