import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import type { Cleanup } from '../harness/cleanup.js'
import { freePort } from '../harness/free-port.js'
import { startProgram } from '../harness/process.js'
import { eventually } from '../harness/wait.js'
import { runWell, unpackPackages } from './debian.js'
import { hostname, owner, postfixFiles, queues, reader } from './postfix-files.js'

/** Postfix, and what stores and checks its logins. */
const packages = ['postfix', 'sasl2-bin', 'libsasl2-modules']

const chroot = '/usr/sbin/chroot'

interface PostfixOptions {
  readonly host: string
  readonly login: { readonly user: string; readonly password: string }
  /** Where key.pem and certificate.pem are. */
  readonly certificates: string
  readonly cleanup: Cleanup
}

/**
 * Unpacks Postfix from Debian's archive into a folder, which becomes its root.
 * @throws Error with apt's reason, or because it is not run by root
 */
export async function unpackPostfix(root: string): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('Postfix starts only for root')
  await unpackPackages(root, packages)
}

/** Starts Postfix on a free port, in the foreground. */
export async function startPostfix(root: string, options: PostfixOptions) {
  const { host, cleanup } = options
  const port = await freePort(host)
  await configure(root, options, port)
  const argv = [root, '/usr/lib/postfix/sbin/master', '-c', '/etc/postfix', '-d']
  // The variable makes it log from the start, and not only once it has read its settings.
  const env = { POSTLOG_SERVICE: 'postlog' }
  // Its master ends together with its process group, which must be its own.
  const { child } = startProgram({ command: chroot, argv, env, isGroup: true }, cleanup)
  const version = await eventually('Postfix', { withinMs: 30_000, everyMs: 100 }, async () => {
    if (child.exitCode !== null) throw new Error(`Postfix ended: ${child.exitCode}`)
    return greeting(host, port)
  })
  return { port, maildir: join(root, 'mail', 'maildir'), version }
}

/** What Postfix has logged; empty where it has not started. */
export function postfixLog(root: string): Promise<string> {
  return readFile(join(root, 'var', 'log', 'mail.log'), 'utf8').catch(() => '')
}

async function configure(root: string, options: PostfixOptions, port: number): Promise<void> {
  const at = (path: string) => join(root, path)
  for (const [path, content] of Object.entries(postfixFiles({ host: options.host, port }))) {
    await mkdir(dirname(at(path)), { recursive: true })
    await writeFile(at(path), content)
  }
  await mkdir(at('etc/tls'))
  await writeFile(at('etc/tls/seed'), randomBytes(64))
  for (const name of ['key.pem', 'certificate.pem']) {
    await copyFile(join(options.certificates, name), at(`etc/tls/${name}`))
  }
  await chmod(at('etc/tls/key.pem'), 0o600)
  await mkdir(at('var/log'), { recursive: true })
  await mkdir(at('var/spool/postfix/pid'), { recursive: true })
  for (const name of queues.split(' ')) await mkdirOf(owner, at(`var/spool/postfix/${name}`))
  await mkdirOf(owner, at('var/lib/postfix'))
  await mkdirOf(reader, at('mail'))
  await addLogin(root, options.login)
}

async function mkdirOf(user: number, path: string): Promise<void> {
  await mkdir(path, { recursive: true })
  await chown(path, user, user)
}

async function addLogin(root: string, login: PostfixOptions['login']): Promise<void> {
  const command = 'printf %s "$4" | "$0" "$1" /usr/sbin/saslpasswd2 -p -c -u "$2" "$3"'
  await runWell('sh', ['-c', command, chroot, root, hostname, login.user, login.password])
  await chown(join(root, 'etc', 'sasldb2'), owner, owner)
}

/** The server's greeting, without its status; undefined while it does not listen. */
async function greeting(host: string, port: number): Promise<string | undefined> {
  const socket = connect(port, host)
  try {
    const [line] = (await once(socket.setEncoding('utf8'), 'data')) as [string]
    return line.slice('220 '.length).trim()
  } catch {
    // It does not listen yet: the caller tries again.
    return undefined
  } finally {
    socket.destroy()
  }
}
