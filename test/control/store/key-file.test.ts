import { chmodSync, chownSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { backUp } from '../../../src/control/store/backup.js'
import { keyIn } from '../../../src/control/store/key-file.js'
import { noteBackup } from '../../../src/control/store/newest-backup.js'
import { ServerLock } from '../../../src/control/store/server-lock.js'
import { sql } from '../../../src/control/store/sql.js'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import { openFolder } from '../../support/as-user.js'
import { machine } from '../../support/machine.js'
import { machineRandom } from '../../../src/random.js'

await t.test('a key is made once, for its owner alone, and kept', (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'a.key')
  const key = keyIn(path, machineRandom)
  t.equal(key.length, 32)
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.same(keyIn(path, machineRandom), key)
  t.same(readFileSync(path), key)
  t.same(readdirSync(folder), ['a.key'])
  t.notSame(keyIn(join(folder, 'b.key'), machineRandom), key)
  t.end()
})

await t.test('a file that is no key is told, without its path, and left alone', (t) => {
  const path = join(t.testdir({}), 'a.key')
  writeFileSync(path, 'short')
  t.throws(() => keyIn(path, machineRandom), {
    message: 'a.key in the state folder is damaged; remove it to start with a new one',
  })
  t.equal(readFileSync(path, 'utf8'), 'short')
  t.end()
})

const isRoot = process.geteuid?.() === 0

await t.test(
  "what root makes in another user's state folder belongs to that user",
  { skip: !isRoot && 'needs root' },
  async (t) => {
    const folder = t.testdir({})
    chownSync(folder, 12_345, 54_321)
    keyIn(join(folder, 'mail.key'), machineRandom)
    const store = SqliteStore.open(join(folder, 'control.db'), machine)
    await store.write((tx) => tx.run(sql`DELETE FROM letters`))
    backUp(store.file, join(folder, 'copy.db'))
    noteBackup(join(folder, 'control.db'), { path: join(folder, 'copy.db'), madeAt: 1 })
    ServerLock.take(join(folder, 'server.lock')).release()
    const names = readdirSync(folder).sort()
    t.same(names, [
      'control.db',
      'control.db-shm',
      'control.db-wal',
      'copy.db',
      'last-backup.json',
      'mail.key',
      'server.lock',
    ])
    for (const name of names) {
      const { uid, gid, mode } = statSync(join(folder, name))
      t.same({ uid, gid, mode: mode & 0o777 }, { uid: 12_345, gid: 54_321, mode: 0o600 }, name)
    }
    await store.close()
    t.end()
  },
)

await t.test(
  "state folders that root makes in another user's folder belong to that user",
  { skip: !isRoot && 'needs root' },
  async (t) => {
    const folder = t.testdir({})
    chownSync(folder, 12_345, 54_321)
    await SqliteStore.open(join(folder, 'lib', 'var', 'control.db'), machine).close()
    for (const name of ['lib', 'lib/var', 'lib/var/control.db']) {
      t.match(statSync(join(folder, name)), { uid: 12_345, gid: 54_321 }, name)
    }
    t.end()
  },
)

await t.test(
  'a key of another user is reported with its owner and the remedy',
  { skip: !isRoot && 'needs root' },
  (t) => {
    const folder = openFolder(t)
    chmodSync(folder, 0o755)
    const path = join(folder, 'mail.key')
    keyIn(path, machineRandom)
    process.seteuid?.(12_345)
    try {
      t.throws(() => keyIn(path, machineRandom), {
        message:
          "this user (uid 12345) can't read mail.key in the state folder: it belongs to uid 0. " +
          'Give it to the user of the service: chown USER mail.key',
      })
    } finally {
      process.seteuid?.(0)
    }
    t.end()
  },
)
