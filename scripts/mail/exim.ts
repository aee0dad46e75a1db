import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { run, runWell } from './run.js'
import { eventually } from './wait.js'

/** The user that Debian's Exim is built for: it does not start without. */
const account = 'Debian-exim'

/** Exim, unpacked and not installed: no service of the system knows of it. */
interface Exim {
  readonly folder: string
  readonly program: string
  readonly env: NodeJS.ProcessEnv
}

interface EximOptions {
  readonly host: string
  readonly login: { readonly user: string; readonly password: string }
  /** Where key.pem and certificate.pem are. */
  readonly certificates: string
  readonly ends: (() => Promise<unknown>)[]
}

/**
 * Downloads Exim and what it needs from Debian's archive and unpacks it here. Its user is made where
 * there is none, and `ends` removes it.
 * @throws Error with apt's reason
 */
export async function prepareExim(folder: string, ends: EximOptions['ends']): Promise<Exim> {
  if (process.getuid?.() !== 0) throw new Error('Exim starts only for root')
  const archives = join(folder, 'archives')
  await mkdir(join(archives, 'partial'), { recursive: true })
  await runWell('apt-get', ['update', '-qq'])
  const options = ['--download-only', '--reinstall', '--no-install-recommends', '-o']
  const target = [`Dir::Cache::archives=${archives}`, 'exim4-daemon-light']
  await runWell('apt-get', ['install', '-y', '-qq', ...options, ...target])
  const unpacked = join(folder, 'root')
  for (const name of await readdir(archives)) {
    if (name.endsWith('.deb')) await runWell('dpkg', ['-x', join(archives, name), unpacked])
  }
  await makeAccount(ends)
  const libraries = await runWell('find', [unpacked, '-name', '*.so*', '-printf', '%h\\n'])
  const env = { PATH: process.env['PATH'], LD_LIBRARY_PATH: libraries.trim().split('\n').join(':') }
  const program = join(unpacked, 'usr', 'sbin', 'exim4')
  // A program that is root's for everybody reads no LD_LIBRARY_PATH.
  await chmod(program, 0o755)
  return { folder, program, env }
}

async function makeAccount(ends: EximOptions['ends']): Promise<void> {
  if ((await run('id', [account])).code === 0) return
  await runWell('useradd', ['--system', '--no-create-home', '--shell', '/bin/false', account])
  // Refused while the last of its processes goes.
  const remove = async () => ((await run('userdel', [account])).code === 0 ? true : undefined)
  ends.push(() => eventually(`the end of user ${account}`, remove))
}

/** Starts Exim on a free port, in the foreground; it is stopped, with its children, by `ends`. */
export async function startExim(exim: Exim, options: EximOptions) {
  const port = await freePort(options.host)
  const maildir = join(exim.folder, 'maildir')
  const configuration = join(exim.folder, 'exim.conf')
  for (const name of ['spool', 'log', 'maildir', 'tls']) await mkdir(join(exim.folder, name))
  for (const name of ['key.pem', 'certificate.pem']) {
    await copyFile(join(options.certificates, name), join(exim.folder, 'tls', name))
  }
  await chmod(join(exim.folder, 'tls'), 0o700)
  await writeFile(configuration, configurationText(exim, options, port))
  const own = ['spool', 'log', 'maildir', 'tls'].map((name) => join(exim.folder, name))
  await runWell('chown', ['-R', `${account}:${account}`, ...own])
  const child = spawn(exim.program, ['-C', configuration, '-bdf'], {
    env: exim.env,
    detached: true,
    stdio: 'ignore',
  })
  const closed = once(child, 'close')
  options.ends.push(async () => {
    // The whole group: a delivery may still be at work.
    if (child.exitCode === null && child.pid) process.kill(-child.pid, 'SIGTERM')
    await closed
  })
  const version = await eventually(`Exim (its log: ${join(exim.folder, 'log')})`, () => {
    if (child.exitCode !== null) throw new Error(`Exim ended with ${child.exitCode}`)
    return greeting(options.host, port)
  })
  return { port, maildir, version }
}

function configurationText(exim: Exim, { host, login }: EximOptions, port: number): string {
  const at = (name: string) => join(exim.folder, name)
  return `
exim_path = ${exim.program}
spool_directory = ${at('spool')}
log_file_path = ${at('log')}/%slog
pid_file_path = ${at('spool')}/exim.pid
primary_hostname = mail.example.org
local_interfaces = ${host}
daemon_smtp_ports = ${port}
deliver_drop_privilege = true
keep_environment = LD_LIBRARY_PATH
add_environment = LD_LIBRARY_PATH=${exim.env['LD_LIBRARY_PATH']}
host_lookup =
rfc1413_query_timeout = 0s
smtp_banner = $primary_hostname ESMTP Exim $version_number
tls_advertise_hosts = *
tls_certificate = ${at('tls')}/certificate.pem
tls_privatekey = ${at('tls')}/key.pem
acl_smtp_rcpt = recipient
acl_smtp_data = accept

begin acl
recipient:
  deny message = log in first
       !authenticated = *
  deny message = no such user here
       local_parts = nobody
  accept domains = example.org
  deny message = relay not permitted

begin routers
everybody:
  driver = accept
  transport = maildir

begin transports
maildir:
  driver = appendfile
  maildir_format
  directory = ${at('maildir')}
  user = ${account}

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_advertise_condition = \${if def:tls_in_cipher}
  server_condition = \${if and{{eq{$auth2}{${login.user}}}{eq{$auth3}{${login.password}}}}}
  server_set_id = $auth2
`
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
