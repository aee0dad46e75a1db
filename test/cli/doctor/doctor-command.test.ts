import { chmodSync, chownSync, existsSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import type { Test } from 'tap'
import { controlMigrations } from '../../../src/control/store/migrations.js'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import { chargeAll } from '../../../src/control/usage.js'
import { damageTable } from '../../control/fixtures/store.js'
import { buildCliFixture, registryText } from '../fixtures/cli-fixture.js'
import type { CliFixture } from '../fixtures/cli-fixture.js'
import { findingsOf, linesOf, whileServing } from './fixtures/doctor.js'
import { machine } from '../../support/machine.js'

const day = 86_400_000

const sell = (cli: CliFixture) =>
  cli.das(['subscription', 'create', '--email', 'a@example.org', '--plan', 'financials:pro'])

/** An installation that was sold from and served once. */
async function installation(t: Test): Promise<CliFixture> {
  const cli = await buildCliFixture(t)
  await sell(cli)
  await whileServing(cli, [], async () => undefined)
  return cli
}

const inState = (cli: CliFixture, name: string) => join(cli.folder, 'var', name)

await t.test('a sound installation has no failed check, and one line for each', async (t) => {
  const cli = await installation(t)
  await cli.das(['backup', join(cli.folder, 'copy.db')])
  await whileServing(cli, [], async (base) => {
    const findings = await findingsOf(t, cli)
    t.same(
      findings.filter(({ status }) => status === 'fail'),
      [],
    )
    t.match(linesOf(findings, 'state folder'), /^ok .*var, closed to other users/)
    t.match(linesOf(findings, 'control.db'), /^ok intact, schema version \d+, that of this release/)
    t.match(linesOf(findings, 'clock'), /^ok 2026-.*, after all of control\.db/)
    t.match(linesOf(findings, 'server'), `ok ${base}/readyz answers 200`)
    t.match(linesOf(findings, 'proxy'), `ok none between this machine and ${base}`)
    t.match(linesOf(findings, 'limits'), /\d/)
    t.match(linesOf(findings, 'mail'), /^ok off/)
    t.match(linesOf(findings, 'backup'), /^ok the newest known one is .*copy\.db of 2026-/)
    t.match(linesOf(findings, 'registry'), /^ok .*registry\.yaml is valid/)
    t.match(linesOf(findings, 'datasets'), /^ok 2 served/)
    const { code, stdout, stderr } = await cli.das(['doctor'])
    t.match({ code, stderr }, { code: 0, stderr: '' })
    t.equal(stdout.trim().split('\n').length, findings.length)
    for (const line of stdout.trim().split('\n')) t.match(line, /^(ok {2}|warn) {2}[a-z. ]+: /)
  })
})

await t.test('before the first sale and start, it says what is missing', async (t) => {
  const cli = await buildCliFixture(t)
  const { code, stdout, stderr } = await cli.das(['doctor'])
  t.equal(code, 1)
  t.match(
    stdout,
    /^fail {2}state folder: \/.*var is not there; das serve makes it — name the folder of the service/m,
  )
  t.match(stdout, /^warn {2}control\.db: not made yet — /m)
  t.match(stdout, /^warn {2}server: none runs over the state folder/m)
  t.match(stdout, /^warn {2}datasets: financials is not loaded/m)
  t.match(stderr, /^error: 1 of \d+ checks failed\.\n$/)
  t.notOk(existsSync(join(cli.folder, 'var')), 'nothing is made')
})

// Guarantee: a state folder that other users can read or change does not go unnoticed.
await t.test('files that are open to others, of another owner or damaged fail', async (t) => {
  const cli = await installation(t)
  chmodSync(join(cli.folder, 'var'), 0o755)
  chmodSync(inState(cli, 'control.db'), 0o644)
  writeFileSync(inState(cli, 'mail.key'), 'short', { mode: 0o600 })
  if (process.geteuid?.() === 0) chownSync(inState(cli, 'cursor.key'), 12_345, 12_345)
  const found = linesOf(await findingsOf(t, cli), 'state folder')
  t.match(found, /^fail .*var has mode 0755: others may use it — chmod 700 .*var$/m)
  t.match(found, /^fail .*control\.db has mode 0644: others may use it — chmod 600 .*control\.db$/m)
  t.match(found, /^fail .*mail\.key is damaged — docs\/runbook\.md/m)
  if (process.geteuid?.() === 0) {
    t.match(found, /^fail .*cursor\.key belongs to uid 12345, the folder to uid 0 — chown 0 /m)
  }
  t.notMatch(found, /^ok/m)
  const file = join(cli.folder, 'registry.yaml')
  t.match(
    linesOf(await findingsOf(t, cli, { flags: ['--state', file] }), 'state folder'),
    /^fail ENOTDIR/,
  )
})

await t.test('a damaged or newer control.db fails the check and is not changed', async (t) => {
  const cli = await installation(t)
  damageTable(inState(cli, 'control.db'), 'usage')
  t.match(
    linesOf(await findingsOf(t, cli), 'control.db'),
    /^fail The state folder .* can't be used: .*docs\/operating\.md, "Restore"/,
  )
  const newer = await installation(t)
  const db = new Database(inState(newer, 'control.db'))
  db.pragma(`user_version = ${controlMigrations.length + 1}`)
  db.close()
  t.match(linesOf(await findingsOf(t, newer), 'control.db'), /^fail .*newer release/)
  truncateSync(inState(cli, 'control.db'), 0)
  t.match(linesOf(await findingsOf(t, cli), 'control.db'), /^warn schema version 0 of an older/)
})

await t.test('a clock behind or far ahead of control.db is found', async (t) => {
  const cli = await installation(t)
  const start = cli.clock.ms
  cli.clock.ms = start - 2 * 3_600_000
  t.match(
    linesOf(await findingsOf(t, cli), 'clock'),
    /^fail it is \S+ here, and the newest action in control\.db is of \S+ — set the clock right/,
  )
  cli.clock.ms = start + 400 * day
  t.match(linesOf(await findingsOf(t, cli), 'clock'), /^warn .*if the clock runs ahead/)
  cli.clock.ms = start
  const control = SqliteStore.open(inState(cli, 'control.db'), machine)
  const caps = { datasetRowsMax: null, globalRowsMax: null }
  const { subscription } = JSON.parse(
    (await cli.das(['subscription', 'list', '--json'])).stdout.slice(1, -2),
  ) as { subscription: string }
  const charge = { subscriptionId: subscription, dataset: 'financials', rows: 1, ...caps }
  await chargeAll(control, [{ ...charge, period: '2031-01' }])
  await control.close()
  t.match(
    linesOf(await findingsOf(t, cli), 'clock'),
    /^fail .*, and rows are counted in 2031-01 — set the clock right; .*das usage --repair/,
  )
})

await t.test('a backup that is missing, late or old is found', async (t) => {
  const cli = await installation(t)
  t.match(linesOf(await findingsOf(t, cli), 'backup'), /^fail none is known of 1 subscriptions — /)
  await cli.das(['backup', join(cli.folder, 'copy.db')])
  const start = cli.clock.ms
  cli.clock.ms = start + 2 * day
  t.match(linesOf(await findingsOf(t, cli), 'backup'), /^warn the newest known one is .*copy\.db/)
  cli.clock.ms = start + 8 * day
  t.match(linesOf(await findingsOf(t, cli), 'backup'), /^fail the newest known one is .*copy\.db/)
})

await t.test('a refused registry and datasets that are not served are found', async (t) => {
  const cli = await installation(t)
  rmSync(join(cli.folder, 'data', 'procurement.parquet'))
  writeFileSync(join(cli.folder, 'data', 'procurement.parquet'), '')
  await whileServing(cli, [], async () => {
    const findings = await findingsOf(t, cli)
    t.match(linesOf(findings, 'server'), /^warn .*readyz answers 200, reload:refused — /)
    t.match(linesOf(findings, 'datasets'), /^(warn|fail) procurement is (stale|unavailable): /)
  })
  await whileServing(cli, [], async () => {
    const path = join(cli.folder, 'registry.yaml')
    writeFileSync(path, registryText.replace('  financials:', '  renamed:'))
    await cli.das(['dataset', 'reload'])
    const findings = await findingsOf(t, cli)
    t.match(linesOf(findings, 'registry'), /^fail the server refuses the present one: .*financials/)
  })
  const broken = await buildCliFixture(t)
  writeFileSync(join(broken.folder, 'registry.yaml'), 'datasets: {a: {}, "B c": 1}\n')
  const findings = await findingsOf(t, broken)
  t.match(linesOf(findings, 'registry'), /^fail .*registry\.yaml:1:/)
  t.same(
    findings.filter(({ check }) => check === 'datasets'),
    [],
    'nothing is said of datasets that can not be known',
  )
  const listed = await broken.das(['dataset', 'list'])
  t.match(listed.stderr, /^warning: .*registry\.yaml:1:/)
  t.equal(listed.stdout, 'No server has reported a dataset here.\n')
})
