import { join } from 'node:path'
import type { Command } from 'commander'
import t from 'tap'
import { makeConnection } from '../../src/control/connections/make-connection.js'
import { requestReload } from '../../src/control/reload-requests.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { chargeAll } from '../../src/control/usage.js'
import { buildProgram } from '../../src/cli/program.js'
import type { CliParts } from '../../src/cli/parts.js'
import { writeParquet } from '../support/world.js'
import { buildCliFixture } from './fixtures/cli-fixture.js'
import type { CliFixture } from './fixtures/cli-fixture.js'
import { orderYear } from './fixtures/orders.js'
import { machine } from '../support/machine.js'

interface Entry {
  readonly id: number
  readonly time: string
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly details: Readonly<Record<string, unknown>>
}

/** Runs a command that must succeed, and returns its JSON. */
async function json<T>(cli: CliFixture, ...argv: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await cli.das([...argv, '--json'])
  t.equal(code, 0, stderr)
  return JSON.parse(stdout) as T
}

const audit = (cli: CliFixture, ...argv: readonly string[]) => json<Entry[]>(cli, 'audit', ...argv)

const create = ['subscription', 'create', '--email', 'a@b.example', '--plan', 'financials:pro']

/** What each command records; `[]` for a command that changes nothing which is recorded. */
const recordedBy: Readonly<Record<string, readonly string[]>> = {
  // The server's own entries are in test/io/app/audit.test.ts.
  serve: [],
  // The registry exists here; test/cli/dataset/init-command.test.ts writes one.
  init: [],
  'subscription create': ['subscription.created', 'token.issued'],
  'subscription list': [],
  'subscription show': [],
  'subscription extend': ['subscription.extended'],
  'subscription change': ['subscription.changed'],
  'subscription cancel': ['subscription.cancelled'],
  'connection list': [],
  'connection revoke': ['connection.ended'],
  'webhook list': [],
  'webhook add': ['webhook.added'],
  'webhook deliveries': [],
  'webhook remove': ['webhook.deleted'],
  'webhook resend': [],
  'webhook secret': ['webhook.secret'],
  'webhook test': [],
  'order list': [],
  'order show': [],
  'order confirm': ['subscription.created', 'token.issued', 'order.confirmed'],
  'order decline': ['order.declined'],
  'token reissue': ['token.reissued'],
  'token revoke': ['token.revoked'],
  'token list': [],
  'token check': [],
  // The test of usage is `--repair`.
  usage: ['usage.repaired'],
  explain: [],
  enrich: [],
  'report revenue': [],
  'report expiring': [],
  'report usage': [],
  'report refusals': [],
  'report orders': [],
  directory: [],
  backup: [],
  'control copy': [],
  audit: [],
  'mail list': [],
  // Sends no letter here; test/control/audit.test.ts has the ends of letters.
  'mail send': [],
  'dataset add': ['dataset.added'],
  migrate: [],
  doctor: [],
  'dataset list': [],
  'dataset check': [],
  'dataset pack': ['pack.made'],
  // No server runs here; `reload.requested` has a test of its own below.
  'dataset reload': [],
}

function commandNames(command: Command, path: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [path.join(' ')]
  return command.commands.flatMap((each) => commandNames(each, [...path, each.name()]))
}

await t.test('every command that changes something is recorded, and no other', async (t) => {
  const cli = await buildCliFixture(t)
  await writeParquet(cli.folder, { 'data/more.parquet': 'SELECT 1 AS a' })
  // Only names are read.
  const program = buildProgram({ version: '1' } as unknown as CliParts)
  t.same(Object.keys(recordedBy).sort(), commandNames(program).sort())

  const sold = await json<{ subscription: string; token: string }>(cli, ...create)
  const id = sold.subscription
  const [token] = await json<{ id: string }[]>(cli, 'token', 'list', id)
  const confirmed = await orderYear(cli, 'c@d.example')
  const connection = await connect(cli, id, token?.id ?? '')
  const hook = [id, 'https://localhost:1/?key=own', '--event', 'quota.80']
  const addHook = () => json<{ id: string }>(cli, 'webhook', 'add', ...hook)
  const [removed, webhook] = [(await addHook()).id, (await addHook()).id]
  const argvOf: Readonly<Record<string, readonly string[]>> = {
    'subscription create': create,
    'subscription show': ['subscription', 'show', id],
    'subscription extend': ['subscription', 'extend', id],
    'subscription change': ['subscription', 'change', id, '--plan', 'procurement:start'],
    'subscription cancel': ['subscription', 'cancel', id],
    'connection revoke': ['connection', 'revoke', connection],
    'order show': ['order', 'show', confirmed],
    'order confirm': ['order', 'confirm', confirmed],
    'order decline': ['order', 'decline', await orderYear(cli, 'e@f.example')],
    'token reissue': ['token', 'reissue', id],
    'token revoke': ['token', 'revoke', token?.id ?? ''],
    'webhook add': ['webhook', 'add', ...hook],
    'webhook deliveries': ['webhook', 'deliveries', webhook],
    'webhook remove': ['webhook', 'remove', removed],
    'webhook resend': ['webhook', 'resend', webhook, '1'],
    'webhook secret': ['webhook', 'secret', webhook],
    'webhook test': ['webhook', 'test', webhook],
    usage: ['usage', '--repair'],
    explain: ['explain', id, '/v1/financials?inn=eq.0000000001'],
    backup: ['backup', join(cli.folder, 'copy.db')],
    'dataset add': ['dataset', 'add', join(cli.folder, 'data/more.parquet'), '--yes'],
    'dataset pack': ['dataset', 'pack', 'procurement'],
  }
  await chargeLater(cli, id)
  const last = Object.keys(recordedBy).sort((left, right) => order(left) - order(right))
  for (const name of last.filter((each) => each !== 'serve')) {
    const before = (await audit(cli)).length
    const { code, stderr } = await cli.das(argvOf[name] ?? name.split(' '))
    const expected = recordedBy[name] ?? []
    if (expected.length > 0) t.equal(code, 0, `${name}: ${stderr}`)
    const added = (await audit(cli)).slice(before)
    t.same(
      added.map(({ action }) => action),
      expected,
      name,
    )
    for (const { actor, time } of added) t.same([actor, time], ['olga', '2026-11-15T12:00:00Z'])
  }
  const { stdout } = await cli.das(['audit', '--json'])
  t.notMatch(stdout, /das_live_|whsec_|localhost/, 'no token, no secret, no address')
})

/** Makes a connection as an agent's sign-in does, and returns its id. */
async function connect(
  { folder, clock }: CliFixture,
  subscriptionId: string,
  tokenId: string,
): Promise<string> {
  const store = SqliteStore.open(join(folder, 'var', 'control.db'), machine)
  const { connectionId } = await makeConnection(store, {
    owner: { subscriptionId, tokenId },
    clientId: 'dac_test',
    clientName: 'Test',
    redirectUri: 'http://127.0.0.1/callback',
    codeChallenge: 'x'.repeat(43),
    now: clock.ms,
  })
  await store.close()
  return connectionId
}

/** A cancelled subscription can't be changed. */
function order(name: string): number {
  return name === 'subscription cancel' ? 1 : 0
}

async function chargeLater(cli: CliFixture, subscriptionId: string): Promise<void> {
  const control = SqliteStore.open(join(cli.folder, 'var', 'control.db'), machine)
  const caps = { datasetRowsMax: null, globalRowsMax: null }
  await chargeAll(control, [
    { subscriptionId, dataset: 'financials', period: '2026-12', rows: 7, ...caps },
  ])
  await control.close()
}

await t.test('a failed command records no action', async (t) => {
  const cli = await buildCliFixture(t)
  await cli.das(create)
  const before = await audit(cli)
  for (const argv of [
    ['subscription', 'cancel', 'sub_0123456789abcdef'],
    ['token', 'revoke', 'tok_0123456789abcdef'],
    [...create.slice(0, -1), 'financials:gold'],
    ['dataset', 'add', join(cli.folder, 'registry.yaml'), '--yes'],
    ['dataset', 'add', join(cli.folder, 'data/procurement.parquet'), '--dry-run', '--yes'],
  ]) {
    await cli.das(argv)
    t.same(await audit(cli), before, argv.join(' '))
  }
})

await t.test('audit prints a table, newest last, and finds by time and subject', async (t) => {
  const cli = await buildCliFixture(t)
  const { subscription } = await json<{ subscription: string }>(cli, ...create)
  await json(cli, ...create)
  cli.clock.ms += 26 * 3_600_000
  await json(cli, 'subscription', 'extend', subscription, '--months', '12')
  const { code, stdout, stderr } = await cli.das(['audit', '--subject', subscription])
  t.same({ code, stderr }, { code: 0, stderr: '' })
  const [titles, ...lines] = stdout.trimEnd().split('\n')
  t.equal(titles, 'TIME\tWHO\tACTION\tSUBJECT\tDETAILS')
  t.match(lines, [
    /^2026-11-15T12:00:00Z\tolga\tsubscription.created\tsub_\w+\temail: a@b.example, grants: \["financials:pro"\], months: 1, price_rub: 3900, expires_at: 2026-12-15T12:00:00Z$/,
    /^2026-11-15T12:00:00Z\tolga\ttoken.issued\ttok_\w+\tsubscription: sub_\w+$/,
    /^2026-11-16T14:00:00Z\tolga\tsubscription.extended\tsub_\w+\tmonths: 12, price_rub: 39000, expires_at: 2027-12-15T12:00:00Z$/,
  ])
  const counted = async (...argv: readonly string[]) => (await audit(cli, ...argv)).length
  t.equal(await counted(), 5)
  for (const since of ['24h', '2026-11-16', '2026-11-15T12:00:01Z', '2026-11-16T14:00Z']) {
    t.equal(await counted('--since', since), 1, since)
  }
  t.equal(await counted('--since', '2026-11-15T12:00Z'), 5)
  t.equal(await counted('--since', '2026-11-17'), 0)
  const none = await cli.das(['audit', '--since', '2026-11-17'])
  t.equal(none.stdout, 'No such action was recorded.\n')
  for (const since of ['yesterday', '2026-02-30', '2026-11-15T12:00', '9999d', '16.11.2026']) {
    const refused = await cli.das(['audit', '--since', since])
    t.equal(refused.code, 2, since)
    t.match(refused.stderr, `got "${since}"`)
  }
})

await t.test('a forced reload and what it was about can be found', async (t) => {
  const cli = await buildCliFixture(t)
  await cli.das(create)
  const control = SqliteStore.open(join(cli.folder, 'var', 'control.db'), {
    ...machine,
    actor: 'ivan',
  })
  await requestReload(control, { force: true, dataset: null }, cli.clock.ms)
  await control.close()
  t.match(await audit(cli, '--subject', 'reload 1'), [
    { actor: 'ivan', action: 'reload.requested', details: { force: true } },
  ])
})

await t.test('audit without control.db is an error that names the folder', async (t) => {
  const cli = await buildCliFixture(t)
  const { code, stderr } = await cli.das(['audit'])
  t.equal(code, 1)
  t.match(stderr, 'There is no control.db')
})
