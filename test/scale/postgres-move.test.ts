import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'
import { databaseFindings } from '../../src/cli/doctor/folder-checks.js'
import { listActions } from '../../src/control/audit.js'
import { saveDatasetStates } from '../../src/control/dataset-state.js'
import { findKey } from '../../src/control/keys.js'
import { copiedTables } from '../../src/control/postgres/copy-store.js'
import { postgresSchemaVersion } from '../../src/control/postgres/postgres-migrations.js'
import { PostgresStore } from '../../src/control/postgres/postgres-store.js'
import { controlMigrations, migrate } from '../../src/control/store/migrations.js'
import { ServerLock } from '../../src/control/store/server-lock.js'
import { sql, sqlText } from '../../src/control/store/sql.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { listSubscriptions } from '../../src/control/subscriptions.js'
import { buildCliFixture } from '../cli/fixtures/cli-fixture.js'
import type { CliFixture } from '../cli/fixtures/cli-fixture.js'
import { findingsOf, linesOf } from '../cli/doctor/fixtures/doctor.js'
import { freshDatabase, password, startPostgres } from './fixtures/postgres.js'
import { machine } from '../support/machine.js'

const server = await startPostgres(t)

const create = ['subscription', 'create', '--email', 'a@example.org', '--plan', 'financials:pro']
const copy = ['control', 'copy']
const key = Buffer.alloc(32, 7)

const inState = ({ folder }: CliFixture, name: string) => join(folder, 'var', name)

/** An installation that sold something, and has a key. */
async function installation(t: Test): Promise<CliFixture> {
  const cli = await buildCliFixture(t)
  await cli.das(create)
  writeFileSync(inState(cli, 'mail.key'), key, { mode: 0o600 })
  return cli
}

function openShared(t: Test, url: string): PostgresStore {
  const store = new PostgresStore(url, machine)
  t.teardown(() => store.close())
  return store
}

async function isEmpty(store: PostgresStore): Promise<boolean> {
  const tables = [...copiedTables, { name: 'keys' }]
  const rows = await Promise.all(
    tables.map(({ name }) => store.all(sql`SELECT 1 FROM ${sqlText(name)}`)),
  )
  return rows.flat().length === 0
}

await t.test('das control copy moves everything, and commands go on there', async (t) => {
  const cli = await installation(t)
  const url = await freshDatabase(server.url)
  const environment = { DAS_CONTROL_URL: url }
  const before = readFileSync(inState(cli, 'control.db'))
  const { code, stdout, stderr } = await cli.das(copy, { environment })
  t.match({ code, stderr }, { code: 0, stderr: '' })
  for (const { name } of copiedTables) t.match(stdout, new RegExp(`^${name}\\t\\d+$`, 'm'))
  t.match(stdout, /^subscriptions\t1$/m)
  t.match(stdout, /^Copied and compared \d+ rows, and mail\.key\.$/m)
  t.match(stdout, /Next:\n {2}1\. Set DAS_CONTROL_URL for every server/)
  t.match(stdout, /^control\.db in .*var stays as it was\./m)
  t.notMatch(stdout, password)
  t.same(readFileSync(inState(cli, 'control.db')), before)
  const store = openShared(t, url)
  t.same(await findKey(store, 'unused', 'mail.key'), key)
  const file = SqliteStore.openToRead(inState(cli, 'control.db'), machine)
  t.teardown(() => file.close())
  t.same(await listSubscriptions(store), await listSubscriptions(file))
  t.same(await listActions(store, {}), await listActions(file, {}))
  await cli.das(create, { environment })
  t.equal((await listSubscriptions(store)).length, 2)
  t.equal((await listSubscriptions(file)).length, 1)
  const again = await cli.das(copy, { environment })
  t.match(again, {
    code: 1,
    stdout: '',
    stderr: /^error: the PostgreSQL holds subscribers already/,
  })
  t.equal((await listSubscriptions(store)).length, 2)
})

await t.test('--to names the PostgreSQL too, and --json has the tables', async (t) => {
  const cli = await installation(t)
  const url = await freshDatabase(server.url)
  const { code, stdout } = await cli.das([...copy, '--to', url, '--json'])
  t.equal(code, 0)
  const { tables, keys } = JSON.parse(stdout) as { tables: { table: string }[]; keys: string[] }
  t.same(
    tables.map(({ table }) => table),
    copiedTables.map(({ name }) => name),
  )
  t.same(keys, ['mail.key'])
  t.match((await cli.das([...copy, '--help'])).stdout, /list of processes[^]*DAS_CONTROL_URL/)
})

await t.test(
  'nothing is copied beside a server, without control.db or of an older one',
  async (t) => {
    const cli = await buildCliFixture(t)
    const url = await freshDatabase(server.url)
    const environment = { DAS_CONTROL_URL: url }
    t.match(await cli.das(copy), { code: 2, stderr: /Name the PostgreSQL in DAS_CONTROL_URL, or/ })
    const wrong = await cli.das([...copy, '--to', `das:${password}@host`])
    t.match(wrong, { code: 2, stderr: /^error: --to: must be an address like postgres/ })
    t.notMatch(wrong.stderr, password)
    t.match(await cli.das(copy, { environment }), { code: 1, stderr: /There is no control\.db in/ })
    t.notOk(existsSync(join(cli.folder, 'var')))
    mkdirSync(join(cli.folder, 'var'), { mode: 0o700 })
    const old = new Database(inState(cli, 'control.db'))
    migrate(old, controlMigrations.slice(0, 3))
    old.close()
    const outdated = await cli.das(copy, { environment })
    t.match(outdated, { code: 1, stderr: /is of an older release: run das migrate without DAS_C/ })
    await cli.das(['migrate'])
    const names = readdirSync(join(cli.folder, 'var')).sort()
    const lock = ServerLock.take(inState(cli, 'server.lock'))
    const beside = await cli.das(copy, { environment })
    lock.release()
    t.match(beside, { code: 1, stderr: /A server runs over .*var, and what it records during/ })
    t.ok(await isEmpty(openShared(t, url)))
    const down = { DAS_CONTROL_URL: Object.assign(new URL(url), { port: '1' }).href }
    const refused = await cli.das(copy, { environment: down })
    t.match(refused, { code: 1, stderr: /can't be used: no server accepts connections/ })
    writeFileSync(inState(cli, 'mail.key'), 'short')
    const damaged = await cli.das(copy, { environment })
    t.match(damaged, { code: 1, stdout: '', stderr: /mail\.key in the state folder is damaged/ })
    t.ok(await isEmpty(openShared(t, url)), 'no row stays after a failure')
    const added = readdirSync(join(cli.folder, 'var')).filter((name) => !names.includes(name))
    t.same(
      added.filter((name) => !/^(control\.db|server\.lock|mail\.key)/.test(name)),
      [],
    )
  },
)

await t.test('das doctor checks the PostgreSQL in place of control.db and backup', async (t) => {
  const cli = await installation(t)
  const url = await freshDatabase(server.url)
  const environment = { DAS_CONTROL_URL: url }
  const shared = { ...cli, das: cli.das }
  cli.clock.ms = Date.now()
  const doctor = async () => await findingsOf(t, shared, { environment })
  const lines = async () => linesOf(await doctor(), 'PostgreSQL')
  t.match(await lines(), /^warn reachable, and has no tables .* — das control copy moves/)
  await cli.das(copy, { environment })
  cli.clock.ms = Date.now()
  const findings = await doctor()
  const found = linesOf(findings, 'PostgreSQL')
  t.match(found, `ok reachable, schema version ${postgresSchemaVersion}, that of this release`)
  t.equal(linesOf(findings, 'control.db'), '')
  t.equal(linesOf(findings, 'backup'), '')
  t.match(linesOf(findings, 'clock'), /^ok .*, after all of the PostgreSQL/)
  t.match(linesOf(findings, 'datasets'), /no server has reported it yet/)
  t.equal(linesOf(findings, 'server.db'), '')
  cli.clock.ms = Date.now() + 60_000
  t.match(
    await lines(),
    /^warn its clock differs from this machine's by -[\d.]+ s — keep both right/m,
  )
  cli.clock.ms = Date.now()
  const local = SqliteStore.open(inState(cli, 'server.db'), machine)
  const registry = { reason: 'no\nsuch plan', updatedAt: cli.clock.ms }
  await saveDatasetStates(local, [], [], registry)
  await local.close()
  t.match(linesOf(await doctor(), 'registry'), /^fail the server refuses the present one: no/)
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query('UPDATE das.schema_version SET version = 99')
  await admin.end()
  t.match(
    await lines(),
    /^fail reachable, schema version 99, and this release has \d+ — run the newer release/,
  )
  writeFileSync(inState(cli, 'server.db'), 'x'.repeat(5000))
  t.match(await lines(), /^fail .*move server\.db aside/)
})

await t.test('a clock and a standby that are wrong are found', (t) => {
  const good = { isReadOnly: false, clockAheadMs: 5000 }
  const statusOf = (facts: Partial<Parameters<typeof databaseFindings>[0]>) =>
    databaseFindings({ schemaVersion: postgresSchemaVersion, ...good, ...facts }).map(
      ({ status }) => status,
    )
  t.same(statusOf({}), ['ok'])
  t.same(statusOf({ clockAheadMs: 5001 }), ['ok', 'warn'])
  t.same(statusOf({ clockAheadMs: -9040 }), ['ok', 'warn'])
  t.same(statusOf({ isReadOnly: true }), ['ok', 'fail'])
  t.end()
})
