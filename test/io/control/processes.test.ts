import type { ChildProcess } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { readUsage } from '../../../src/control/usage.js'
import { askTogether, startProcesses } from '../../control/fixtures/processes.js'
import { openStore, storePath, subscribe } from '../../control/fixtures/store.js'

// Guarantee: the server and any number of commands share one store, and the caps hold over them all.

const roundsMax = 200

/** Lets all processes charge at the same moment, again and again, until they get nothing. */
async function chargeUntilRefused(children: readonly ChildProcess[], charge: object) {
  let granted = 0
  for (let round = 0; round < roundsMax; round += 1) {
    const answers = (await askTogether(children, charge)).map(Number)
    if (answers.every((rows) => rows === 0)) return granted
    granted += answers.reduce((total, rows) => total + rows, 0)
  }
  throw new Error('the cap was never reached')
}

await t.test('processes that charge at once are granted the caps exactly', async (t) => {
  const path = storePath(t)
  const store = openStore(t, path)
  const { subscriptionId } = await subscribe(store)
  const children = await startProcesses(t, './charge-process.js', 3, [path])
  const charge = { subscriptionId, period: '2026-06', rows: 7 }
  const caps = { datasetRowsMax: 300, globalRowsMax: 450 }

  t.equal(await chargeUntilRefused(children, { ...charge, ...caps, dataset: 'a' }), 300)
  t.equal(await chargeUntilRefused(children, { ...charge, ...caps, dataset: 'b' }), 150)
  const { datasets, total } = await readUsage(store, subscriptionId, '2026-06')
  t.same(Object.fromEntries(datasets), { a: 300, b: 150 })
  t.equal(total, 450)
})

await t.test('processes that start together on a new store all open it', async (t) => {
  const folder = dirname(storePath(t))
  const children = await startProcesses(t, './open-process.js', 3)
  for (let round = 0; round < 15; round += 1) {
    const path = join(folder, `${round}`, 'control.db')
    t.same(await askTogether(children, { path, busyTimeoutMs: 5000 }), [
      'opened',
      'opened',
      'opened',
    ])
    t.notMatch(readdirSync(dirname(path)).join(), 'before', 'no backup of a half-made store')
  }
})
