import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { backUp } from '../../src/control/store/backup.js'
import { noteBackup } from '../../src/control/store/newest-backup.js'
import { createToken } from '../../src/control/tokens/token-format.js'
import { damageTable } from '../control/fixtures/store.js'
import { isError } from '../support/answers.js'
import { openControlFile } from '../support/control.js'
import { sqliteOnly } from '../support/database.js'
import { startThings } from '../support/things.js'
import { machineRandom } from '../../src/random.js'

// Guarantee: a store that can't be read is no verdict on a token.

const page = '/v1/things?limit=1'

/** A server that has answered a token of its own, over a store that the test damages. */
async function startSold(t: Test) {
  const world = await startThings(t)
  const control = openControlFile(t, world)
  const { token } = await world.subscribe(['things:pro'])
  const path = join(world.folder, 'var', 'control.db')
  t.equal((await world.get(page, token)).status, 200)
  return { world, control, path, token }
}

async function isRefused(t: Test, sold: Awaited<ReturnType<typeof startSold>>): Promise<void> {
  const { world, token } = sold
  // More than an address without a valid token has in a minute.
  for (let request = 0; request < 130; request += 1) {
    const answer = await world.get(page, token)
    if (answer.status !== 503) t.equal(answer.status, 503, `request ${request}`)
  }
  const answer = await world.get(page, token)
  isError(t, answer, 'service_unavailable', /^The service can't keep its records right now\./)
  t.equal((await world.get('/readyz')).status, 503)
  t.equal((await world.get('/healthz')).status, 200)
  t.equal((await world.get(page)).status, 401, 'a request without a token reads no store')
}

await t.test(
  'damaged tokens: 503 and not ready, never 401 or 429',
  sqliteOnly('damage'),
  async (t) => {
    const sold = await startSold(t)
    const { world, control, path } = sold
    const backup = join(world.folder, 'copy-of-today.db')
    backUp(control.file, backup)
    noteBackup(path, { path: backup, madeAt: Date.UTC(2026, 10, 14) })
    for (const table of ['tokens', 'sqlite_autoindex_tokens_2']) damageTable(path, table)
    await isRefused(t, sold)
    const lines = world.log.filter((line) => line.includes('control.db is damaged'))
    t.equal(lines.length, 1, 'reported once')
    t.match(lines[0], /"level":60.*newest known backup is copy-of-today\.db of 2026-11-14T00:00/)
    t.notMatch(lines[0], world.folder)
  },
)

await t.test('a token that was never sold is 401 as before', async (t) => {
  const { world, token } = await startSold(t)
  for (let request = 0; request < 3; request += 1) {
    isError(t, await world.get(page, createToken(machineRandom).token), 'unauthorized')
  }
  t.equal((await world.get(page, token)).status, 200)
  t.equal((await world.get('/readyz')).status, 200)
})
