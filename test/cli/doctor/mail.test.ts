import { join } from 'node:path'
import t from 'tap'
import { startMailServer, startOddServer } from '../../sales/letters/fixtures/mail-server.js'
import { buildCliFixture } from '../fixtures/cli-fixture.js'
import { findingsOf, linesOf } from './fixtures/doctor.js'

const from = { DAS_MAIL_FROM: 'data@example.org', DAS_PUBLIC_URL: 'https://data.example.org' }
const login = { user: 'das', password: 'p@ss word' }

await t.test('a mail server that lets the sender in is fine, and gets no letter', async (t) => {
  const cli = await buildCliFixture(t)
  for (const manners of [{}, { login }, { isPlain: true }]) {
    const server = await startMailServer(t, manners)
    const environment = { ...from, DAS_SMTP_URL: server.url }
    const found = linesOf(await findingsOf(t, cli, { environment }), 'mail')
    t.match(found, `ok 127.0.0.1:${server.port} lets letters from data@example.org in`)
    t.same(server.letters, [])
  }
})

// Guarantee: no password is printed.
await t.test('a wrong login, no server and wrong settings fail', async (t) => {
  const cli = await buildCliFixture(t)
  const mailOf = async (environment: Readonly<Record<string, string>>) =>
    linesOf(await findingsOf(t, cli, { environment }), 'mail')
  const server = await startMailServer(t, { login })
  const wrong = server.url.replace('p%40ss', 'wr0ng')
  const refused = await mailOf({ ...from, DAS_SMTP_URL: wrong })
  t.match(refused, /^fail 127\.0\.0\.1:\d+ answered to AUTH \w+: 535 .* — correct DAS_SMTP_URL/)
  t.notMatch(refused, 'wr0ng')
  const busy = await startOddServer(t, (socket) => socket.end('421 busy\r\n'))
  t.match(await mailOf({ ...from, DAS_SMTP_URL: `smtp://127.0.0.1:${busy}` }), /^fail .* 421 busy/)
  t.match(
    await mailOf({ ...from, DAS_SMTP_URL: 'smtp://127.0.0.1:1' }),
    /^fail 127\.0\.0\.1:1: connect ECONNREFUSED/,
  )
  t.match(
    await mailOf({ DAS_SMTP_URL: server.url }),
    /^fail --mail-from \(DAS_MAIL_FROM\): DAS_SMTP_URL is set, so letters need a sender\./,
  )
  t.match(
    await mailOf({ DAS_MAIL_FROM: 'a@b.example', DAS_SMTP_URL: server.url }),
    /^warn .*; they link to this machine — set DAS_PUBLIC_URL/m,
  )
})

await t.test('letters that wait for an hour or were given up are found', async (t) => {
  const cli = await buildCliFixture(t)
  const server = await startMailServer(t, { refuseSender: { status: 451, text: 'later' } })
  const environment = { ...from, DAS_SMTP_URL: server.url }
  const buy = ['subscription', 'create', '--email', 'a@example.org', '--plan', 'financials:pro']
  await cli.das(buy, { environment })
  const mailOf = async () => linesOf(await findingsOf(t, cli, { environment }), 'mail')
  t.notMatch(await mailOf(), 'waiting', 'not for an hour yet')
  cli.clock.ms += 2 * 3_600_000
  t.match(await mailOf(), /^warn 1 waiting, the oldest since 2026-.* UTC — das mail list says why/m)
  server.manners.current = { refuseRecipient: { status: 550, text: 'no such user' } }
  await cli.das(['mail', 'send'], { environment })
  t.match(await mailOf(), /^warn 1 given up — das mail list says why; give the tokens/m)
  t.notMatch(await mailOf(), join(cli.folder, 'var'))
})
