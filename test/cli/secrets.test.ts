import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startMailServer } from '../sales/letters/fixtures/mail-server.js'
import { buildCliFixture } from './fixtures/cli-fixture.js'
import { compiled } from './fixtures/das-process.js'

interface Issued {
  readonly subscription: string
  readonly token: string
}

/** Every byte below a folder, file by file. */
function filesBelow(folder: string): readonly (readonly [string, Buffer])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, readFileSync(path)] as const)
}

/** The ways in which a token may be written: as it is, and as an encoder of a log would. */
function formsOf(token: string): readonly string[] {
  const bytes = Buffer.from(token)
  return [token, token.slice(9, 52), bytes.toString('base64').slice(0, 60), bytes.toString('hex')]
}

// Guarantee: a reader of the state folder, its backup or the log can't act as a subscriber.
await t.test('the state folder, a backup and the log hold no token in plain text', async (t) => {
  const mail = await startMailServer(t)
  const environment = { DAS_SMTP_URL: mail.url, DAS_MAIL_FROM: 'data@example.org' }
  const cli = await buildCliFixture(t)
  const site = { folder: cli.folder, environment }
  // The server's own time.
  cli.clock.ms = Date.now()
  const server = await compiled(t).serve(site, ['--log-level', 'trace'])
  const das = async (...argv: readonly string[]) => {
    const { stdout, stderr } = await cli.das(argv, { environment })
    said.push(stderr)
    return stdout
  }
  const said: string[] = []
  const issue = async (...argv: readonly string[]) =>
    JSON.parse(await das(...argv, '--json')) as Issued
  const create = ['subscription', 'create', '--plan', 'financials:pro', '--email']

  const mailed = await issue(...create, 'mailed@example.org')
  mail.manners.current = { refuseGreeting: { status: 421, text: 'busy' } }
  const waiting = await issue(...create, 'waiting@example.org')
  const reissued = await issue('token', 'reissue', mailed.subscription)
  const tokens = [mailed.token, waiting.token, reissued.token]
  t.match(mail.letters[0]?.mail.text, mailed.token, 'the letter itself has it')

  const path = '/v1/financials?inn=eq.0000000007'
  const ask = async (url: string, headers: Readonly<Record<string, string>>, body?: string) => {
    const method = body === undefined ? 'GET' : 'POST'
    const response = await fetch(server.base + url, { method, headers, ...(body && { body }) })
    said.push(await response.text())
    return response.status
  }
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const call = { name: 'query', arguments: { resource: 'financials', limit: 1 } }
  for (const token of tokens) {
    const bearer = { authorization: `Bearer ${token}` }
    t.equal(await ask(path, bearer), 200)
    t.equal(await ask(`${path}&token=${token}`, {}), 400)
    t.equal(await ask(`/v1/${token}`, bearer), 400)
    t.equal(await ask(path, { authorization: `Bearer ${token}x` }), 401)
    t.equal(await ask(path, { authorization: `Basic ${token}` }), 401)
    t.equal(await ask('/v1/financials/query', { ...bearer, ...json }, `{"${token}": 1}`), 400)
    const message = { jsonrpc: '2.0', id: token, method: 'tools/call', params: call }
    t.equal(await ask('/mcp', { ...bearer, ...json }, JSON.stringify(message)), 200)
  }
  said.splice(0, said.length)
  await das('token', 'revoke', reissued.token)
  await das('explain', mailed.subscription, `${path}&token=${waiting.token}`)
  await das('usage')
  await das('mail', 'send')
  await das('backup', join(cli.folder, 'backup.db'))
  // A kill leaves the write-ahead log as it is.
  server.kill('SIGKILL')
  await server.ended

  const files = filesBelow(cli.folder)
  for (const name of ['control.db', 'control.db-wal', 'mail.key', 'backup.db']) {
    t.ok(
      files.some(([file]) => file.endsWith(name)),
      name,
    )
  }
  const log = server.stdout() + server.stderr() + said.join('')
  t.match(log, '"url":"[a URL with a token]"', 'the log was looked at')
  for (const form of tokens.flatMap(formsOf)) {
    for (const [file, bytes] of files) t.notOk(bytes.includes(form), file)
    t.notOk(log.includes(form))
  }
})
