import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import { holdLetter } from '../../../src/sales/letters/outbox.js'
import { buildCliFixture } from '../../cli/fixtures/cli-fixture.js'
import type { Outcome } from '../../cli/fixtures/cli-fixture.js'
import { startMailServer } from '../../sales/letters/fixtures/mail-server.js'
import { machine } from '../../support/machine.js'
import { machineClock } from '../../../src/clock.js'

interface Made {
  readonly subscription: string
  readonly token: string
  readonly mailed: boolean
}

const minuteMs = 60_000
const create = [
  'subscription',
  'create',
  '--email',
  'buyer@example.org',
  '--plan',
  'financials:pro',
]
const busy = { refuseGreeting: { status: 421, text: 'busy' } }

/** A fixture whose commands mail over a real mail server. */
async function openHouse(t: Test) {
  const server = await startMailServer(t)
  const cli = await buildCliFixture(t)
  const environment = {
    DAS_SMTP_URL: server.url,
    DAS_MAIL_FROM: 'Data <data@example.org>',
    DAS_PUBLIC_URL: 'https://data.example.org',
  }
  const das = (...argv: readonly string[]) => cli.das(argv, { environment })
  return { ...cli, das, server }
}

function jsonOf<T>({ stdout }: Outcome): T {
  return JSON.parse(stdout) as T
}

await t.test('create mails the token that it prints, in the language of letters', async (t) => {
  const { das, server } = await openHouse(t)
  const { code, stdout, stderr } = await das(...create, '--mail-language', 'ru')
  t.same([code, stderr], [0, ''])
  const [token = ''] = stdout.match(/^das_live_\w{49}$/m) ?? []
  t.match(stdout, /\n\nMailed to buyer@example\.org\.\n$/)
  const mail = server.letters[0]?.mail
  t.equal(mail?.subject, 'Ваш доступ: Statements')
  t.match(mail?.text, `'Authorization: Bearer ${token}' 'https://data.example.org/v1/'`)
  t.match(mail?.text, '500\u00a0000 строк в месяц, вся история')
  const made = jsonOf<Made>(await das(...create, '--json'))
  t.equal(made.mailed, true)
  t.match(server.letters[1]?.mail.text, made.token)
  t.match(server.letters[1]?.mail.subject, 'Your access to Statements')
  t.match((await das('mail', 'list')).stdout, /^No letter waits/)
})

await t.test('reissue mails the new token', async (t) => {
  const { das, server } = await openHouse(t)
  const { subscription } = jsonOf<Made>(await das(...create, '--json', '--no-mail'))
  t.same(server.letters, [])
  const { stdout, stderr } = await das('token', 'reissue', subscription)
  t.equal(stderr, '')
  t.match(stdout, /\nEarlier tokens work until .*\n\nMailed to buyer@example\.org\.\n$/)
  const made = jsonOf<Made>(await das('token', 'reissue', subscription, '--json'))
  t.equal(made.mailed, true)
  const texts = server.letters.map(({ mail }) => mail.text)
  t.match(texts[0], 'Earlier tokens work until 16 November 2026, 12:00 UTC.')
  t.match(texts[1], made.token)
})

// The sale is complete whatever the mail server does, and the operator learns the result.
await t.test(
  'when mail fails the token is printed, the letter waits, and both are said',
  async (t) => {
    const { das, server, clock, folder } = await openHouse(t)
    server.manners.current = busy
    const { code, stdout, stderr } = await das(...create)
    t.equal(code, 0)
    t.match(stdout, /^das_live_\w{49}$/m)
    t.match(
      stderr,
      /^Not mailed yet: 127\.0\.0\.1:\d+ answered: 421 busy\. A server with these mail settings tries again until 2026-11-18 12:00 UTC; das mail list shows waiting letters\.\n$/,
    )
    const made = await das(...create, '--json')
    t.equal(made.code, 0)
    t.equal(jsonOf<Made>(made).mailed, false)
    t.match(made.stderr, /^Not mailed yet: /)
    await server.close()
    const { subscription, token } = jsonOf<Made>(made)
    t.match(
      (await das('token', 'reissue', subscription, '--json')).stderr,
      /^Not mailed yet: 127\.0\.0\.1:\d+: connect ECONNREFUSED \S+\. A server with these mail settings tries again until /,
    )
    t.match((await das('token', 'list', subscription)).stdout, `…${token.slice(-4)}`)
    const kept = readdirSync(join(folder, 'var')).map((name) => join(folder, 'var', name))
    for (const path of kept) t.notOk(readFileSync(path).includes(token), path)
    const listed = jsonOf<Record<string, unknown>[]>(await das('mail', 'list', '--json'))
    t.equal(listed.length, 3)
    t.match(listed[1], {
      id: 2,
      kind: 'new-token',
      subscription,
      email: 'buyer@example.org',
      state: 'waiting',
      created_at: '2026-11-15T12:00:00Z',
      attempts: 1,
      next_attempt: '2026-11-15T12:01:00Z',
      done_at: null,
      last_error: /421 busy$/,
    })
    clock.ms += minuteMs
    t.notMatch((await das('mail', 'list', '--all')).stdout, /das_live_/)
  },
)

await t.test(
  'after a permanent refusal the operator is asked to give the token to the subscriber',
  async (t) => {
    const { das, server } = await openHouse(t)
    server.manners.current = { refuseRecipient: { status: 550, text: 'no such user' } }
    const { code, stdout, stderr } = await das(...create)
    t.equal(code, 0)
    t.match(stdout, /^das_live_/m)
    t.match(
      stderr,
      /^Not mailed: \S+ answered to RCPT TO: 550 no such user\. Give the token to the subscriber yourself\.\n$/,
    )
    t.match((await das('mail', 'list')).stdout, /\tfailed\t1\t\t\S+ answered to RCPT TO/)
  },
)

await t.test('without a mail server the command says that mail is off', async (t) => {
  const { das } = await buildCliFixture(t)
  const off = '\n\nNot mailed: mail is off. Set DAS_SMTP_URL to a mail server.\n'
  const made = await das(create)
  t.ok(made.stdout.endsWith(off))
  t.equal(made.stderr, '')
  t.notOk((await das([...create, '--no-mail'])).stdout.includes('mailed'))
  const { subscription, mailed } = jsonOf<Made>(await das([...create, '--json']))
  t.equal(mailed, false)
  t.ok((await das(['token', 'reissue', subscription])).stdout.endsWith(off))
  t.match((await das(['mail', 'list'])).stdout, /^No letter waits and no letter failed\.\n$/)
  const send = await das(['mail', 'send'])
  t.equal(send.code, 2)
  t.match(send.stderr, /^error: Mail is off\. Set DAS_SMTP_URL to a mail server\.\n$/)
})

await t.test(
  'a mail server without a sender is wrong usage and creates no subscription',
  async (t) => {
    const { das } = await buildCliFixture(t)
    const environment = { DAS_SMTP_URL: 'smtp://user:secret@127.0.0.1' }
    for (const argv of [create, ['token', 'reissue', 'sub_x'], ['mail', 'send'], ['serve']]) {
      const { code, stdout, stderr } = await das(argv, { environment })
      t.same([code, stdout], [2, ''], argv.join(' '))
      t.match(stderr, /^error: --mail-from \(DAS_MAIL_FROM\): .*\n$/, argv.join(' '))
      t.notMatch(stderr, 'secret')
    }
    t.same(jsonOf(await das(['subscription', 'list', '--json'])), [])
  },
)

await t.test('mail send tries every waiting letter and prints a line for each', async (t) => {
  const { das, server, clock } = await openHouse(t)
  t.equal((await das('mail', 'send')).stdout, 'No letter waits.\n')
  t.same(jsonOf(await das('mail', 'send', '--json')), [])
  server.manners.current = busy
  await das(...create)
  await das(...create)
  const failed = await das('mail', 'send')
  t.equal(failed.code, 1)
  t.equal(failed.stdout.match(/^Letter \d \(new-token\) to \S+: not sent yet: /gm)?.length, 2)
  t.equal(failed.stderr, 'error: 2 letters still wait.\n')
  const json = await das('mail', 'send', '--json')
  t.equal(json.code, 1)
  t.match(jsonOf(json), [{ id: 1, state: 'waiting', next_attempt: '2026-11-15T12:01:00Z' }, {}])
  server.manners.current = {}
  const sent = await das('mail', 'send')
  t.same([sent.code, sent.stderr], [0, ''])
  t.equal(sent.stdout.match(/^Letter \d \(new-token\) to buyer@example\.org: sent\.$/gm)?.length, 2)
  t.equal(server.letters.length, 2)
  clock.ms += minuteMs
  t.match((await das('mail', 'list', '--all')).stdout, /\tsent\t4\t\t\n.*\tsent\t4\t\t\n$/)
})

await t.test(
  'the server sends what a command could not, and commands mail beside it',
  async (t) => {
    const cli = await buildCliFixture(t)
    const server = await startMailServer(t)
    const environment = {
      DAS_SMTP_URL: server.url,
      DAS_MAIL_FROM: 'data@example.org',
      DAS_PORT: '0',
    }
    server.manners.current = busy
    const { token } = jsonOf<Made>(await cli.das([...create, '--json'], { environment }))
    server.manners.current = {}
    cli.clock.ms += minuteMs
    await cli.das(['serve'], {
      environment,
      whileServing: async () => {
        const made = await cli.das([...create, '--json'], { environment })
        t.equal(jsonOf<Made>(made).mailed, true)
      },
    })
    t.equal(server.letters.length, 2)
    t.ok(server.letters.some(({ mail }) => mail.text?.includes(token)))
  },
)

await t.test('mail send prints how each letter ended', async (t) => {
  const { das, server, clock, folder } = await openHouse(t)
  server.manners.current = busy
  const { subscription } = jsonOf<Made>(await das(...create, '--json'))
  await das(...create)
  await das(...create)
  const [{ id }] = jsonOf<[{ id: string }]>(await das('token', 'list', subscription, '--json'))
  await das('token', 'revoke', id)
  server.manners.current = { refuseLetter: { status: 554, text: 'no' } }
  const store = SqliteStore.open(join(folder, 'var', 'control.db'), machine)
  t.teardown(() => store.close())
  await holdLetter({ store, clock: { ...machineClock, now: () => clock.ms } }, { letterId: 3 })
  const { code, stdout } = await das('mail', 'send')
  t.equal(code, 1)
  t.match(stdout, /^Letter 1 \(new-token\) to \S+: dropped: the token was revoked\.$/m)
  t.match(stdout, /^Letter 2 \(new-token\) to \S+: failed: \S+ answered to DATA: 554 no\.$/m)
  t.match(stdout, /^Letter 3 \(new-token\) to \S+: another process sends it\.$/m)
})

await t.test('a letter is sent when the registry cannot be read', async (t) => {
  const { das, server, folder } = await openHouse(t)
  const { subscription } = jsonOf<Made>(await das(...create, '--json', '--no-mail'))
  writeFileSync(join(folder, 'registry.yaml'), 'datasets: [')
  const { code, stderr } = await das('token', 'reissue', subscription)
  t.same([code, stderr], [0, ''])
  t.match(server.letters[0]?.mail.text, '- financials (financials), plan pro\n')
})

await t.test('a damaged mail.key is reported before anything is sold', async (t) => {
  const { das, folder } = await openHouse(t)
  mkdirSync(join(folder, 'var'))
  writeFileSync(join(folder, 'var', 'mail.key'), 'no key')
  const { code, stdout, stderr } = await das(...create)
  t.same([code, stdout], [1, ''])
  t.match(stderr, /^error: mail\.key in the state folder is damaged; .*\n$/)
  t.same(jsonOf(await das('subscription', 'list', '--json')), [])
})
