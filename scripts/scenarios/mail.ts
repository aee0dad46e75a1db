import { chmod, copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { demand } from '../harness/fault.js'
import { launcher, makeFolder, writeShippedRegistry } from '../harness/fixture.js'
import { freePort, runProgram, startServer } from '../harness/process.js'
import type { Run } from '../harness/script.js'
import { postfixLog, startPostfix, takeLetter, unpackPostfix } from './mail/postfix.js'
import { readShopLetters } from './mail/shop-letters.js'
import { scenario } from './scenario.js'
import type { Facts } from './scenario.js'

const about = `Sells a subscription with the built product over a real mail server: Debian's Postfix, unpacked with
its dependencies into a temporary folder and started there with chroot, on a port of loopback, with
STARTTLS and a login. Reads the letter from its maildir, runs the curl command in it, and checks how
a refused recipient and an unknown certificate are reported. Then buys on the portal, renews, connects
an agent and replaces a lost token, in both languages, and reads every letter about it. Needs root and
Debian's archive (40 MB of it). Installs nothing, makes no user, and leaves nothing behind.`

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

async function checkMail(folder: string, postfix: string, run: Run): Promise<Facts> {
  await chmod(folder, 0o755)
  run.update('unpacking Postfix from the Debian archive')
  await unpackPostfix(postfix)
  await copyFile(join(certificates, 'certificate.pem'), join(folder, 'certificate.pem'))
  const options = { host, login, certificates, cleanup: run.cleanup }
  const { version, port, maildir } = await startPostfix(postfix, options)
  await writeShippedRegistry(folder, ['shop'], shop)
  const own = String(await freePort())
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
  const letters = [await sellAndRead(env, maildir)]
  for (const language of ['en', 'ru'] as const) {
    const das = async (...words: readonly string[]) => {
      const { code, stdout, stderr } = await runDas(env, words)
      demand(code === 0, `das ${words.join(' ')}: ${stderr}`)
      return stdout
    }
    letters.push(...(await readShopLetters({ base, maildir, das }, language)))
  }
  const refused = await sell(env, 'nobody@example.org')
  const unavailable =
    /^Not mailed: \S+ answered to RCPT TO: 550 .+\. Give the token to the subscriber yourself\.$/m
  demand(unavailable.test(refused.stderr), `the refusal is not reported: ${refused.stderr}`)
  const { NODE_EXTRA_CA_CERTS: _, ...untrusting } = env
  const unknown = await sell(untrusting, 'buyer@example.org')
  const untrusted = /^Not mailed yet: \S+: .*certificate.*NODE_EXTRA_CA_CERTS/
  demand(untrusted.test(unknown.stderr), `the certificate is not reported: ${unknown.stderr}`)
  return [
    ['server', version],
    ...letters.map((subject) => ['letter', subject] as const),
    ['refused', refused.stderr.trim()],
    ['certificate', unknown.stderr.trim()],
    ['holds', 'mail works'],
  ]
}

/** Sells, waits for the letter, and follows its instructions; its subject. */
async function sellAndRead(env: NodeJS.ProcessEnv, maildir: string): Promise<string> {
  const sold = await sell(env, 'buyer@example.org')
  const isMailed = sold.stdout.endsWith('Mailed to buyer@example.org.\n')
  demand(isMailed, `no letter: ${sold.stdout}${sold.stderr}`)
  const token = /^das_live_\w+$/m.exec(sold.stdout)?.[0] ?? 'no token'
  const letter = await takeLetter(maildir, /^Your access to /)
  demand(letter.html?.includes(token) === true, 'the token is not in the HTML')
  const command = /^ *(curl .*)$/m.exec(letter.text ?? '')?.[1] ?? 'no curl in the letter'
  demand(command.includes(token), 'the token is not in the text')
  const line = command.replace('curl', 'curl -sS -i')
  const { stdout } = await runProgram({ command: 'sh', argv: ['-c', line] })
  demand(/^HTTP\/1\.1 200 /.test(stdout), 'the token does not work')
  demand(stdout.includes('"financials"'), 'the dataset is not listed')
  return letter.subject ?? ''
}

async function sell(env: NodeJS.ProcessEnv, email: string) {
  const words = ['subscription', 'create', '--email', email, '--plan', 'financials:start']
  const done = await runDas(env, words)
  demand(done.code === 0, `das ${words.join(' ')}: ${done.stderr}`)
  return done
}

function runDas(env: NodeJS.ProcessEnv, argv: readonly string[]) {
  return runProgram({ argv: [launcher, ...argv], env })
}

async function check(_given: unknown, run: Run): Promise<Facts> {
  const folder = await makeFolder(run, 'check-mail')
  const postfix = join(folder, 'postfix')
  try {
    return await checkMail(folder, postfix, run)
  } catch (cause) {
    process.stderr.write(await postfixLog(postfix))
    throw cause
  }
}

/** `npm run check:mail`. */
export const mail = scenario({ name: 'mail', about, options: {}, check })
