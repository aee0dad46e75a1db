import t from 'tap'
import { readConfig } from '../../../src/config.js'
import { readMailSettings } from '../../../src/sales/letters/mail-settings.js'
import { MailError } from '../../../src/sales/letters/mailer.js'
import type { MailMessage } from '../../../src/sales/letters/mailer.js'
import { smtpLimits } from '../../../src/sales/letters/smtp-limits.js'
import type { SmtpLimits } from '../../../src/sales/letters/smtp-limits.js'
import { smtpMailer, transportOptions } from '../../../src/sales/letters/smtp.js'
import {
  answering,
  startMailServer,
  startOddServer,
} from '../../sales/letters/fixtures/mail-server.js'
import { machineClock } from '../../../src/clock.js'

const token = `das_live_${'Ab3'.repeat(16)}x`
const patient: SmtpLimits = smtpLimits

const message: MailMessage = {
  id: 'letter-1-1',
  to: 'buyer@example.org',
  language: 'ru',
  subject: 'Ваш доступ: Отчётность',
  text: `Токен: ${token}`,
  html: `<p>Токен: ${token}</p>`,
  writtenAt: Date.UTC(2026, 10, 15, 12),
}

function settingsFor(url: string, from = 'Data <data@example.org>') {
  const settings = readMailSettings(readConfig({ smtpUrl: url, mailFrom: from }, {}))
  if (settings) return settings
  throw new Error('no mail server')
}

function send(url: string, limits = patient, signal?: AbortSignal): Promise<void> {
  const { smtp, sender } = settingsFor(url)
  return smtpMailer(smtp, sender, machineClock, limits).send(message, signal)
}

/** Why the letter was not sent. */
async function failure(url: string, limits = patient): Promise<MailError> {
  try {
    await send(url, limits)
  } catch (cause) {
    if (cause instanceof MailError) return cause
    throw cause
  }
  throw new Error('the letter was sent')
}

await t.test(
  'a letter arrives whole, under its own id, over TLS where it is offered',
  async (t) => {
    const server = await startMailServer(t)
    await send(server.url)
    const [arrived] = server.letters
    t.equal(arrived?.isEncrypted, true)
    t.same(arrived?.recipients, ['buyer@example.org'])
    t.equal(arrived?.mail.subject, message.subject)
    t.same(arrived?.mail.from, { name: 'Data', address: 'data@example.org' })
    t.equal(arrived?.mail.messageId, '<letter-1-1@example.org>')
    t.equal(arrived?.mail.date, '2026-11-15T12:00:00.000Z')
    t.equal(arrived?.mail.text?.trim(), message.text)
    t.equal(arrived?.mail.html?.trim(), message.html)
    t.match(arrived?.raw, /^Auto-Submitted: auto-generated\r$/m)
    t.match(arrived?.raw, /^Content-Language: ru\r$/m)
    t.notMatch(arrived?.raw, /^X-Mailer/m)
  },
)

await t.test('on loopback a server without STARTTLS takes a letter in clear', async (t) => {
  const server = await startMailServer(t, { isPlain: true })
  await send(server.url)
  t.equal(server.letters[0]?.isEncrypted, false)
})

await t.test(
  'a login is made with the user and password of the URL, percent-decoded',
  async (t) => {
    const login = { user: 'data@example.org', password: 'a/b c:d%' }
    const server = await startMailServer(t, { login })
    await send(server.url)
    t.equal(server.letters[0]?.user, login.user)
  },
)

await t.test('a refused login is reported, is tried again, and shows no password', async (t) => {
  const login = { user: 'data', password: 'right' }
  const server = await startMailServer(t, { login })
  const { message: said, isPermanent } = await failure(server.url.replace('right', 'wr0ng-secret'))
  t.match(said, /^127\.0\.0\.1:\d+ answered to AUTH PLAIN: 535 no login data \[password\]$/)
  t.equal(isPermanent, false)
  const open = await startMailServer(t)
  t.match(
    (await failure(open.url.replace('//', '//a:b@'))).message,
    / answered to AUTH PLAIN: 500 /,
  )
  t.same(open.letters, [], 'the login is not left out where the server does not ask for it')
})

// A token is as good as the data: no configuration sends it over a network in clear.
await t.test('every host but loopback has to speak TLS', async (t) => {
  const optionsOf = (url: string) => transportOptions(settingsFor(url).smtp, patient)
  for (const host of ['127.0.0.1', '[::1]', 'localhost', 'LOCALHOST']) {
    t.match(optionsOf(`smtp://${host}`), { requireTLS: false, secure: false, port: 587 }, host)
  }
  for (const host of ['mail.example.org', '10.0.0.1', '127.0.0.1.example.org', '[fe80::1]']) {
    const expected = { requireTLS: true, secure: false, tls: { rejectUnauthorized: true } }
    t.match(optionsOf(`smtp://${host}`), expected, host)
  }
  const secure = { secure: true, port: 465, tls: { rejectUnauthorized: true } }
  t.match(optionsOf('smtps://localhost'), secure)
  const plain = await startMailServer(t, { isPlain: true, host: '127.0.0.2' })
  const { message: said, isPermanent } = await failure(plain.url)
  t.match(
    said,
    /^127\.0\.0\.2:\d+ answered to STARTTLS: 50\d .*\. A letter .* needs TLS: use smtps:/,
  )
  t.equal(isPermanent, false)
  t.same(plain.letters, [])
})

await t.test('a certificate of an unknown authority is refused, with what to do', async (t) => {
  const upgraded = await startMailServer(t, { host: '127.0.0.2' })
  const secure = await startMailServer(t, { isSecure: true })
  for (const { url, letters } of [upgraded, secure]) {
    const { message: said, isPermanent } = await failure(url)
    t.match(said, /^127\.0\.0\.\d:\d+: .*certificate.*NODE_EXTRA_CA_CERTS$/)
    t.equal(isPermanent, false)
    t.same(letters, [])
  }
  const plain = await startMailServer(t)
  const { message: said } = await failure(plain.url.replace('smtp:', 'smtps:'))
  t.match(said, /^127\.0\.0\.1:\d+: .*SSL/)
})

await t.test('only a refusal of the recipient or of the letter is permanent', async (t) => {
  const server = await startMailServer(t)
  const cases: [stage: string, status: number, command: string, isPermanent: boolean][] = [
    ['refuseGreeting', 421, '', false],
    ['refuseGreeting', 554, '', false],
    ['refuseSender', 450, ' to MAIL FROM', false],
    ['refuseSender', 550, ' to MAIL FROM', false],
    ['refuseRecipient', 451, ' to RCPT TO', false],
    ['refuseRecipient', 550, ' to RCPT TO', true],
    ['refuseRecipient', 530, ' to RCPT TO', false],
    ['refuseLetter', 452, ' to DATA', false],
    ['refuseLetter', 554, ' to DATA', true],
  ]
  for (const [stage, status, command, isPermanent] of cases) {
    server.manners.current = { [stage]: { status, text: 'say "why"' } }
    const refused = await failure(server.url)
    const name = `${stage} ${status}`
    t.match(
      refused.message,
      new RegExp(`^127\\.0\\.0\\.1:\\d+ answered${command}: ${status} say "why"$`),
      name,
    )
    t.equal(refused.isPermanent, isPermanent, name)
  }
  t.same(server.letters, [])
})

await t.test('the failure says whether a server is silent, hangs up or is not there', async (t) => {
  const mute = await startOddServer(t, () => undefined)
  const stuck = await startOddServer(t, answering({ '.': 'silence' }))
  const rude = await startOddServer(t, answering({ MAIL: 'hang up' }))
  const gone = await startMailServer(t)
  await gone.close()
  const cases: [port: number, limits: Partial<SmtpLimits>, said: RegExp][] = [
    [mute, { greetingMs: 100 }, /^127\.0\.0\.1:\d+: Greeting never received$/],
    [stuck, { silenceMs: 100 }, /^127\.0\.0\.1:\d+: Timeout$/],
    [rude, {}, /^127\.0\.0\.1:\d+: Connection closed unexpectedly$/],
    [gone.port, {}, /^127\.0\.0\.1:\d+: connect ECONNREFUSED/],
  ]
  for (const [port, limits, said] of cases) {
    const failed = await failure(`smtp://127.0.0.1:${port}`, { ...patient, ...limits })
    t.match(failed.message, said)
    t.equal(failed.isPermanent, false)
  }
  const unknown = await failure('smtp://mail.invalid')
  t.match(unknown.message, /^mail\.invalid:587: .*(ENOTFOUND|EAI_AGAIN)/)
})

await t.test('sending a letter ends at its time limit and at a stop', async (t) => {
  const slow = await startOddServer(t, () => undefined)
  const late = await failure(`smtp://127.0.0.1:${slow}`, { ...patient, attemptMs: 100 })
  t.match(late.message, /^127\.0\.0\.1:\d+: the letter took longer than 0\.1 s$/)
  const stopped = send(`smtp://127.0.0.1:${slow}`, patient, AbortSignal.abort())
  await t.rejects(stopped, { message: /: Message sending aborted$/, isPermanent: false })
})

await t.test('an echo of the server becomes one short line without secrets', async (t) => {
  const echo =
    `550 ${token} p4ssword ${Buffer.from('\0u\0p4ssword').toString('base64')} ` +
    `<Buyer+x@example.org> 12345678 "1234 5678" 5.1.1 421 20261128 `
  const answers = { EHLO: '250 AUTH PLAIN', AUTH: '235 ok', RCPT: echo + 'x'.repeat(2000) }
  const port = await startOddServer(t, answering(answers))
  const { message: said } = await failure(`smtp://u:p4ssword@127.0.0.1:${port}`)
  t.match(
    said,
    / RCPT TO: 550 \[token\] \[password\] \[password\] <\[address\]> \[code\] "\[code\]" 5\.1\.1 421 /,
  )
  t.notMatch(said, /das_live_|p4ss|\n|example\.org|1234/i)
  t.ok(said.length <= 300)
})

await t.test('settings that cannot be used are reported before anything is sent', async (t) => {
  const from = (mailFrom: string) =>
    readMailSettings(readConfig({ smtpUrl: 'smtp://mail.example.org', mailFrom }, {}))?.sender
  t.same(from('data@example.org'), { name: '', address: 'data@example.org' })
  t.same(from('"Data, Ltd" <data@example.org>'), { name: 'Data, Ltd', address: 'data@example.org' })
  t.same(from('Данные <data@example.org>'), { name: 'Данные', address: 'data@example.org' })
  for (const wrong of [
    'data',
    'a@b.c, d@e.f',
    'Data <data>',
    'Data <a@b.c> x',
    'a@b.c\r\nBcc: d@e.f',
  ]) {
    t.throws(() => from(wrong), { code: 'bad_request', detail: /--mail-from \(DAS_MAIL_FROM\): / })
  }
  t.throws(() => readMailSettings(readConfig({ smtpUrl: 'smtp://h' }, {})), {
    code: 'bad_request',
    detail: '--mail-from (DAS_MAIL_FROM): DAS_SMTP_URL is set, so letters need a sender.',
  })
  t.throws(() => settingsFor('smtp://user:50%@h'), {
    code: 'bad_request',
    detail: /^DAS_SMTP_URL: percent-encode /,
  })
  t.equal(readMailSettings(readConfig({ mailFrom: 'a@b.c' }, {})), null)
  t.end()
})
