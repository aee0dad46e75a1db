import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import t from 'tap'
import type { CliParts } from '../../src/cli/parts.js'
import { buildProgram } from '../../src/cli/program.js'
import { buildCliFixture } from './fixtures/cli-fixture.js'
import { commandGroups } from '../support/command-groups.js'

/** Every command line that names a command or a group of them. */
function commandLines(command: Command, path: readonly string[] = []): (readonly string[])[] {
  return [path, ...command.commands.flatMap((each) => commandLines(each, [...path, each.name()]))]
}

const program = buildProgram({ version: '0', stdout: {}, stderr: {} } as unknown as CliParts)
const lines = commandLines(program)
const groups = ['', ...commandGroups]
const leaves = lines.filter((path) => !groups.includes(path.join(' ')))

await t.test('every command has a help text with an example, and --json', async (t) => {
  const { das } = await buildCliFixture(t)
  t.same(leaves.map((path) => path.join(' ')).sort(), [
    'audit',
    'backup',
    'connection list',
    'connection revoke',
    'control copy',
    'dataset add',
    'dataset check',
    'dataset list',
    'dataset pack',
    'dataset reload',
    'directory',
    'doctor',
    'enrich',
    'explain',
    'init',
    'mail list',
    'mail send',
    'migrate',
    'order confirm',
    'order decline',
    'order list',
    'order show',
    'report expiring',
    'report orders',
    'report refusals',
    'report revenue',
    'report usage',
    'serve',
    'subscription cancel',
    'subscription change',
    'subscription create',
    'subscription extend',
    'subscription list',
    'subscription show',
    'token check',
    'token list',
    'token reissue',
    'token revoke',
    'usage',
    'webhook add',
    'webhook deliveries',
    'webhook list',
    'webhook remove',
    'webhook resend',
    'webhook secret',
    'webhook test',
  ])
  for (const path of lines) {
    const name = ['das', ...path].join(' ')
    const { code, stdout, stderr } = await das([...path, '--help'])
    t.equal(code, 0, name)
    t.equal(stderr, '', name)
    t.match(stdout, new RegExp(`\\nExamples?:\\n  \\$ .*${name}`), name)
    if (leaves.includes(path)) t.match(stdout, / --json +\S/, name)
  }
})

await t.test('settings are shown with their variable and default', async (t) => {
  const { das } = await buildCliFixture(t)
  const { stdout } = await das(['serve', '--help'])
  t.match(
    stdout.replace(/\s+/g, ' '),
    '--port <value> port to listen on; 0 chooses a free one (DAS_PORT, default 8080)',
  )
})

await t.test('--version prints the version alone', async (t) => {
  const { das } = await buildCliFixture(t)
  t.same(await das(['--version']), { code: 0, stdout: '1.2.3\n', stderr: '' })
})

await t.test('wrong usage ends with 2 and a suggestion on stderr', async (t) => {
  const { das } = await buildCliFixture(t)
  const cases: [argv: string[], stderr: RegExp][] = [
    [[], /^Usage: das/],
    [['subscription'], /^Usage: das subscription/],
    [['serv'], /unknown command 'serv'\n\(Did you mean serve\?\)/],
    [['token', 'lst'], /unknown command 'lst'\n\(Did you mean list\?\)/],
    [['token', 'list', '--jsn'], /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    [['token', 'list', 'a', 'b'], /too many arguments/],
    [['token', 'revoke'], /missing required argument 'id'/],
    [['subscription', 'create', '--plan', 'financials:pro'], /'--email <address>' not specified/],
    [['subscription', 'create', '--email', 'a@b.c'], /'--plan <dataset:plan>' not specified/],
    [
      ['serve', '--port', '99999'],
      /^error: --port \(DAS_PORT\): "99999" is not a port \(0 to 65535\)\n$/,
    ],
    [['dataset', 'check', '--memory-limit', '2'], /^error: --memory-limit \(DAS_MEMORY_LIMIT\): /],
  ]
  for (const [argv, expected] of cases) {
    const { code, stdout, stderr } = await das(argv)
    t.equal(code, 2, argv.join(' '))
    t.equal(stdout, '', argv.join(' '))
    t.match(stderr, expected, argv.join(' '))
  }
})

await t.test('a command that is gone ends with 2 and one line that says what to use', async (t) => {
  const { das } = await buildCliFixture(t)
  for (const rest of [[], ['--help'], ['financials', 'year=eq.2024', '--export', '-o', 'x.csv']]) {
    const { code, stdout, stderr } = await das(['query', ...rest])
    t.same({ code, stdout }, { code: 2, stdout: '' })
    t.match(
      stderr,
      /^error: das query is gone\. .*curl.* "Authorization: Bearer .*\/export .*docs\/rest\.md\.\n$/,
    )
  }
  t.notMatch((await das(['--help'])).stdout, / query /)
})

await t.test('an invalid variable does not stop a command that does not read it', async (t) => {
  const { das } = await buildCliFixture(t)
  const { code } = await das(['token', 'list'], { environment: { DAS_PORT: 'eighty' } })
  t.equal(code, 0)
})

await t.test('every mistake in the registry is a line, and the exit code is 1', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  writeFileSync(join(folder, 'registry.yaml'), 'datasets:\n  a:\n    titel: x\n    limt: 3\n')
  for (const argv of [['dataset', 'check'], ['serve']]) {
    const { code, stdout, stderr } = await das(argv)
    t.equal(code, 1)
    t.equal(stdout, '')
    t.match(
      stderr,
      /^registry\.yaml:3:5: datasets\.a\.titel: unknown key\. Did you mean "title"\?$/m,
    )
    t.match(stderr, /^registry\.yaml:4:5: datasets\.a\.limt: unknown key\./m)
    t.notMatch(stderr, / at |Error:/, 'no stack')
  }
  const missing = await das(['dataset', 'check', '--registry', join(folder, 'none.yaml')])
  t.equal(missing.code, 1)
  t.match(missing.stderr, /^none\.yaml is not there\..*DAS_REGISTRY, --registry.*das init\.\n$/)
})

await t.test('a state folder that cannot be used is one error line', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const environment = { DAS_STATE: join(folder, 'registry.yaml', 'var') }
  const create = ['subscription', 'create', '--email', 'a@b.c', '--plan', 'financials:pro']
  for (const argv of [['serve'], create]) {
    const { code, stdout, stderr } = await das(argv, { environment })
    t.equal(code, 1)
    t.equal(stdout, '')
    t.match(stderr, /^error: The state folder \S+ can't be used: ENOTDIR.*DAS_STATE\.\n$/)
  }
})

await t.test('a damaged control.db is one error line; debugging adds the stack', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  await das(['subscription', 'create', '--email', 'a@b.c', '--plan', 'financials:pro'])
  writeFileSync(join(folder, 'var', 'control.db'), 'this is no database, '.repeat(1000))
  const { code, stderr } = await das(['subscription', 'list'])
  t.equal(code, 1)
  t.match(stderr, /^error: The state folder \S+ can't be used: file is not a database.*\n$/)
  const debug = await das(['subscription', 'list'], { environment: { DAS_LOG_LEVEL: 'debug' } })
  t.match(debug.stderr, /\n {4}at .*\ncaused by: SqliteError/s)
})

await t.test("a subscriber's token in the wrong place is not printed to stderr", async (t) => {
  const { das } = await buildCliFixture(t)
  const create = [
    'subscription',
    'create',
    '--email',
    'a@b.c',
    '--plan',
    'financials:pro',
    '--json',
  ]
  const { token } = JSON.parse((await das(create)).stdout) as { token: string }
  for (const argv of [
    [token],
    ['token', 'revoke', token],
    ['token', 'reissue', token],
    ['token', 'list', token],
    ['subscription', 'show', token],
    ['subscription', 'create', '--email', token, '--plan', token],
  ]) {
    const { code, stdout, stderr } = await das(argv, { environment: { DAS_LOG_LEVEL: 'debug' } })
    t.ok(code > 0)
    t.not(stderr, '')
    t.notMatch(stdout + stderr, /das_live_[0-9A-Za-z]{8}/)
  }
  t.match((await das(['token', 'revoke', token])).stderr, /^error: This is a token\..*tok_…/)
})
