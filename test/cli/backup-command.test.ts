import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { chargeAll } from '../../src/control/usage.js'
import { exampleAfter } from '../support/pages.js'
import { startWorld } from '../support/world.js'
import { buildCliFixture } from './fixtures/cli-fixture.js'
import type { CliFixture } from './fixtures/cli-fixture.js'
import { machine } from '../support/machine.js'

interface Sold {
  readonly subscription: string
  readonly token: string
}

async function sell(cli: CliFixture, email: string): Promise<Sold> {
  const create = ['subscription', 'create', '--email', email, '--json']
  const { stdout } = await cli.das([...create, '--plan', 'financials:start'])
  return JSON.parse(stdout) as Sold
}

async function use(cli: CliFixture, subscriptionId: string, rows: number): Promise<void> {
  const control = SqliteStore.open(join(cli.folder, 'var', 'control.db'), machine)
  const caps = { datasetRowsMax: null, globalRowsMax: null }
  await chargeAll(control, [
    { subscriptionId, dataset: 'financials', period: '2026-11', rows, ...caps },
  ])
  await control.close()
}

/** The commands of docs/operating.md that put a backup in place, for this backup. */
function restoreCommands(backup: string): string {
  const restore = exampleAfter('docs/operating.md', '### Restore', 'sh', '')
  return restore
    .replace('/var/backups/das/control-2026-11-21.db', backup)
    .replace(/^npx das .*$/m, '')
}

await t.test('backup prints its content and replaces no file', async (t) => {
  const cli = await buildCliFixture(t)
  const none = await cli.das(['backup', join(cli.folder, 'a.db')])
  t.equal(none.code, 1)
  t.match(none.stderr, /^error: There is no control\.db in .*: nothing was sold there yet\./)
  await sell(cli, 'a@example.org')
  const file = join(cli.folder, 'a.db')
  const { code, stdout } = await cli.das(['backup', file, '--json'])
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
  const again = await cli.das(['backup', file])
  t.equal(again.code, 1)
  t.match(again.stderr, /a\.db exists already: name a new file, or remove that one\.\n$/)
  const nowhere = await cli.das(['backup', join(cli.folder, 'missing', 'a.db')])
  t.match(nowhere.stderr, /^error: There is no folder .*missing\.\n$/)
  t.notOk(existsSync(join(cli.folder, 'missing')))
})

// Guarantee: the documented restore works as described.
await t.test(
  'the documented restore brings back subscriptions and usage of the backup',
  async (t) => {
    const cli = await buildCliFixture(t)
    const kept = await sell(cli, 'kept@example.org')
    await use(cli, kept.subscription, 100)
    mkdirSync(join(cli.folder, 'backups'))
    const backup = join(cli.folder, 'backups', 'control.db')
    t.equal((await cli.das(['backup', backup])).code, 0)
    const lost = await sell(cli, 'lost@example.org')
    await use(cli, kept.subscription, 11)
    execFileSync('sh', ['-e', '-c', restoreCommands(backup)], { cwd: cli.folder })
    t.ok(existsSync(join(cli.folder, 'var', 'aside', 'control.db')), 'nothing is thrown away')

    const list = await cli.das(['subscription', 'list', '--json'])
    t.match(JSON.parse(list.stdout), [
      { subscription: kept.subscription, email: 'kept@example.org' },
    ])
    const shown = await cli.das(['subscription', 'show', kept.subscription, '--json'])
    t.match(JSON.parse(shown.stdout), { grants: [{ rows: { used: 100, remaining: 49_900 } }] })
    await t.test('a server over the restored file accepts the tokens of the backup', async (t) => {
      const settings = {
        registry: join(cli.folder, 'registry.yaml'),
        state: join(cli.folder, 'var'),
      }
      const world = await startWorld(t, { files: {}, registry: '', settings })
      const answer = await world.get('/v1/financials?inn=eq.0000000001', kept.token)
      t.equal(answer.status, 200)
      t.equal(answer.headers['x-quota-rows-remaining'], '49898')
      t.equal((await world.get('/v1/', lost.token)).status, 401)
    })
  },
)
