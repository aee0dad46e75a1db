import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ControlStore } from '../../src/control/store/store.js'
import { chargeAll } from '../../src/control/usage.js'
import { startWorld } from '../support/world.js'
import { buildHouse } from './fixtures/house.js'
import type { House } from './fixtures/house.js'

interface Sold {
  readonly subscription: string
  readonly token: string
}

async function sell(house: House, email: string): Promise<Sold> {
  const create = ['subscription', 'create', '--email', email, '--json']
  const { stdout } = await house.das([...create, '--plan', 'financials:start'])
  return JSON.parse(stdout) as Sold
}

function use(house: House, subscriptionId: string, rows: number): void {
  const control = ControlStore.open(join(house.folder, 'var', 'control.db'))
  const caps = { datasetRowsMax: null, globalRowsMax: null }
  chargeAll(control, [{ subscriptionId, dataset: 'financials', period: '2026-11', rows, ...caps }])
  control.close()
}

/** The README's commands that put a backup in place, for this backup. */
function restoreCommands(backup: string): string {
  const chapter = readFileSync('README.md', 'utf8').split('\n## Backup\n')[1] ?? ''
  const blocks = [...chapter.matchAll(/```sh\n([^]*?)```/g)].map(([, text = '']) => text)
  const restore = blocks.find((text) => text.includes('mv var/')) ?? ''
  return restore.replace('/backups/control-2026-11-21.db', backup).replace(/^npx das .*$/m, '')
}

await t.test('backup says what it holds, and replaces nothing', async (t) => {
  const house = await buildHouse(t)
  const none = await house.das(['backup', join(house.folder, 'a.db')])
  t.equal(none.code, 1)
  t.match(none.stderr, /^error: There is no control\.db in .*: nothing was sold there yet\./)
  await sell(house, 'a@example.org')
  const file = join(house.folder, 'a.db')
  const { code, stdout } = await house.das(['backup', file, '--json'])
  t.equal(code, 0)
  t.same(JSON.parse(stdout), {
    file,
    size_bytes: statSync(file).size,
    subscriptions: 1,
    tokens: 1,
    usage: 0,
    letters: 0,
  })
  t.equal(statSync(file).mode & 0o777, 0o600)
  const again = await house.das(['backup', file])
  t.equal(again.code, 1)
  t.match(again.stderr, /a\.db exists already: name a new file, or remove that one\.\n$/)
  const nowhere = await house.das(['backup', join(house.folder, 'missing', 'a.db')])
  t.match(nowhere.stderr, /^error: There is no folder .*missing\.\n$/)
  t.notOk(existsSync(join(house.folder, 'missing')))
})

// Guarantee: what the README says of a restore is so.
await t.test("the README's restore brings back what was sold and used at the backup", async (t) => {
  const house = await buildHouse(t)
  const kept = await sell(house, 'kept@example.org')
  use(house, kept.subscription, 100)
  mkdirSync(join(house.folder, 'backups'))
  const backup = join(house.folder, 'backups', 'control.db')
  t.equal((await house.das(['backup', backup])).code, 0)
  const lost = await sell(house, 'lost@example.org')
  use(house, kept.subscription, 11)
  execFileSync('sh', ['-e', '-c', restoreCommands(backup)], { cwd: house.folder })
  t.ok(existsSync(join(house.folder, 'var', 'aside', 'control.db')), 'nothing is thrown away')

  const list = await house.das(['subscription', 'list', '--json'])
  t.match(JSON.parse(list.stdout), [{ subscription: kept.subscription, email: 'kept@example.org' }])
  const shown = await house.das(['subscription', 'show', kept.subscription, '--json'])
  t.match(JSON.parse(shown.stdout), { grants: [{ rows: { used: 100, remaining: 49_900 } }] })
  await t.test('and a server over it serves the tokens of then', async (t) => {
    const settings = {
      registry: join(house.folder, 'registry.yaml'),
      state: join(house.folder, 'var'),
    }
    const world = await startWorld(t, { files: {}, registry: '', settings })
    const answer = await world.get('/v1/financials?inn=eq.0000000001', kept.token)
    t.equal(answer.status, 200)
    t.equal(answer.headers['x-quota-rows-remaining'], '49898')
    t.equal((await world.get('/v1/', lost.token)).status, 401)
  })
})
