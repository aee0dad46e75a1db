import { join } from 'node:path'
import t from 'tap'
import { listDeliveries } from '../../src/control/hooks/deliveries.js'
import { noteVersion } from '../../src/control/hooks/events.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { machine } from '../support/machine.js'
import { buildCliFixture } from './fixtures/cli-fixture.js'

const cli = await buildCliFixture(t)
const run = (...argv: readonly string[]) => cli.das(['webhook', ...argv])
const json = async (...argv: readonly string[]) =>
  JSON.parse((await cli.das([...argv, '--json'])).stdout) as Readonly<Record<string, string>>
const sell = ['subscription', 'create', '--email', 'a@b.example', '--plan', 'financials:pro']
const { subscription = '' } = await json(...sell)
const url = 'https://localhost:1/hooks?key=own'
const add = ['webhook', 'add', subscription, url, '--event', 'dataset.version']
const { id = '', secret = '' } = await json(...add)

await t.test('a webhook is listed without its secret', async (t) => {
  t.match(secret, /^whsec_/)
  const { stdout } = await run('list', subscription)
  t.match(stdout, `${id}\t${subscription}\t${url}\tdataset.version\t\tactive\t2026-11-15`)
  t.notMatch(stdout, secret)
  t.match(await json('webhook', 'list'), [{ id, subscription, url, watch: null }])
  const added = await cli.das([...add, '--event', 'quota.80'])
  t.match(added.stdout, /^Secret of whk_\w+\. .*only once\.\n\nwhsec_\S+\n$/)
})

await t.test('a new secret is another one, and is shown with the end of the old', async (t) => {
  const renewed = await json('webhook', 'secret', id)
  t.match(renewed, { id, secret: /^whsec_/, previous_valid_until: '2026-11-16T12:00:00Z' })
  t.not(renewed['secret'], secret)
})

await t.test(
  'a test to an address that is not public is not delivered, and says why',
  async (t) => {
    const { code, stdout, stderr } = await run('test', id)
    t.same([code, stdout], [1, 'Not delivered.\n'])
    t.equal(stderr, 'error: the host has an address that is not public\n')
  },
)

await t.test('deliveries are listed, and one is made due again', async (t) => {
  t.match((await run('deliveries', id)).stdout, 'There were no messages')
  const store = SqliteStore.open(join(cli.folder, 'var', 'control.db'), machine)
  t.teardown(() => store.close())
  await noteVersion(store, { dataset: 'financials', version: 'v1' }, cli.clock.ms)
  t.match((await run('deliveries', id)).stdout, '1\tdataset.version\t2026-11-15 12:00 UTC\twaiting')
  cli.clock.ms += 1000
  t.match(await json('webhook', 'resend', id, '1'), { n: 1, state: 'waiting', attempts: 0 })
  const [delivery] = await listDeliveries(store, id, { upTo: 1, limit: 1 })
  t.equal(delivery?.nextAttemptAt, cli.clock.ms)
})

await t.test('what is wrong is refused in the words of the API', async (t) => {
  const refused: [readonly string[], number, RegExp][] = [
    [['add', 'sub_none', url, '--event', 'quota.80'], 1, /sub_none/],
    [['add', subscription, 'http://example.org', '--event', 'quota.80'], 2, /https/],
    [['add', subscription, url, '--event', 'other'], 2, /dataset\.version/],
    [['add', subscription, url], 2, /--event/],
    [[...add.slice(1), '--watch', 'none'], 2, /no watch list "none"/],
    [['test', 'whk_none'], 1, /no such webhook/],
    [['resend', id, '7'], 1, /no such delivery/],
    [['resend', id, 'x'], 1, /no such delivery/],
  ]
  for (const [argv, code, stderr] of refused) {
    t.match(await run(...argv), { code, stdout: '', stderr }, argv.join(' '))
  }
})

await t.test('a webhook that is removed is gone with its deliveries', async (t) => {
  t.match(await run('remove', id), { code: 0, stdout: `Webhook ${id} is deleted.\n` })
  t.match(await run('deliveries', id), { code: 1, stderr: /no such webhook/ })
})
