import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { backUp } from '../../../src/control/store/backup.js'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import { parseToken } from '../../../src/control/tokens/token-format.js'
import { findToken } from '../../../src/control/tokens/tokens.js'
import { chargeAll, readUsage } from '../../../src/control/usage.js'
import { damageTable, openStore, storePath, subscribe } from '../fixtures/store.js'
import { machine } from '../../support/machine.js'

await t.test('a backup holds all that was written before it, and opens as a store', async (t) => {
  const path = storePath(t)
  const store = openStore(t, path)
  const { subscriptionId, token } = await subscribe(store)
  const charge = { subscriptionId, dataset: 'financials', period: '2026-06', rows: 7 }
  await chargeAll(store, [{ ...charge, datasetRowsMax: null, globalRowsMax: null }])
  const copy = join(dirname(path), '..', 'backup.db')
  const facts = backUp(store.file, copy)
  t.same(facts, {
    sizeBytes: statSync(copy).size,
    subscriptions: 1,
    tokens: 1,
    usage: 1,
    letters: 0,
  })
  t.equal(statSync(copy).mode & 0o777, 0o600)
  t.notOk(readFileSync(copy).includes(token), 'no token in clear')
  await chargeAll(store, [{ ...charge, datasetRowsMax: null, globalRowsMax: null }])
  const restored = SqliteStore.open(copy, machine)
  t.teardown(async () => {
    await restored.close()
  })
  t.equal((await readUsage(restored, subscriptionId, '2026-06')).total, 7)
  const hash = parseToken(token)?.hash ?? Buffer.alloc(0)
  t.equal((await findToken(restored, hash))?.subscriptionId, subscriptionId)
})

await t.test('a backup is whole while other connections write', async (t) => {
  const path = storePath(t)
  const store = openStore(t, path)
  const writer = openStore(t, path)
  const { subscriptionId } = await subscribe(store)
  for (let round = 0; round < 20; round += 1) {
    const charge = { subscriptionId, dataset: `d${round}`, period: '2026-06', rows: 1 }
    await chargeAll(writer, [{ ...charge, datasetRowsMax: null, globalRowsMax: null }])
    const copy = join(dirname(path), `backup-${round}.db`)
    t.equal(backUp(store.file, copy).usage, round + 1)
  }
})

await t.test(
  'a file that is there is never replaced, and a failure leaves none behind',
  async (t) => {
    const path = storePath(t)
    const store = openStore(t, path)
    const folder = join(dirname(path), 'backups')
    mkdirSync(folder)
    const taken = join(folder, 'taken.db')
    writeFileSync(taken, 'precious')
    t.throws(() => backUp(store.file, taken), {
      message: /taken\.db exists already: name a new file/,
    })
    t.equal(readFileSync(taken, 'utf8'), 'precious')

    t.throws(() => backUp(store.file, join(folder, 'missing', 'a.db')), {
      message: /^There is no folder .*missing\.$/,
    })
    t.same(readdirSync(folder), ['taken.db'])
  },
)

await t.test('a store that is damaged gives no backup, and says so', async (t) => {
  const path = storePath(t)
  const store = SqliteStore.open(path, machine)
  for (let each = 0; each < 100; each += 1) await subscribe(store)
  await store.close()
  damageTable(path, 'tokens')
  const damaged = openStore(t, path)
  const copy = join(dirname(path), 'copy.db')
  t.throws(() => backUp(damaged.file, copy), { code: 'SQLITE_CORRUPT' })
  t.same(
    readdirSync(dirname(path)).filter((name) => name.startsWith('copy')),
    [],
  )
})
