import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { unpackPackages } from './debian.js'
import { hostname, owner, postfixFiles, queues, reader } from './postfix-files.js'
import { runWell } from './run.js'
import { eventually } from '../harness/wait.js'

/** Postfix, and what keeps and checks its logins. */
const packages = ['postfix', 'sasl2-bin', 'libsasl2-modules']

const chroot = '/usr/sbin/chroot'

interface PostfixOptions {
  readonly host: string
  readonly login: { readonly user: string; readonly password: string }
  /** Where key.pem and certificate.pem are. */
  readonly certificates: string
  readonly ends: (() => Promise<unknown>)[]
}

/**
 * Unpacks Postfix from Debian's archive into the folder that it is to take for its system.
 * @throws Error with the reason of apt, or that it needs root
 */
export async function preparePostfix(root: string): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('Postfix starts only for root')
  await unpackPackages(root, packages)
}

/** Starts Postfix on a free port, in the foreground; it is stopped, with its children, by `ends`. */
export async function startPostfix(root: string, options: PostfixOptions) {
  const { host, ends } = options
  const port = await freePort(host)
  await configure(root, options, port)
  // Its master ends with its process group, so that has to be its own.
  const child = spawn(chroot, [root, '/usr/lib/postfix/sbin/master', '-c', '/etc/postfix', '-d'], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    // Makes it log from the start, and not only once it has read its settings.
    env: { POSTLOG_SERVICE: 'postlog' },
  })
  // Closed by the last of its processes, and not before.
  const closed = once(child, 'close')
  child.stderr.resume()
  ends.push(async () => {
    const isRunning = child.exitCode === null && child.signalCode === null
    if (isRunning && child.pid) process.kill(-child.pid, 'SIGTERM')
    await closed
  })
  const version = await eventually('Postfix', async () => {
    if (child.exitCode !== null) throw new Error(`Postfix ended with ${child.exitCode}`)
    return greeting(host, port)
  })
  return { port, maildir: join(root, 'mail', 'maildir'), version }
}

/** What Postfix says of it, where it said anything. */
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

async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** What the server says first, without its status; `undefined` while it is not there. */
async function greeting(host: string, port: number): Promise<string | undefined> {
  const socket = connect(port, host)
  try {
    const [line] = (await once(socket.setEncoding('utf8'), 'data')) as [string]
    return line.slice('220 '.length).trim()
  } catch {
    // Not yet listening: the caller asks again, for a while.
    return undefined
  } finally {
    socket.destroy()
  }
}
