import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { buildCliFixture, fixtureFiles, registryText } from '../../cli/fixtures/cli-fixture.js'
import type { Outcome } from '../../cli/fixtures/cli-fixture.js'

const serve = ['serve', '--port', '0']
const byNpm = { npm_lifecycle_event: 'start' }

const run = promisify(execFile)

/** The rows that a printed curl gets, pasted into bash as it is. */
async function paste(text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const command = /^ *(curl .*)$/m.exec(text)?.[1] ?? 'false'
  const { stdout } = await run('bash', ['-c', `${command} --silent --fail`])
  return (JSON.parse(stdout) as { data: Readonly<Record<string, unknown>>[] }).data
}

await t.test(
  'the banner has the address and the datasets, and its curl returns demo rows',
  async (t) => {
    const { das, folder } = await buildCliFixture(t)
    writeFileSync(join(folder, 'data', 'procurement.parquet'), '')
    const { code, stdout, stderr } = await das(serve, {
      environment: byNpm,
      whileServing: async ({ stderr }) => {
        t.same(await paste(stderr), [
          { inn: '0000000001', year: 2023, name: 'Company 1' },
          { inn: '0000000002', year: 2023, name: 'Company 2' },
          { inn: '0000000001', year: 2024, name: 'Company 1' },
          { inn: '0000000002', year: 2024, name: 'Company 2' },
        ])
      },
    })
    t.equal(code, 0)
    t.match(stderr, /^Dataset Access Service 1\.2\.3 at http:\/\/127\.0\.0\.1:\d+\n/m)
    t.match(stderr, '\n  financials   40 rows  Statements\n')
    t.match(stderr, '\n  procurement  unavailable: data/procurement.parquet is empty (0 bytes)\n')
    const base = /at (\S+)\n/.exec(stderr)?.[1] ?? ''
    t.same(JSON.parse(/^ *(\{"mcpServers".*\})$/m.exec(stderr)?.[1] ?? '{}'), {
      mcpServers: {
        datasets: { url: `${base}/mcp/`, headers: { Authorization: 'Bearer das_demo_test1' } },
      },
    })
    for (const line of stdout.trim().split('\n')) t.type(JSON.parse(line), 'object')
    t.match(stdout, /"msg":"stopped"\}\n$/)
  },
)

await t.test('printed links have the address of the server', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const buy = ['subscription', 'create', '--email', 'a@example.org', '--plan', 'financials:pro']
  const add = ['dataset', 'add', join(folder, 'data', 'procurement.parquet'), '--name', 'more']
  const linksOf = async (environment = {}) => {
    const [sold, added] = [
      await das(buy, { environment }),
      await das([...add, '--yes', '--no-dictionary'], { environment }),
    ]
    writeFileSync(join(folder, 'registry.yaml'), registryText)
    t.same([sold.code, added.code], [0, 0], sold.stderr + added.stderr)
    const links = (sold.stdout + added.stdout).matchAll(/^ *curl .*?(https?:\/\/[^/]+)\//gm)
    return [...links].map(([, link]) => link)
  }
  const usual = 'http://127.0.0.1:8080'
  t.same(await linksOf(), [usual, usual])
  await das(serve, {
    environment: byNpm,
    whileServing: async ({ stderr }) => {
      const base = /at (\S+)\n/.exec(stderr)?.[1] ?? ''
      t.not(base, usual)
      t.same(await linksOf(), [base, base])
      t.equal(statSync(join(folder, 'var', 'address')).mode & 0o777, 0o600)
      const given = { DAS_PUBLIC_URL: 'https://data.example.org' }
      t.same(await linksOf(given), Array(2).fill('https://data.example.org'), 'what is given')
      const port = 'http://127.0.0.1:9000'
      t.same(await linksOf({ DAS_PORT: '9000' }), [port, port])
      const bought = (await das(buy)).stdout
      t.equal((await paste(bought)).length, 4, 'it works as it is printed')
    },
  })
  t.same(await linksOf(), [usual, usual], 'no server runs any more')
})

await t.test('a server stops whole when it can not remove its address', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const address = join(folder, 'var', 'address')
  const { code, stdout, stderr } = await das(serve, {
    whileServing: async () => {
      rmSync(address)
      mkdirSync(address)
    },
  })
  t.same({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, /"level":40,.*"msg":"can't remove the address for other commands"/)
  t.match(stdout, /"msg":"stopped"\}\n$/)
})

await t.test('any value and name is safe in URLs and in the shell', async (t) => {
  const name = `it's "a", b\\c & 100% $HOME [x] {y} *`
  const value = name.replaceAll("'", "''")
  const registry = `
demo: {token: das_demo_test1}
datasets:
  odd:
    title: Odd
    files: data/odd.parquet
    key: ["the 'key', quoted", secret]
    columns: {secret: {hidden: true}}
    demo: {secret: ["s"], "the 'key', quoted": [${JSON.stringify(name)}, "(b)"]}
`
  const { das } = await buildCliFixture(t, registry, {
    'data/odd.parquet':
      `SELECT 's' AS secret, unnest(['${value}', '(b)', 'c']) AS "the 'key', quoted", ` +
      '5 AS "a&b=c"',
  })
  await das(serve, {
    environment: byNpm,
    whileServing: async ({ stderr }) => {
      t.same(await paste(stderr), [{ "the 'key', quoted": name }, { "the 'key', quoted": '(b)' }])
    },
  })
})

await t.test('without a demo subset the banner says how to sell', async (t) => {
  const { das } = await buildCliFixture(t, registryText.replace(/^demo:.*$/m, ''))
  const { stderr } = await das(serve, { environment: byNpm })
  t.match(
    stderr,
    '\n  npx das subscription create --email you@example.org --plan financials:free\n',
  )
  t.notMatch(stderr, 'curl')
})

await t.test('an empty registry is served, and the banner says how to add a dataset', async (t) => {
  const { das } = await buildCliFixture(t, 'datasets: {}')
  const { code, stderr } = await das(serve, { isTerminal: true })
  t.equal(code, 0)
  t.match(stderr, '\n  The registry lists no dataset. Add one with: das dataset add FILE\n')
  t.match(stderr, '\n  das subscription create --email you@example.org --plan DATASET:PLAN\n')
})

await t.test('the banner is printed only on a terminal and without --json', async (t) => {
  const { das } = await buildCliFixture(t)
  t.equal((await das(serve)).stderr, '')
  t.equal((await das([...serve, '--json'], { isTerminal: true })).stderr, '')
})

await t.test('a port in use is one error line, and everything is closed', async (t) => {
  const { das } = await buildCliFixture(t)
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  const outcome = await das(['serve', '--port', String(port), '--log-level', 'silent'])
  t.same(outcome, {
    code: 1,
    stdout: '',
    stderr:
      `error: Port ${port} of 127.0.0.1 is in use. Stop the program that uses it, or choose ` +
      'another port with --port or DAS_PORT.\n',
  } satisfies Outcome)
  t.equal((await das(serve)).code, 0, 'the state folder is free')
})

await t.test('an address of another machine is one error line', async (t) => {
  const { das } = await buildCliFixture(t)
  const { code, stderr } = await das([...serve, '--host', '203.0.113.7'])
  t.equal(code, 1)
  t.match(stderr, /^error: This machine has no address 203\.0\.113\.7 \(\w+\)\. .*DAS_HOST\.\n$/m)
})

await t.test('a second server over the same state folder is refused', async (t) => {
  const { das } = await buildCliFixture(t, registryText, fixtureFiles)
  await das(serve, {
    whileServing: async () => {
      const { code, stderr } = await das(serve)
      t.equal(code, 1)
      t.match(stderr, /^error: another server uses this state folder/m)
    },
  })
})
