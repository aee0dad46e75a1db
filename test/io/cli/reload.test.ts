import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { buildCliFixture } from '../../cli/fixtures/cli-fixture.js'
import type { CliFixture } from '../../cli/fixtures/cli-fixture.js'
import { build } from '../../cli/fixtures/das-process.js'
import { writeParquet } from '../../support/world.js'

const built = await build(t)

const plan = '{rows_per_month: 1000, history: all, price_rub: 0}'
const registryOf = (plans: string) => `
demo: {token: das_demo_test1}
datasets:
  things:
    title: Things
    files: data/*.parquet
    demo: {x: [1, 2, 3]}
    plans: {${plans}}
`
const both = registryOf(`free: ${plan}, pro: ${plan}`)
const rowsOf = (x: number) => ({ 'data/1.parquet': `SELECT ${x} AS x FROM range(3)` })

/** One server for all of the tests below, in their order. */
async function serveThings(t: Test) {
  const cli = await buildCliFixture(t, both, rowsOf(1))
  const server = await built.serve(cli)
  cli.clock.ms = Date.now()
  const sold = await cli.das([
    'subscription',
    'create',
    '--email',
    'a@b.c',
    '--plan',
    'things:pro',
    '--json',
  ])
  t.equal(sold.code, 0, sold.stderr)
  const { token } = JSON.parse(sold.stdout) as { token: string }
  const seen = async () => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${server.base}/v1/things?limit=1`, { headers })
    const { data } = (await answer.json()) as { data?: { x: number }[] }
    return data?.[0]?.x
  }
  return { cli, server, seen }
}

function writeRegistry({ folder }: CliFixture, text: string): void {
  const path = join(folder, 'registry.yaml')
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

const reload = ['dataset', 'reload']
const list = ['dataset', 'list']

await t.test('the command line and the running server agree on the served versions', async (t) => {
  const { cli, server, seen } = await serveThings(t)
  const { das, folder } = cli

  await t.test('reload loads new files immediately and prints the served version', async (t) => {
    await writeParquet(folder, rowsOf(2))
    const { code, stdout, stderr } = await das(reload)
    t.same({ code, stderr }, { code: 0, stderr: '' })
    t.match(stdout, /^things: serving version [0-9a-f]{16}\n$/)
    t.equal(await seen(), 2)
  })

  await t.test('a file that cannot be served ends reload with 1 and the reason', async (t) => {
    const path = join(folder, 'data/2.parquet')
    writeFileSync(path, 'PAR1 half')
    const { code, stdout, stderr } = await das(reload)
    t.equal(code, 1)
    t.match(stdout, /^things: stale version \w{16}; data\/2\.parquet is not a whole Parquet file/)
    t.equal(stderr, 'error: 1 of 1 datasets are not up to date.\n')
    t.notOk(stdout.includes(folder))
    const table = await das(list)
    t.match(table.stdout, /^things\tstale\t3\t/m)
    t.match(table.stdout, /^things: since 20\S+ \S+ UTC: data\/2\.parquet is not a whole/m)
    const listed = await das([...list, '--json'])
    t.match(JSON.parse(listed.stdout), [
      { name: 'things', status: 'stale', rows: 3, earlier_versions: 1, reason: /not a whole/ },
    ])
    t.equal(await seen(), 2, 'the last good version goes on')
    rmSync(path)
    t.equal((await das(reload)).code, 0)
  })

  await t.test(
    'only --force loads a registry without a dataset or plan that was sold',
    async (t) => {
      writeRegistry(cli, registryOf(`free: ${plan}`))
      const { code, stderr } = await das(reload)
      t.equal(code, 1)
      t.match(
        stderr,
        /^error: the server refuses the registry:\n.*registry\.yaml:8:5: plan "pro" of dataset "things" was removed, .*--force\n$/,
      )
      t.equal(await seen(), 2)
      t.match((await das(list)).stderr, /^warning: the server refuses the current registry/)
      const unknown = await das([...reload, 'thing'])
      t.match(unknown, { code: 1, stderr: /no dataset "thing"\. Did you mean "things"\?/ })
      t.equal((await das([...reload, 'things', '--force'])).code, 1, 'only its delivery is forced')
      t.equal(await seen(), 2)
      const forced = await das([...reload, '--force', '--json'])
      t.same({ code: forced.code, stderr: forced.stderr }, { code: 0, stderr: '' })
      t.match(JSON.parse(forced.stdout), [{ name: 'things', status: 'serving', reason: null }])
      t.equal(await seen(), undefined, 'their plan is gone')
      writeRegistry(cli, both)
      t.equal((await das(reload)).code, 0)
      t.equal(await seen(), 2)
    },
  )

  await t.test('SIGHUP makes the server reload; it does not end it', async (t) => {
    await writeParquet(folder, rowsOf(3))
    server.kill('SIGHUP')
    await server.logged('SIGHUP')
    t.equal((await das(reload)).code, 0)
    t.equal(await seen(), 3)
  })

  await t.test('without a server reload fails immediately', async (t) => {
    server.kill('SIGTERM')
    t.equal(await server.ended, 0)
    const { code, stdout, stderr } = await das(reload)
    t.same({ code, stdout }, { code: 1, stdout: '' })
    t.match(
      stderr,
      /^error: No server runs over this state folder\. Start das serve, .*--state\.\n$/,
    )
  })
})
