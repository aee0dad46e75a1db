import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import PostalMime from 'postal-mime'
import type { Email } from 'postal-mime'
import { eventually } from '../../harness/fault.js'
import { freePort, startProgram, system } from '../../harness/process.js'
import type { Cleanup } from '../../harness/script.js'
import { hostname, owner, postfixFiles, queues, reader } from './postfix-files.js'

/** Postfix, and what stores and checks its logins. */
const packages = ['postfix', 'sasl2-bin', 'libsasl2-modules']
const chroot = '/usr/sbin/chroot'
const letterWait = { withinMs: 60_000, everyMs: 100 }

interface PostfixOptions {
  readonly host: string
  readonly login: { readonly user: string; readonly password: string }
  /** Where key.pem and certificate.pem are. */
  readonly certificates: string
  readonly cleanup: Cleanup
}

/**
 * Downloads Postfix with its dependencies from Debian's archive next to a folder, and unpacks them
 * into it: a system of its own, entered with chroot. Nothing is installed on this machine.
 *
 * @throws Error with apt's reason, or because it is not run by root
 */
export async function unpackPostfix(root: string): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('Postfix starts only for root')
  const [cache, state] = [`${root}-cache`, `${root}-dpkg`]
  const archives = join(cache, 'archives')
  await mkdir(join(archives, 'partial'), { recursive: true })
  await mkdir(state)
  // An empty status means that nothing is installed, so apt downloads the libraries too.
  await writeFile(join(state, 'status'), '')
  const places = ['-o', `Dir::Cache=${cache}`, '-o', `Dir::State::status=${join(state, 'status')}`]
  await system('apt-get', 'update', '-qq')
  const options = ['-y', '-qq', '--download-only', '--no-install-recommends', ...places]
  await system('apt-get', 'install', ...options, ...packages)
  for (const name of await readdir(archives)) {
    if (name.endsWith('.deb')) await system('dpkg', '-x', join(archives, name), root)
  }
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

/**
 * Waits for a letter with such a subject, and takes it out of the maildir.
 * @throws Fault where none comes in a minute
 */
export function takeLetter(maildir: string, subject: RegExp): Promise<Email> {
  const folder = join(maildir, 'new')
  return eventually(`a letter with the subject ${String(subject)}`, letterWait, async () => {
    for (const name of await readdir(folder).catch(() => [])) {
      const letter = await PostalMime.parse(await readFile(join(folder, name)))
      if (!subject.test(letter.subject ?? '')) continue
      await rm(join(folder, name))
      return letter
    }
    return undefined
  })
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
  const { user, password } = options.login
  const command = 'printf %s "$4" | "$0" "$1" /usr/sbin/saslpasswd2 -p -c -u "$2" "$3"'
  await system('sh', '-c', command, chroot, root, hostname, user, password)
  await chown(at('etc/sasldb2'), owner, owner)
}

async function mkdirOf(user: number, path: string): Promise<void> {
  await mkdir(path, { recursive: true })
  await chown(path, user, user)
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
