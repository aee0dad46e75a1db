import { renameSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { reportHeader, reportProof } from '../../../src/control/server-report.js'
import { readKey } from '../../../src/control/store/key-file.js'
import { ServerLock } from '../../../src/control/store/server-lock.js'
import { buildCliFixture } from '../fixtures/cli-fixture.js'
import { findingsOf, linesOf, startProxy, whileServing } from './fixtures/doctor.js'

const host = '127.0.0.1'

type Given = Readonly<Record<string, unknown>>

/** What each proxy does to the headers of a request, and what is found. */
const proxies = [
  {
    name: 'replaces',
    headers: (_given: Given, client: string) => ({
      'x-forwarded-for': client,
      'x-forwarded-proto': 'http',
    }),
    expected: /^ok 127\.0\.0\.1 is trusted, and says that this machine is 127\.0\.0\.1 — $/,
  },
  {
    name: 'sends no address',
    headers: () => ({ 'x-forwarded-for': undefined, 'x-forwarded-proto': 'http' }),
    expected: /^fail 127\.0\.0\.1 sends no X-Forwarded-For: every client counts as 127\.0\.0\.1 — /,
  },
  {
    name: 'appends',
    headers: ({ 'x-forwarded-for': given }: Given, client: string) => ({
      'x-forwarded-for': `${String(given)}, ${client}`,
      'x-forwarded-proto': 'http',
    }),
    expected: /^fail 127\.0\.0\.1 passes on what clients write in X-Forwarded-For — let it replace/,
  },
  {
    name: 'changes the host',
    headers: (_given: Given, client: string) => ({
      host: 'backend.example',
      'x-forwarded-for': client,
      'x-forwarded-proto': 'http',
    }),
    expected: /^fail the host 127\.0\.0\.1:\d+ arrives as backend\.example: \/mcp may refuse it — /,
  },
  {
    name: 'says nothing of TLS',
    headers: (_given: Given, client: string) => ({ 'x-forwarded-for': client }),
    expected: /^warn X-Forwarded-Proto is missing for http:\/\/ — let it send its own/,
  },
]

// Guarantee: a proxy that hides or forges the addresses of clients does not go unnoticed.
await t.test('what a proxy does to the headers is found', async (t) => {
  const cli = await buildCliFixture(t)
  for (const trusted of [host, '10.0.0.0/8,2001:db8::/32']) {
    await whileServing(cli, ['--trust-proxy', trusted], async (base) => {
      for (const { name, headers, expected } of proxies) {
        const proxy = await startProxy(t, () => base, headers)
        const found = await findingsOf(t, cli, { flags: ['--public-url', proxy] })
        if (trusted === host) t.match(linesOf(found, 'proxy'), expected, name)
        else if (name !== 'sends no address') {
          t.match(
            linesOf(found, 'proxy'),
            /^fail 127\.0\.0\.1 is not trusted: every client counts as 127\.0\.0\.1 — --trust-proxy/m,
          )
        }
      }
    })
  }
})

await t.test('a public address that leads elsewhere or nowhere is found', async (t) => {
  const [cli, other] = [await buildCliFixture(t), await buildCliFixture(t)]
  await whileServing(cli, [], async () => {
    const dead = await findingsOf(t, cli, { flags: ['--public-url', 'http://127.0.0.1:1'] })
    t.match(linesOf(dead, 'server'), /^fail http:\/\/127\.0\.0\.1:1 can't be reached from here: /)
    await whileServing(other, [], async (base) => {
      const found = await findingsOf(t, cli, { flags: ['--public-url', base] })
      t.match(
        linesOf(found, 'server'),
        /^fail http\S+ answers 200, and not as the server of this state folder — /,
      )
      t.equal(linesOf(found, 'limits'), '')
    })
  })
})

await t.test('a held lock without a server is an address that does not answer', async (t) => {
  const cli = await buildCliFixture(t)
  const lock = ServerLock.take(join(cli.folder, 'var', 'server.lock'))
  t.teardown(() => {
    lock.release()
  })
  const found = await findingsOf(t, cli, { flags: ['--port', '1'] })
  t.match(linesOf(found, 'server'), /^fail http:\/\/127\.0\.0\.1:1 can't be reached from here/)
})

await t.test('a server that is not ready fails', async (t) => {
  const cli = await buildCliFixture(t)
  renameSync(join(cli.folder, 'data'), join(cli.folder, 'away'))
  await whileServing(cli, [], async () => {
    const found = await findingsOf(t, cli)
    t.match(linesOf(found, 'server'), /^fail .*\/readyz answers 503 — the log of the server/)
    t.match(linesOf(found, 'datasets'), /^fail financials is unavailable: /)
  })
})

// Guarantee: only a reader of the state folder gets a report, and nobody else sees a difference.
await t.test('a request without a valid proof gets the answer of /healthz alone', async (t) => {
  const cli = await buildCliFixture(t)
  await whileServing(cli, [], async (base) => {
    const key = readKey(join(cli.folder, 'var', 'cursor.key'))
    const now = cli.clock.ms
    const askWith = async (proof?: string) => {
      const headers = new Headers(proof === undefined ? {} : { [reportHeader]: proof })
      const answer = await fetch(`${base}/healthz`, { headers })
      t.same(await answer.json(), { status: 'ok' })
      return answer.headers.get(reportHeader)
    }
    t.ok(await askWith(reportProof(key, now)))
    const valid = reportProof(key, now)
    const refused = [
      undefined,
      '',
      reportProof(key, now - 61_000),
      reportProof(key, now + 61_000),
      reportProof(Buffer.alloc(32), now),
      `0${valid}`,
      `${valid}0`,
      valid.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      valid.replace('.', ''),
    ]
    for (const proof of refused) t.equal(await askWith(proof), null, `proof ${proof}`)
  })
})
