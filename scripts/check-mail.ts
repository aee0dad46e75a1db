import { chmod, copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { freePort } from './harness/free-port.js'
import { launcher, makeFolder, requireBuild, writeShippedRegistry } from './harness/fixture.js'
import { runProgram } from './harness/process.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import { startServer } from './harness/server.js'
import { takeLetter } from './mail/maildir.js'
import { postfixLog, startPostfix, unpackPostfix } from './mail/postfix.js'
import { readShopLetters } from './mail/shop-letters.js'

const command = {
  name: 'check-mail',
  usage: 'npm run test:mail --',
  about: `Sells a subscription with the built product over a real mail server: Debian's Postfix, unpacked with
its dependencies into a temporary folder and started there with chroot, on a port of loopback, with
STARTTLS and a login. Reads the letter from its maildir, runs the curl command in it, and checks how
a refused recipient and an unknown certificate are reported. Then buys on the portal, renews, connects
an agent and replaces a lost token, in both languages, and reads every letter about it. Needs root, Debian's archive (40 MB of
it), and npm run build first. Installs nothing, makes no user, and leaves nothing behind.`,
  options: {},
}

type Print = (line: string) => void

const certificates = resolve('test/sales/letters/fixtures')
const login = { user: 'das', password: 'p4ss:word/50%' }
const shop = {
  free: true,
  paid: true,
  contact: 'owner@example.org',
  payment: 'Pay {amount} RUB, order {order}.',
}
/** Loopback, but not by a name that excuses a server from TLS. */
const host = '127.0.0.2'

async function checkMail(folder: string, postfix: string, run: Run): Promise<void> {
  const print: Print = (line) => run.print(`${line}\n`)
  await chmod(folder, 0o755)
  print('unpacking Postfix from the Debian archive')
  await unpackPostfix(postfix)
  await copyFile(join(certificates, 'certificate.pem'), join(folder, 'certificate.pem'))
  const options = { host, login, certificates, cleanup: run.cleanup }
  const { version, port, maildir } = await startPostfix(postfix, options)
  print(`${version} listens on ${host}:${port}`)
  await writeShippedRegistry(folder, ['shop'], shop)
  const own = String(await freePort('127.0.0.1'))
  const env = {
    ...process.env,
    DAS_REGISTRY: join(folder, 'registry.yaml'),
    DAS_STATE: join(folder, 'var'),
    DAS_PUBLIC_URL: `http://127.0.0.1:${own}`,
    DAS_SMTP_URL: `smtp://${login.user}:${encodeURIComponent(login.password)}@${host}:${port}`,
    DAS_MAIL_FROM: 'Data <data@example.org>',
    NODE_EXTRA_CA_CERTS: join(folder, 'certificate.pem'),
  }
  const argv = [launcher, 'serve', '--port', own, '--json']
  const { base } = await startServer({ argv, env }, run.cleanup)
  print(`the product serves ${base}`)
  await sellAndRead(env, maildir, print)
  for (const language of ['en', 'ru'] as const) {
    const dasWell = (...words: readonly string[]) => runWell(env, words)
    await readShopLetters({ base, maildir, das: dasWell, print }, language)
  }
  await sellToRefused(env, print)
  await sellWithoutTrust(env, print)
}

/** Sells, waits for the letter, and follows its instructions. */
async function sellAndRead(env: NodeJS.ProcessEnv, maildir: string, print: Print): Promise<void> {
  const sold = await das(env, ...create('buyer@example.org'))
  print(`das subscription create: ${sold.stdout.trim().split('\n').at(-1)}${sold.stderr}`)
  expect(sold.code === 0 && sold.stdout.endsWith('Mailed to buyer@example.org.\n'), 'no letter')
  const token = /^das_live_\w+$/m.exec(sold.stdout)?.[0] ?? 'no token'
  const letter = await takeLetter(maildir, /^Your access to /)
  print(`the letter came: ${letter.subject} (${letter.messageId})`)
  expect(letter.html?.includes(token) === true, 'the token is not in the HTML')
  const command = /^ *(curl .*)$/m.exec(letter.text ?? '')?.[1] ?? 'no curl in the letter'
  expect(command.includes(token), 'the token is not in the text')
  const answer = await runProgram({
    command: 'sh',
    argv: ['-c', command.replace('curl', 'curl -sS -i')],
  })
  print(`its curl answers: ${answer.stdout.split('\r\n')[0]}`)
  expect(/^HTTP\/1\.1 200 /.test(answer.stdout), 'the token does not work')
  expect(answer.stdout.includes('"financials"'), 'the dataset is not listed')
}

async function sellToRefused(env: NodeJS.ProcessEnv, print: Print): Promise<void> {
  const refused = await das(env, ...create('nobody@example.org'))
  print(`a refused recipient: ${refused.stderr.trim()}`)
  const said =
    /^Not mailed: \S+ answered to RCPT TO: 550 .+\. Give the token to the subscriber yourself\.$/m
  expect(refused.code === 0 && said.test(refused.stderr), 'the refusal is not reported')
}

async function sellWithoutTrust(env: NodeJS.ProcessEnv, print: Print): Promise<void> {
  const { NODE_EXTRA_CA_CERTS: _, ...untrusting } = env
  const refused = await das(untrusting, ...create('buyer@example.org'))
  print(`an unknown certificate: ${refused.stderr.trim()}`)
  const said = /^Not mailed yet: \S+: .*certificate.*NODE_EXTRA_CA_CERTS/
  expect(refused.code === 0 && said.test(refused.stderr), 'the certificate is not reported')
}

function create(email: string): readonly string[] {
  return ['subscription', 'create', '--email', email, '--plan', 'financials:start']
}

function das(env: NodeJS.ProcessEnv, ...argv: readonly string[]) {
  return runProgram({ argv: [launcher, ...argv], env })
}

/** What a command printed. @throws Error where it fails */
async function runWell(env: NodeJS.ProcessEnv, argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await das(env, ...argv)
  expect(code === 0, `das ${argv.join(' ')}: ${stderr}`)
  return stdout
}

function expect(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(otherwise)
}

await runScript(command, async (_options, run) => {
  requireBuild()
  const folder = await makeFolder(run, 'check-mail')
  const postfix = join(folder, 'postfix')
  try {
    await checkMail(folder, postfix, run)
    run.print('mail works\n')
  } catch (cause) {
    process.stderr.write(await postfixLog(postfix))
    throw cause
  }
})
