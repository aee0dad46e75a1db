import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, mkdtempSync, openSync } from 'node:fs'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './process.js'

const run = promisify(execFile)
const releases = '/usr/lib/postgresql'
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
  /** A folder that is kept, with the cluster that an earlier run has made there. */
  readonly folder?: string
}

/** Whether Debian's package `postgresql` is there. */
export function hasPostgres(): boolean {
  return existsSync(releases)
}

/** Starts a PostgreSQL; what `add` takes ends it, and removes its folder unless that is kept. */
export async function startPostgresServer(
  add: (close: () => Promise<void>) => unknown,
  { settings = [], folder: kept }: PostgresPlace = {},
): Promise<PostgresServer> {
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'das-postgres-'))
  const data = join(folder, 'data')
  // It refuses to run as root: then it runs as the user of Debian's package.
  const own = process.getuid?.() === 0 ? await ownerOf('postgres') : undefined
  mkdirSync(folder, { recursive: true })
  if (own) chownSync(folder, own.uid, own.gid)
  if (!existsSync(data)) {
    const passwordFile = join(folder, 'password')
    writeFileSync(passwordFile, password)
    const files = ['-D', data, `--pwfile=${passwordFile}`]
    const argv = [...files, '-U', 'das', '-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C.UTF-8']
    await run(program('initdb'), argv, { ...own, cwd: folder })
  }
  const port = await freePort()
  const url = `postgres://das:${password}@127.0.0.1:${port}/postgres`
  const places = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'fsync=off']
  const given = [...places, ...settings].flatMap((setting) => ['-c', setting])
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
    const log = openSync(join(folder, 'log'), 'a')
    const argv = ['-D', data, '-p', String(port), ...given]
    child = spawn(program('postgres'), argv, { ...own, cwd: folder, stdio: ['ignore', log, log] })
    await untilAnswering(url, child)
  }
  add(async () => {
    await end(kept === undefined ? 'SIGQUIT' : 'SIGINT')
    if (kept === undefined) rmSync(folder, { recursive: true, force: true })
  })
  await start()
  return { url, stop: () => end('SIGQUIT'), shutDown: () => end('SIGINT'), start }
}

async function untilAnswering(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; ; tries++) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => undefined)
    const isUp = await client.connect().then(
      () => true,
      () => false,
    )
    await client.end()
    if (isUp) return
    if (tries === startTries || child.exitCode !== null) {
      throw new Error('PostgreSQL did not start')
    }
    await sleep(50)
  }
}

async function ownerOf(user: string): Promise<{ readonly uid: number; readonly gid: number }> {
  const id = async (option: string) => Number((await run('id', [option, user])).stdout)
  return { uid: await id('-u'), gid: await id('-g') }
}

/** Debian keeps the programs of each release in a folder of its own. */
function program(name: string): string {
  const [newest] = hasPostgres() ? readdirSync(releases).sort((a, b) => Number(b) - Number(a)) : []
  if (newest === undefined) throw new Error('install the package postgresql')
  return join(releases, newest, 'bin', name)
}
