import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { buildCliFixture } from '../../cli/fixtures/cli-fixture.js'
import type { Outcome } from '../../cli/fixtures/cli-fixture.js'
import { beginQuestion, build } from '../../cli/fixtures/das-process.js'

const built = await build(t)

interface Rows {
  readonly data: readonly Readonly<Record<string, unknown>>[]
}

async function ask(base: string, path: string, token: string) {
  const response = await fetch(base + path, { headers: { authorization: `Bearer ${token}` } })
  return { status: response.status, body: (await response.json()) as Rows }
}

async function isReady(base: string): Promise<boolean> {
  try {
    return (await fetch(`${base}/readyz`)).ok
  } catch {
    return false
  }
}

const scriptType = 'text/javascript; charset=utf-8'
const one = '/v1/financials?inn=eq.0000000007&select=year,2110'

await t.test('tokens are sold, replaced and revoked while the server runs', async (t) => {
  const cli = await buildCliFixture(t)
  const server = await built.serve(cli)
  cli.clock.ms = Date.now()
  const read = <T>({ code, stdout, stderr }: Outcome): T => {
    t.same({ code, stderr }, { code: 0, stderr: '' }, stdout)
    return JSON.parse(stdout) as T
  }
  const das = async <T>(...argv: string[]) => read<T>(await cli.das([...argv, '--json']))
  const [, token = '', url = ''] = /Bearer (\w+)' '(.*)'/.exec(server.stderr()) ?? []
  const demo = await ask('', url, token)
  t.equal(demo.status, 200)
  t.equal(demo.body.data.length, 4, 'the printed curl returns rows of the demo subset')
  const page = await (await fetch(server.base)).text()
  const [script = ''] = /\/assets\/page-\w+\.js/.exec(page) ?? []
  t.equal((await fetch(server.base + script)).headers.get('content-type'), scriptType)

  const order = ['subscription', 'create', '--email', 'a@b.c', '--plan', 'financials:pro']
  const sold = read<{ subscription: string; token: string }>(
    await built.das(cli, [...order, '--json']),
  )
  t.same((await ask(server.base, one, sold.token)).body.data, [
    { year: 2023, 2110: 70 },
    { year: 2024, 2110: 70 },
  ])
  t.match(await das('subscription', 'show', sold.subscription), {
    grants: [{ rows: { limit: 500_000, used: 2, remaining: 499_998 } }],
  })

  const next = await das<{ token: string; token_id: string }>(
    ...['token', 'reissue', sold.subscription, '--grace', '1h'],
  )
  t.equal((await ask(server.base, one, sold.token)).status, 200, 'the earlier one has its grace')
  t.equal((await ask(server.base, one, next.token)).status, 200)
  const last = await das<{ token: string }>(
    ...['token', 'reissue', sold.subscription, '--grace', '0'],
  )
  t.equal((await ask(server.base, one, sold.token)).status, 401, 'no grace, no second life')
  t.equal((await ask(server.base, one, next.token)).status, 401)
  t.equal((await ask(server.base, one, last.token)).status, 200)
  const tokens = await das<{ id: string; hint: string }[]>('token', 'list')
  t.equal(tokens.length, 3)
  await das(
    'token',
    'revoke',
    tokens.find(({ hint }) => last.token.endsWith(hint.slice(-4)))?.id ?? '',
  )
  t.equal((await ask(server.base, one, last.token)).status, 401, 'revoked from the next request on')

  if (process.platform === 'linux') {
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
    t.ok(Number(/^Threads:\t(\d+)$/m.exec(status)?.[1]) > 36, 'the thread pool has its 36 threads')
  }
  server.kill('SIGTERM')
  t.equal(await server.ended, 0)
  for (const secret of [sold.token, next.token, last.token]) {
    t.notOk(server.stdout().includes(secret))
    t.notOk(server.stderr().includes(secret))
    for (const name of readdirSync(join(cli.folder, 'var'))) {
      if (name === 'versions' || name === 'tmp') continue
      t.notOk(readFileSync(join(cli.folder, 'var', name)).includes(secret.slice(9, 40)), name)
    }
  }
})

await t.test(
  'SIGTERM ends the server with 0 after the open request, without new ones',
  async (t) => {
    const cli = await buildCliFixture(t)
    const server = await built.serve(cli)
    const half = await beginQuestion(server.base, 'financials', 'das_demo_test1')
    t.equal((await fetch(`${server.base}/readyz`)).status, 200)
    // As Ctrl-C under npm sends it: twice, from the terminal and from npm.
    server.kill('SIGINT')
    server.kill('SIGINT')
    await server.logged('stopping')
    while (await isReady(server.base)) {
      // Until it has stopped listening.
    }
    const answer = await half.finish()
    t.match(answer, /\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
    t.match(answer, /^connection: close\r$/im)
    t.match(answer, '{"data":[{"inn":"0000000001","year":2023,')
    t.equal(await server.ended, 0)
    t.match(server.stdout(), /"msg":"stopped"\}\n$/)
  },
)

await t.test('a second signal ends the process immediately', async (t) => {
  const cli = await buildCliFixture(t)
  const server = await built.serve(cli)
  const half = await beginQuestion(server.base, 'financials', 'das_demo_test1')
  half.socket.on('error', () => undefined)
  server.kill('SIGTERM')
  await server.logged('stopping')
  const again = setInterval(() => server.kill('SIGTERM'), 50)
  t.equal(await server.ended, 1)
  clearInterval(again)
  t.notMatch(server.stdout(), '"msg":"stopped"')
})

await t.test('a second instance on the same port ends with 1 and says why', async (t) => {
  const cli = await buildCliFixture(t)
  const server = await built.serve(cli)
  const port = new URL(server.base).port
  const elsewhere = join(cli.folder, 'elsewhere')
  const argv = ['serve', '--port', port, '--state', elsewhere]
  const { code, stderr } = await built.das(cli, argv)
  t.equal(code, 1)
  t.match(stderr, new RegExp(`^error: Port ${port} of 127\\.0\\.0\\.1 is in use\\. .*\\n$`, 'm'))
  const same = await built.das(cli, ['serve', '--port', '0'])
  t.equal(same.code, 1)
  t.match(same.stderr, /^error: another server uses this state folder.*\n$/m)
  t.equal((await fetch(`${server.base}/readyz`)).status, 200, 'the first one has noticed nothing')
  server.kill('SIGTERM')
  t.equal(await server.ended, 0)
})

await t.test('the launcher passes exit codes through', async (t) => {
  const cli = await buildCliFixture(t)
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  t.same(await built.das(cli, ['--version']), { code: 0, stdout: `${version}\n`, stderr: '' })
  t.equal((await built.das(cli, ['serve', '--prot', '1'])).code, 2)
})
