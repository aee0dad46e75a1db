import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseEnv, promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { settings } from '../../src/config.js'
import { buildCliFixture } from '../cli/fixtures/cli-fixture.js'
import { build } from '../cli/fixtures/das-process.js'
import { clientAddress, exampleHost, startProxy } from './fixtures/front-proxy.js'
import type { ProxyName } from './fixtures/front-proxy.js'

// The files of docs/deploy with the programs that read them.

const run = promisify(execFile)
const built = await build(t)
const environment = parseEnv(readFileSync('docs/deploy/das.env', 'utf8'))

const wideRows = 600
const registry = `
demo: {token: das_demo_test1}
datasets:
  wide:
    title: Wide
    files: data/wide.parquet
    limit: {default: 1, max: 3}
    demo: {id: [0]}
    plans: {pro: {rows_per_month: 10000, history: all, price_rub: 0, rate_per_minute: 1000}}
`
/** 60 MB: more than all buffers between the server and a client that reads nothing. */
const wide = `SELECT i AS id, repeat('x', 100000) AS text FROM range(${wideRows}) t(i)`

interface Line {
  readonly msg: string
  readonly requestId: string
  readonly address: string
}

/** A server with the settings of das.env that concern proxies, and one of the two before it. */
async function start(t: Test, name: ProxyName) {
  const cli = await buildCliFixture(t, registry, { 'data/wide.parquet': wide })
  cli.clock.ms = Date.now()
  const buy = ['subscription', 'create', '--email', 'a@b.c', '--plan', 'wide:pro', '--json']
  const { token } = JSON.parse((await cli.das(buy)).stdout) as { token: string }
  const { DAS_PUBLIC_URL: url = '', DAS_TRUST_PROXY: trusted = '' } = environment
  const server = await built.serve(cli, ['--public-url', url, '--trust-proxy', trusted])
  const proxy = await startProxy(t, name, join(cli.folder, 'proxy'), server.base)
  const headers = { authorization: `Bearer ${token}` }
  /** The line of the server's log about an answer. */
  const lineOf = async (answer: IncomingMessage): Promise<Line> => {
    const id = String(answer.headers['x-request-id'])
    // The end of a line may arrive later than its beginning.
    await server.logged(new RegExp(`"requestId":"${id}".*"msg":"request"`))
    const lines = server.stdout().trim().split('\n')
    const line = lines.find((each) => each.includes(id) && each.includes('"msg":"request"'))
    return JSON.parse(line ?? '{}') as Line
  }
  const revoke = async () => {
    const [, id = ''] = /(tok_\w+)/.exec((await cli.das(['token', 'list'])).stdout) ?? []
    return built.das(cli, ['token', 'revoke', id])
  }
  return { server, proxy, token, headers, lineOf, revoke }
}

for (const name of ['nginx', 'caddy'] as const) {
  await t.test(`${name}: a look-up, from the address of the client`, async (t) => {
    const { proxy, headers, lineOf } = await start(t, name)
    const forged = { 'x-forwarded-for': '203.0.113.99' }
    const answer = await proxy.send('/v1/wide?id=eq.7&select=id', {
      headers: { ...headers, ...forged },
    })
    t.equal(await text(answer), '{"data":[{"id":7}],"next_cursor":null}')
    t.equal(answer.statusCode, 200)
    t.equal(answer.headers['strict-transport-security'], 'max-age=31536000')
    t.match(await lineOf(answer), { address: clientAddress, status: 200, charged: 1 })
    const refused = await proxy.send('/v1/wide', { headers: forged })
    t.match(await lineOf(refused), { address: clientAddress, status: 401 })
  })

  await t.test(`${name}: a tool call`, async (t) => {
    const { proxy, headers, lineOf } = await start(t, name)
    const call = { name: 'query', arguments: { resource: 'wide', select: ['id'], limit: 1 } }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }
    const accept = 'application/json, text/event-stream'
    const answer = await proxy.send('/mcp', {
      headers: { ...headers, accept },
      body: JSON.stringify(message),
    })
    t.match(await text(answer), 'row_count')
    t.match(await lineOf(answer), { address: clientAddress, door: 'mcp', outcome: 'ok' })
  })

  await t.test(`${name}: the service refuses what is too large, and says why`, async (t) => {
    const { proxy, headers } = await start(t, name)
    const body = JSON.stringify({ filters: [], select: 'x'.repeat(1_500_000) })
    const large = await proxy.send('/v1/wide/query', { headers, body })
    t.match([large.statusCode, await text(large)], [413, /"payload_too_large"/])
    const listed = await proxy.send(`/v1/wide?id=in.1${',1'.repeat(9000)}&select=id`, { headers })
    t.match([listed.statusCode, await text(listed)], [400, /"bad_request"/])
    const long = await proxy.send(`/v1/wide?id=in.1${',1'.repeat(17_000)}`, { headers })
    t.match([long.statusCode, await text(long)], [431, /"headers_too_large"/])
  })

  await t.test(`${name}: an export arrives while it is written`, async (t) => {
    const { proxy, headers, lineOf, revoke } = await start(t, name)
    const answer = await proxy.send('/v1/wide/export', { headers })
    answer.setEncoding('utf8')
    let received = ''
    for await (const part of answer.iterator({ destroyOnReturn: false })) {
      received += part as string
      if (received.includes('\n{"cursor":')) break
    }
    // The server has pages left to read: the next ones are refused.
    t.match(await revoke(), { code: 0 })
    received += await text(answer)
    const lines = received.trimEnd().split('\n')
    const rows = lines.filter((line) => line.startsWith('{"id":')).length
    t.match(JSON.parse(lines.at(-1) ?? ''), { cursor: String, error: 'unauthorized' })
    t.ok(rows >= 3 && rows < wideRows, `${rows} of ${wideRows} rows`)
    t.match(await lineOf(answer), { outcome: 'unauthorized', rows, charged: rows })
  })

  // Guarantee: tokens and what clients look for stay out of the logs of the proxy.
  await t.test(`${name}: its log has no token and no value`, async (t) => {
    const { server, proxy, headers, token } = await start(t, name)
    const paths = ['/v1/wide?id=eq.424242&select=id', `/v1/wide/query?token=${token}&id=424242`]
    for (const path of paths) await text(await proxy.send(path, { headers }))
    server.kill('SIGKILL')
    await server.ended
    const answers = await Promise.all(paths.map((path) => proxy.send(path, { headers })))
    t.same(
      answers.map(({ statusCode }) => statusCode),
      [502, 502],
    )
    await proxy.logged('/v1/wide/query')
    t.match(proxy.log(), clientAddress)
    t.notMatch(proxy.log(), token)
    t.notMatch(proxy.log(), '424242')
  })

  await t.test(`${name}: plain HTTP leads to TLS`, async (t) => {
    const { proxy } = await start(t, name)
    const url = `http://127.0.0.1:${proxy.httpPort}/docs`
    const [answer] = (await once(get(url, { headers: { host: exampleHost } }), 'response')) as [
      IncomingMessage,
    ]
    t.match(String(answer.statusCode), /^30[18]$/)
    t.match(answer.headers.location, /^https:\/\/data\.example\.org(:\d+)?\/docs$/)
    answer.resume()
  })
}

await t.test('systemd accepts service and socket', async (t) => {
  const folder = t.testdir({})
  const unit = readFileSync('docs/deploy/das.service', 'utf8')
  t.match(unit, 'ExecStart=/usr/local/bin/das serve')
  const paths = ['das.service', 'das.socket'].map((name) => join(folder, name))
  const [service = '', socket = ''] = paths
  writeFileSync(service, unit.replace('/usr/local/bin/das', built.launcher))
  writeFileSync(socket, readFileSync('docs/deploy/das.socket'))
  const { stdout, stderr } = await run('systemd-analyze', ['verify', ...paths])
  t.equal(stdout + stderr, '')
})

await t.test('the exposure of the unit is 2.0 at most', async (t) => {
  const argv = ['security', '--offline=true', '--threshold=20', 'docs/deploy/das.service']
  const { stdout } = await run('systemd-analyze', argv)
  const [, exposure] = /Overall exposure level for das\.service: ([\d.]+)/.exec(stdout) ?? []
  t.ok(Number(exposure) <= 2, `the exposure is ${exposure}`)
  const page = readFileSync('docs/deploying.md', 'utf8')
  t.match(page, `${exposure} (`, 'the page names it beside the release of systemd')
})

await t.test('the variables of das.env are settings', (t) => {
  const known = Object.values(settings).map(({ variable }) => variable as string)
  const names = Object.keys(environment)
  t.ok(names.length > 0)
  t.same(
    names.filter((name) => !known.includes(name)),
    [],
  )
  t.equal(environment['DAS_PUBLIC_URL'], `https://${exampleHost}`)
  t.end()
})
