import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import type { Test } from 'tap'
import { exitFailureOf } from '../../src/cli/exit-failure.js'
import { stateFailure } from '../../src/cli/state-failure.js'
import { withStore } from '../../src/cli/state.js'
import { controlMigrations, migrate } from '../../src/control/store/migrations.js'
import { ServerLock } from '../../src/control/store/server-lock.js'
import { damageTable } from '../control/fixtures/store.js'
import { buildCliFixture } from './fixtures/cli-fixture.js'
import type { CliFixture } from './fixtures/cli-fixture.js'
import { sql } from '../../src/control/store/sql.js'
import { machine } from '../support/machine.js'

const create = ['subscription', 'create', '--email', 'a@b.example', '--plan', 'financials:start']

const controlPath = (cli: CliFixture) => join(cli.folder, 'var', 'control.db')

/** A fixture whose control.db was written by an earlier release. */
async function cliOverOldState(t: Test, version: number) {
  const cli = await buildCliFixture(t)
  mkdirSync(join(cli.folder, 'var'))
  const db = new Database(controlPath(cli))
  db.pragma('journal_mode = WAL')
  migrate(db, controlMigrations.slice(0, version))
  db.exec(`INSERT INTO subscribers VALUES (1, 'old@b.example', 1);
    INSERT INTO subscriptions (id, subscriber_id, created_at, expires_at)
      VALUES ('sub_old', 1, 1, 4000000000000)`)
  db.close()
  return cli
}

function versionOf(cli: CliFixture): unknown {
  const db = new Database(controlPath(cli), { readonly: true })
  const version = db.pragma('user_version', { simple: true })
  db.close()
  return version
}

/** Before the audit trail. */
const older = 3
const newest = controlMigrations.length

await t.test('commands that only read leave the schema of an older release alone', async (t) => {
  const cli = await cliOverOldState(t, older)
  const before = readFileSync(controlPath(cli))
  const needing = [
    ...['subscription show', 'order list', 'usage', 'mail list', 'dataset list', 'audit'],
  ]
  const reading = [
    ['subscription', 'list'],
    ['subscription', 'show', 'sub_old'],
    ['order', 'list'],
    ['token', 'list'],
    ['usage'],
    ['mail', 'list'],
    ['token', 'check'],
    ['dataset', 'list'],
    ['dataset', 'check'],
    ['audit'],
    ['explain', 'sub_old', '/v1/financials?inn=eq.0000000001'],
    ['backup', join(cli.folder, 'copy.db')],
    ['doctor'],
    ['migrate', '--dry-run'],
  ]
  for (const argv of reading) {
    const { code, stdout, stderr } = await cli.das(argv)
    const isReadable = !needing.includes(argv.slice(0, 2).join(' '))
    if (isReadable) t.notMatch(stderr, /schema|no such/, argv.join(' '))
    if (argv[1] === 'list' && argv[0] === 'subscription') t.match(stdout, 'old@b.example')
    if (isReadable) continue
    t.equal(code, 1)
    t.match(
      stderr,
      /^error: control\.db in .*var has schema version \d, of an older release, which this command can't read\. das serve of this release upgrades it\.\n$/,
    )
  }
  t.equal(versionOf(cli), older)
  t.ok(readFileSync(controlPath(cli)).equals(before), 'the file is unchanged')
  t.notOk(existsSync(`${controlPath(cli)}.before-v${newest}`))
})

await t.test('a command that writes upgrades control.db only when no server runs', async (t) => {
  const cli = await cliOverOldState(t, older)
  const lock = ServerLock.take(join(cli.folder, 'var', 'server.lock'))
  const refused = await cli.das(create)
  t.equal(refused.code, 1)
  t.match(
    refused.stderr,
    /^error: control\.db has schema version \d, of an older release, and a server runs over it\. Stop that server/,
  )
  t.equal(versionOf(cli), older)
  lock.release()
  t.equal((await cli.das(create)).code, 0)
  t.equal(versionOf(cli), controlMigrations.length)
  ServerLock.take(join(cli.folder, 'var', 'server.lock')).release()
})

await t.test('das migrate upgrades control.db once; a dry run leaves it as it is', async (t) => {
  const cli = await cliOverOldState(t, older)
  const state = join(cli.folder, 'var')
  const before = [readFileSync(controlPath(cli)), readdirSync(state)]
  const dry = await cli.das(['migrate', '--dry-run'])
  t.match(
    dry.stdout,
    `schema version 3, this release has ${newest}. An upgrade of a copy succeeded`,
  )
  t.same([readFileSync(controlPath(cli)), readdirSync(state)], before)

  const lock = ServerLock.take(join(state, 'server.lock'))
  t.match(await cli.das(['migrate']), { code: 1, stderr: /a server runs over it/ })
  lock.release()
  t.equal(versionOf(cli), older)

  t.match(await cli.das(['migrate']), {
    code: 0,
    stdout: `upgraded from schema version 3 to ${newest}.`,
  })
  t.equal(versionOf(cli), newest)
  t.ok(existsSync(`${controlPath(cli)}.before-v${newest}`))
  const again = await cli.das(['migrate', '--json'])
  t.same(JSON.parse(again.stdout), { schema: newest, release_schema: newest, upgraded: false })
})

await t.test('a dry run ends as the upgrade would', async (t) => {
  const cli = await cliOverOldState(t, older)
  const db = new Database(controlPath(cli))
  db.exec('CREATE TABLE payments (a)')
  db.close()
  const { code, stderr } = await cli.das(['migrate', '--dry-run'])
  t.equal(code, 1)
  t.match(stderr, /table payments already exists/)
  t.same(
    readdirSync(join(cli.folder, 'var')).filter((name) => name.startsWith('migrate-')),
    [],
  )
})

// Guarantee: a revocation that succeeds takes effect.
await t.test('a command fails when its control.db was replaced while it ran', async (t) => {
  const cli = await buildCliFixture(t)
  await cli.das(create)
  const [path, state] = [controlPath(cli), join(cli.folder, 'var')]
  const backup = join(cli.folder, 'copy.db')
  await cli.das(['backup', backup])
  const work = () =>
    withStore({ ...machine, user: 'olga', environment: {} }, state, async (store) => {
      await store.run(sql`UPDATE tokens SET revoked_at = 1`)
      renameSync(path, `${path}.aside`)
      copyFileSync(backup, path)
    })
  await t.rejects(work, {
    message: /^control\.db was replaced while the command ran: .*Run the command/,
  })
})

await t.test('no new control.db is created under a server whose file was moved away', async (t) => {
  const cli = await buildCliFixture(t)
  const lock = ServerLock.take(join(cli.folder, 'var', 'server.lock'))
  t.teardown(() => {
    lock.release()
  })
  const { code, stderr } = await cli.das(create)
  t.equal(code, 1)
  t.match(stderr, /^error: A server runs over .*var, and its control\.db is gone: restore it first/)
  t.notOk(existsSync(controlPath(cli)))
})

await t.test('a damaged control.db is reported with the newest backup', async (t) => {
  const cli = await buildCliFixture(t)
  await cli.das(create)
  const backup = join(cli.folder, 'copy.db')
  await cli.das(['backup', backup])
  damageTable(controlPath(cli), 'subscriptions')
  const advice =
    `The newest known backup is ${backup} of ${new Date(cli.clock.ms).toISOString()}. ` +
    'docs/operating.md, "Restore", says how to put a backup in its place.'
  for (const argv of [['subscription', 'list'], create, ['serve', '--port', '0']]) {
    const { code, stderr } = await cli.das(argv)
    t.equal(code, 1, argv.join(' '))
    t.match(
      stderr,
      /^error: The state folder .*var can't be used: database disk image is malformed/,
    )
    t.match(stderr, advice)
  }
})

await t.test('each error code of the system has a text', (t) => {
  const cases = [
    ['ENOSPC', /the disk is full\./],
    ['SQLITE_FULL', /the disk is full\./],
    ['EROFS', /it is read-only/],
    ['SQLITE_READONLY_DBMOVED', /it is read-only/],
    ['EACCES', /this user may not read and write it\./],
    ['SQLITE_CANTOPEN', /this user may not read and write it\./],
    ['SQLITE_BUSY', /another process holds control\.db locked\./],
    ['EIO', /can't be used: said by the system\. Name another folder with --state/],
  ] as const
  for (const [code, words] of cases) {
    const cause = Object.assign(new Error('said by the system'), { code })
    const { lines } = exitFailureOf(stateFailure('/srv/das', cause))
    t.match(lines[0], /^error: The state folder \/srv\/das can't be used: .*said by the system/)
    t.match(lines[0], words, code)
    t.notMatch(lines[0], /another server/)
  }
  t.end()
})

await t.test('a disk that is full is called so by a command that only reads', async (t) => {
  const cli = await buildCliFixture(t)
  const state = join(cli.folder, 'var')
  mkdirSync(state)
  try {
    const options = ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', state]
    execFileSync('/usr/bin/env', ['mount', ...options], { stdio: 'ignore' })
  } catch {
    t.comment('no file system of its own can be mounted here')
    return
  }
  try {
    t.equal((await cli.das(create)).code, 0)
    t.throws(() => writeFileSync(join(state, 'fill'), Buffer.alloc(4 * 2 ** 20)), /ENOSPC/)
    const { code, stderr } = await cli.das(['subscription', 'list'])
    t.equal(code, 1)
    t.match(stderr, /can't be used: the disk is full\. Free some space, .* \(disk I\/O error\)\./)
  } finally {
    execFileSync('/usr/bin/env', ['umount', state])
  }
})

await t.test('a limit of open files is not blamed on the state folder', (t) => {
  const cause = Object.assign(new Error('too many open files'), { code: 'EMFILE' })
  t.same(exitFailureOf(stateFailure('/srv/das', cause)).lines, [
    'error: This process reached its limit of open files. Raise the limit: ' +
      '`ulimit -n 65536` in the shell, `LimitNOFILE=65536` in the systemd unit.',
  ])
  t.end()
})

await t.test('a native module without its binary is reported with the remedy', (t) => {
  const failures = [
    ['ERR_DLOPEN_FAILED', 'linux-x64.node: invalid ELF header\nRequire stack'],
    ['MODULE_NOT_FOUND', "Cannot find module '/das/build/Release/better_sqlite3.node'"],
    ['MODULE_NOT_FOUND', "Cannot find module '@duckdb/node-bindings-linux-x64/duckdb.node'"],
  ] as const
  for (const [code, message] of failures) {
    const cause = Object.assign(new Error(message), { code })
    t.same(exitFailureOf(stateFailure('/srv/das', cause)).lines, [
      `error: There is no binary of SQLite or DuckDB for this system (${process.platform}, ` +
        `${process.arch}) here. Install the program again on this machine (in a clone: npm ci). ` +
        'docs/installing.md lists the systems that have one.',
    ])
  }
  const other = Object.assign(new Error("Cannot find module 'x'"), { code: 'MODULE_NOT_FOUND' })
  t.same(exitFailureOf(other).lines, ["error: Cannot find module 'x'"])
  t.end()
})
