import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { access, chmod, copyFile, mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import { postfixLog, preparePostfix, startPostfix } from './mail/postfix.js'
import { run } from './mail/run.js'
import { eventually } from './mail/wait.js'

const help = `Usage: npm run test:mail

Sells a subscription with the built product over a real mail server: Postfix of Debian, unpacked with
all that it depends on into a temporary folder and started there, by chroot, on a port of loopback,
with STARTTLS and a login. Reads the letter out of its maildir, runs the curl that stands in it, and
looks how a refused recipient and an unknown certificate are told. Needs root, Debian's archive (40 MB
of it), and npm run build first. Installs nothing, makes no user, and leaves nothing behind.
`

const launcher = resolve('dist/das.cjs')
const certificates = resolve('test/mail/fixtures')
const login = { user: 'das', password: 'p4ss:word/50%' }
/** Loopback, but not by a name that excuses a server from TLS. */
const host = '127.0.0.2'

/** What is to be undone, last first. */
type Ends = (() => Promise<unknown>)[]

async function checkMail(folder: string, ends: Ends): Promise<void> {
  await access(launcher).catch(() => {
    throw new Error('dist/das.cjs is not there: npm run build makes it')
  })
  await chmod(folder, 0o755)
  say('unpacking Postfix from the Debian archive')
  const postfix = postfixIn(folder)
  await preparePostfix(postfix)
  await copyFile(join(certificates, 'certificate.pem'), join(folder, 'certificate.pem'))
  const running = await startPostfix(postfix, { host, login, certificates, ends })
  say(`${running.version} listens on ${host}:${running.port}`)
  const smtpUrl = `smtp://${login.user}:${encodeURIComponent(login.password)}@${host}:${running.port}`
  const environment = {
    ...process.env,
    DAS_REGISTRY: resolve('registry.yaml'),
    DAS_STATE: join(folder, 'var'),
    DAS_SMTP_URL: smtpUrl,
    DAS_MAIL_FROM: 'Data <data@example.org>',
    NODE_EXTRA_CA_CERTS: join(folder, 'certificate.pem'),
  }
  const base = await startProduct(environment, ends)
  say(`the product serves ${base}`)
  const selling = { ...environment, DAS_PUBLIC_URL: base }
  await sellAndRead(selling, running.maildir)
  await sellToNobody(selling)
  await sellWithoutTrust(selling)
}

/** Sells, waits for the letter, and does what it says. */
async function sellAndRead(environment: NodeJS.ProcessEnv, maildir: string): Promise<void> {
  const sold = await das(environment, ...create('buyer@example.org'))
  say(`das subscription create: ${sold.stdout.trim().split('\n').at(-1)}${sold.stderr}`)
  expect(sold.code === 0 && sold.stdout.endsWith('Mailed to buyer@example.org.\n'), 'no letter')
  const token = /^das_live_\w+$/m.exec(sold.stdout)?.[0] ?? 'no token'
  const path = await eventually('a letter in the maildir', async () => {
    const [name] = await readdir(join(maildir, 'new')).catch(() => [])
    return name === undefined ? undefined : join(maildir, 'new', name)
  })
  const letter = await PostalMime.parse(await readFile(path))
  say(`the letter came: ${letter.subject} (${letter.messageId})`)
  expect(letter.html?.includes(token) === true, 'the token is not in the HTML')
  const command = /^ *(curl .*)$/m.exec(letter.text ?? '')?.[1] ?? 'no curl in the letter'
  expect(command.includes(token), 'the token is not in the text')
  const answer = await run('sh', ['-c', `${command.replace('curl', 'curl -sS -i')}`])
  say(`its curl answers: ${answer.stdout.split('\r\n')[0]}`)
  expect(/^HTTP\/1\.1 200 /.test(answer.stdout), 'the token does not work')
  expect(answer.stdout.includes('"financials"'), 'the dataset is not there')
}

async function sellToNobody(environment: NodeJS.ProcessEnv): Promise<void> {
  const refused = await das(environment, ...create('nobody@example.org'))
  say(`a refused recipient: ${refused.stderr.trim()}`)
  const said =
    /^Not mailed: \S+ answered to RCPT TO: 550 ".*"\. Give the token to the subscriber yourself\.$/m
  expect(refused.code === 0 && said.test(refused.stderr), 'the refusal is not told')
}

async function sellWithoutTrust(environment: NodeJS.ProcessEnv): Promise<void> {
  const { NODE_EXTRA_CA_CERTS: _, ...untrusting } = environment
  const refused = await das(untrusting, ...create('buyer@example.org'))
  say(`an unknown certificate: ${refused.stderr.trim()}`)
  const said = /^Not mailed yet: the certificate of .* is not trusted/
  expect(refused.code === 0 && said.test(refused.stderr), 'the certificate is not told')
}

function create(email: string): readonly string[] {
  return ['subscription', 'create', '--email', email, '--plan', 'financials:start']
}

function das(environment: NodeJS.ProcessEnv, ...argv: readonly string[]) {
  return run(process.execPath, [launcher, ...argv], environment)
}

/** `das serve` on a free port; its address. */
async function startProduct(environment: NodeJS.ProcessEnv, ends: Ends): Promise<string> {
  const argv = [launcher, 'serve', '--port', '0', '--json']
  const child = spawn(process.execPath, argv, { env: environment })
  ends.push(() => stop(child))
  const lines: string[] = []
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => lines.push(chunk))
  const errors = text(child.stderr)
  return eventually('the product', async () => {
    if (child.exitCode !== null) throw new Error(`das serve ended: ${await errors}`)
    return /Server listening at (http:\/\/[\d.:]+)/.exec(lines.join(''))?.[1]
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  await closed
}

function postfixIn(folder: string): string {
  return join(folder, 'postfix')
}

function expect(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(otherwise)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function main(): Promise<void> {
  if (process.argv.includes('--help')) return say(help)
  const folder = await mkdtemp(join(tmpdir(), 'das-mail-'))
  const ends: Ends = [() => rm(folder, { recursive: true, force: true })]
  try {
    await checkMail(folder, ends)
    say('mail works')
  } catch (cause) {
    process.stderr.write(`mail does not work: ${(cause as Error).message}\n`)
    process.stderr.write(await postfixLog(postfixIn(folder)))
    process.exitCode = 1
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

await main()
