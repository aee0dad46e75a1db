import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { PostgresStore } from '../../src/control/postgres/postgres-store.js'
import { freePort } from './free-port.js'
import { machine } from '../../test/support/machine.js'

const run = promisify(execFile)
const startTries = 300

/** It must appear in no error. */
export const password = 'secret-of-the-test'

/** A real PostgreSQL on loopback, with a cluster of its own. */
export interface PostgresServer {
  readonly url: string
  /** Ends it at once, like a crash: connections break. */
  readonly stop: () => Promise<void>
  /** Ends it when the running statements have failed. */
  readonly shutDown: () => Promise<void>
  /** Starts it again, at the same address. */
  readonly start: () => Promise<void>
}

interface PostgresPlace {
  /** `name=value`; by default nothing waits for the disk. */
  readonly settings?: readonly string[]
}

/**
 * Starts a PostgreSQL; what `add` takes ends it and removes its folder. Debian's package
 * `postgresql` must be there.
 */
export async function startPostgresServer(
  add: (close: () => Promise<void>) => unknown,
  { settings = [] }: PostgresPlace = {},
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'das-postgres-'))
  const cluster = { folder, data: join(folder, 'data'), own: await owner() }
  const url = await prepare(cluster)
  let child: ChildProcess | null = null
  const end = async (signal: NodeJS.Signals) => {
    const running = child
    child = null
    if (!running || running.exitCode !== null || running.signalCode !== null) return
    const ended = once(running, 'exit')
    running.kill(signal)
    await ended
  }
  const start = async () => {
    child = spawnServer(cluster, new URL(url).port, settings)
    await answering(url, child)
  }
  const stop = () => end('SIGQUIT')
  add(async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  return { url, stop, shutDown: () => end('SIGINT'), start }
}

interface Cluster {
  readonly folder: string
  readonly data: string
  /** The user that runs it; that of this process where it is left out. */
  readonly own: { readonly uid: number; readonly gid: number } | undefined
}

/** Makes the cluster; returns its URL. */
async function prepare({ folder, data, own }: Cluster): Promise<string> {
  if (own) chownSync(folder, own.uid, own.gid)
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password)
  const files = ['-D', data, `--pwfile=${passwordFile}`]
  const argv = [...files, '-U', 'das', '-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C.UTF-8']
  await run(program('initdb'), argv, { ...own, cwd: folder })
  return `postgres://das:${password}@127.0.0.1:${await freePort('127.0.0.1')}/postgres`
}

function spawnServer(
  { folder, data, own }: Cluster,
  port: string,
  settings: readonly string[],
): ChildProcess {
  const log = openSync(join(folder, 'log'), 'a')
  const options = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'fsync=off']
  const given = [...options, ...settings].flatMap((setting) => ['-c', setting])
  const argv = ['-D', data, '-p', port, ...given]
  const child = spawn(program('postgres'), argv, {
    ...own,
    cwd: folder,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  return child
}

/** Waits until it accepts connections. */
async function answering(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; ; tries++) {
    const probe = PostgresStore.open(url, { ...machine, schema: 'das_probe', size: 1 })
    const isUp = await probe.ready().then(
      () => true,
      () => false,
    )
    await probe.close()
    if (isUp) return
    if (tries === startTries || child.exitCode !== null) {
      throw new Error('PostgreSQL did not start')
    }
    await sleep(50)
  }
}

/** PostgreSQL refuses to run as root: then it runs as the user of Debian's package. */
async function owner(): Promise<Cluster['own']> {
  if (process.getuid?.() !== 0) return undefined
  const id = async (option: string) => Number((await run('id', [option, 'postgres'])).stdout)
  return { uid: await id('-u'), gid: await id('-g') }
}

/** Debian keeps the programs of each release in a folder of its own. */
function program(name: string): string {
  const releases = '/usr/lib/postgresql'
  const newest = readdirSync(releases).sort((left, right) => Number(right) - Number(left))[0]
  if (newest === undefined) throw new Error('install the package postgresql')
  return join(releases, newest, 'bin', name)
}
