import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import type { Test } from 'tap'
import { saveDatasetStates } from '../../src/control/dataset-state.js'
import { keyOf } from '../../src/control/keys.js'
import { queueLetter } from '../../src/control/letters.js'
import { postgresSchemaVersion } from '../../src/control/postgres/postgres-migrations.js'
import { PostgresStore } from '../../src/control/postgres/postgres-store.js'
import { finishReload, takeReload } from '../../src/control/reload-requests.js'
import { insertOrder } from '../../src/control/orders.js'
import { ServerLock } from '../../src/control/store/server-lock.js'
import { sql } from '../../src/control/store/sql.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { chargeAll } from '../../src/control/usage.js'
import { buildCliFixture } from '../cli/fixtures/cli-fixture.js'
import type { CliFixture, Outcome } from '../cli/fixtures/cli-fixture.js'
import { freshDatabase, password, startPostgres } from './fixtures/postgres.js'
import { machine } from '../support/machine.js'

const server = await startPostgres(t)

const create = ['subscription', 'create', '--email', 'a@example.org', '--plan', 'financials:pro']

interface Shared extends Omit<CliFixture, 'das'> {
  readonly url: string
  /** Runs a command line with DAS_CONTROL_URL. */
  readonly das: (argv: readonly string[], stdin?: string) => Promise<Outcome>
  /** The same, which must succeed, with `--json`. */
  readonly json: (argv: readonly string[], stdin?: string) => Promise<unknown>
}

/** The command line over a folder, with an empty PostgreSQL. */
async function sharedFixture(t: Test): Promise<Shared> {
  return sharedOver(t, await buildCliFixture(t), await freshDatabase(server.url), 'var')
}

function sharedOver(t: Test, cli: CliFixture, url: string, state: string): Shared {
  const environment = { DAS_CONTROL_URL: url, DAS_STATE: join(cli.folder, state) }
  const das = (argv: readonly string[], stdin = '') => cli.das(argv, { environment, stdin })
  const json = async (argv: readonly string[], stdin?: string) => {
    const { code, stdout, stderr } = await das([...argv, '--json'], stdin)
    t.equal(code, 0, `${argv.join(' ')}: ${stderr}`)
    return JSON.parse(stdout) as unknown
  }
  return { ...cli, url, das, json }
}

const inState = ({ folder }: { readonly folder: string }, name: string) => join(folder, 'var', name)

function openShared(t: Test, url: string): PostgresStore {
  const store = new PostgresStore(url, machine)
  t.teardown(() => store.close())
  return store
}

await t.test('what one machine sells, every other one shows, without a control.db', async (t) => {
  const cli = await buildCliFixture(t)
  const url = await freshDatabase(server.url)
  const one = sharedOver(t, cli, url, 'var')
  const other = sharedOver(t, cli, url, 'other')
  const sold = (await one.json(create)) as { subscription: string; token: string }
  const id = sold.subscription
  t.match(await other.json(['subscription', 'list']), [{ subscription: id }])
  t.match(await other.json(['subscription', 'show', id]), { email: 'a@example.org' })
  t.match(await other.json(['order', 'list', '--all']), [{ subscription: id }])
  t.match(await other.json(['token', 'list']), [{ subscription: id }])
  t.match(await other.json(['token', 'check'], `${sold.token}\n`), [{ live: true }])
  const path = '/v1/financials?inn=eq.0000000001'
  t.match(await other.json(['explain', id, path]), { answer: { status: 200 } })
  t.match(await other.json(['dataset', 'check', 'financials']), [{ name: 'financials' }])
  t.same(await other.json(['connection', 'list']), [])
  t.same(await other.json(['connection', 'list', id]), [])
  await other.json(['subscription', 'extend', id, '--months', '2'])
  await other.json(['subscription', 'change', id, '--plan', 'procurement:start'])
  const { token } = (await other.json(['token', 'reissue', id])) as { token: string }
  t.match(await one.json(['token', 'check'], token), [{ live: true }])
  await one.json(['subscription', 'cancel', id])
  t.match(await other.json(['audit', '--subject', id]), [
    { actor: 'olga', action: 'subscription.created' },
    { action: 'token.issued' },
    { action: 'subscription.extended' },
    { action: 'subscription.changed' },
    { action: 'token.reissued' },
    { action: 'subscription.cancelled' },
  ])
  for (const state of ['var', 'other']) {
    t.notOk(existsSync(join(cli.folder, state, 'control.db')), state)
  }
})

await t.test('usage, orders and letters are read and changed', async (t) => {
  const cli = await sharedFixture(t)
  const { subscription: subscriptionId } = (await cli.json(create)) as { subscription: string }
  const store = openShared(t, cli.url)
  const caps = { datasetRowsMax: null, globalRowsMax: null }
  const charge = { subscriptionId, dataset: 'financials', rows: 5, ...caps }
  await chargeAll(store, [{ ...charge, period: '2999-01' }])
  t.match(await cli.json(['usage', '--repair']), [{ month: '2999-01', rows: 5 }])
  t.match(await cli.json(['usage']), [{ subscription: subscriptionId, rows: 5 }])
  const now = cli.clock.ms
  const order = async (email: string) =>
    await insertOrder(store, {
      ...{ kind: 'new', email, language: 'en', subscriptionId: null, months: 3, amountRub: 2970 },
      ...{ items: [{ dataset: 'financials', plan: 'start' }], basedOn: null, buyer: null },
      ...{ orderedAt: now, payUntil: now + 86_400_000 },
    })
  const [paid, other] = [await order('b@example.org'), await order('c@example.org')]
  t.equal(((await cli.json(['order', 'list'])) as readonly unknown[]).length, 2)
  t.match(await cli.json(['order', 'show', paid.orderId]), { state: 'waiting' })
  t.match(await cli.json(['order', 'confirm', paid.orderId]), { state: 'confirmed' })
  t.match(await cli.json(['order', 'decline', other.orderId]), { state: 'declined' })
  const letters = (await cli.json(['mail', 'list'])) as readonly unknown[]
  t.ok(letters.length >= 2, 'the buyers get letters')
  t.equal((await keyOf(store, 'unused', 'mail.key')).length, 32)
  t.notOk(existsSync(inState(cli, 'mail.key')), 'the key is in the PostgreSQL')
  await queueLetter(store, { kind: 'new-order', orderId: other.orderId, sealedSecret: null }, now)
  t.match(await cli.das(['mail', 'send']), { code: 2, stderr: /Mail is off/ })
})

await t.test('dataset add and pack are in the shared audit trail', async (t) => {
  const cli = await sharedFixture(t)
  writeFileSync(join(cli.folder, 'cities.csv'), 'city,people\nOmsk,1100000\nTomsk,570000\n')
  await cli.json(['dataset', 'add', join(cli.folder, 'cities.csv'), '--key', 'city', '--yes'])
  await cli.json(['dataset', 'pack', 'financials'])
  t.match(await cli.json(['audit']), [
    { actor: 'olga', action: 'dataset.added', subject: 'cities' },
    { actor: 'olga', action: 'pack.made', subject: 'financials' },
  ])
  t.notOk(existsSync(inState(cli, 'control.db')))
  t.notOk(existsSync(inState(cli, 'server.db')), 'only a server makes it')
})

/** What a server reported about itself, in its own state folder. */
async function reported(t: Test, cli: Shared, name: string): Promise<SqliteStore> {
  mkdirSync(join(cli.folder, 'var'), { mode: 0o700, recursive: true })
  const store = SqliteStore.open(inState(cli, name), machine)
  t.teardown(() => store.close())
  const state = { version: 'v1', reason: null, rows: 40, files: 2, stored: 'linked', packing: null }
  const size = { warnings: [], diskBytes: 0, earlier: 0, updatedAt: cli.clock.ms }
  const datasets = ['financials', 'procurement'].map((dataset) => {
    return { dataset, status: 'serving' as const, ...state, ...size }
  })
  const registry = { reason: null, updatedAt: cli.clock.ms }
  await saveDatasetStates(store, ['financials', 'procurement'], datasets, registry)
  return store
}

await t.test('das dataset list and reload speak with the server of this folder', async (t) => {
  const cli = await sharedFixture(t)
  t.match(await cli.json(['dataset', 'list']), [{ status: 'not loaded' }, {}])
  const missing = await cli.das(['dataset', 'reload'])
  t.match(missing, { code: 1, stderr: /no server\.db in .*var: no server has run there yet/ })
  const local = await reported(t, cli, 'server.db')
  t.match(await cli.json(['dataset', 'list']), [{ status: 'serving', rows: 40 }, {}])
  t.match(await cli.das(['dataset', 'reload']), { code: 1, stderr: /No server runs over this/ })
  const lock = ServerLock.take(inState(cli, 'server.lock'))
  t.teardown(() => {
    lock.release()
  })
  const reload = cli.json(['dataset', 'reload', '--force'])
  for (;;) {
    const request = await takeReload(local, cli.clock.ms)
    if (request) {
      t.equal(request.force, true)
      await finishReload(local, request.id, cli.clock.ms)
      break
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.match(await reload, [{ name: 'financials', status: 'serving' }, {}])
  t.match(await cli.json(['audit']), [
    { actor: 'olga', action: 'reload.requested', subject: 'reload 1', details: { force: true } },
  ])
})

await t.test('backup refuses, and migrate brings the schema to this release', async (t) => {
  const cli = await sharedFixture(t)
  const backup = await cli.das(['backup', join(cli.folder, 'copy.db')])
  t.match(backup, {
    code: 1,
    stderr: /names a PostgreSQL: back that up with pg_dump \(docs\/scale/,
  })
  t.notOk(existsSync(join(cli.folder, 'copy.db')))
  const release = { release_schema: postgresSchemaVersion }
  const dry = ['migrate', '--dry-run']
  t.same(await cli.json(dry), { schema: 0, ...release, upgraded: false })
  t.match((await cli.das(dry)).stdout, /^The PostgreSQL has no tables .* this release has version/)
  t.same(await cli.json(['migrate']), { schema: 0, ...release, upgraded: true })
  t.match((await cli.das(['migrate'])).stdout, /has schema version \d+, that of this release\.$/m)
  const store = openShared(t, cli.url)
  await store.run(sql`UPDATE schema_version SET version = 99`)
  for (const argv of [dry, ['migrate'], ['subscription', 'list'], create]) {
    const newer = await cli.das(argv)
    t.match(newer, { code: 1, stderr: /written by a newer release: it is version 99/ })
  }
})

// Guarantee: no error names the URL, the host, the user or the password.
await t.test('a PostgreSQL that can not be used is named without its secrets', async (t) => {
  const cli = await buildCliFixture(t)
  const url = new URL(server.url)
  const changed = (change: Partial<URL>) => Object.assign(new URL(url), change).href
  const cases = [
    [changed({ port: '1' }), /no server accepts connections at its address.*\(ECONNREFUSED\)/],
    [changed({ password: `${password}x` }), /refuses this user, its password.*\(28P01\)/],
    [changed({ pathname: '/absent' }), /has no database of this name.*\(3D000\)/],
    [changed({ hostname: 'absent.invalid' }), /name of its machine is not known here.*\(E\w+\)/],
  ] as const
  for (const [given, text] of cases) {
    const environment = { DAS_CONTROL_URL: given, DAS_LOG_LEVEL: 'info' }
    for (const argv of [['subscription', 'list'], create, ['audit'], ['migrate'], ['doctor']]) {
      const { code, stdout, stderr } = await cli.das(argv, { environment })
      t.equal(code, 1, argv.join(' '))
      const said = stdout + stderr
      t.match(said, text)
      t.match(said, /The PostgreSQL can't be used: /)
      for (const secret of [password, 'postgres://', '127.0.0.1:', 'absent', '"das"']) {
        t.notMatch(said.replace(/http:\S+/g, ''), secret)
      }
    }
  }
  for (const wrong of [`mysql://u:${password}@h/db`, pathToFileURL('/x').href, password]) {
    const { code, stderr } = await cli.das(create, { environment: { DAS_CONTROL_URL: wrong } })
    t.equal(code, 2)
    t.match(stderr, /^error: DAS_CONTROL_URL: must be an address like postgres:/)
    t.notMatch(stderr, password)
  }
  t.same(readdirSync(cli.folder).sort(), ['data', 'registry.yaml'], 'no state folder was made')
})
