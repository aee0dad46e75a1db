import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { get } from 'node:http'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import {
  bareEnvironment,
  das,
  launcher,
  placeOptions,
  writeRegistry,
} from '../check-reload/reload-fixture.js'
import type { Ends } from '../harness/cleanup.js'
import type { Facts } from './facts.js'
import type { Options } from './bench-options.js'
import { startServer } from './server.js'
import type { Server } from './server.js'

/** The built product over both layouts, as a user starts it. */
export interface Das {
  readonly server: Server
  readonly token: string
  readonly registry: string
  /** From its start to ready, over a state where everything is linked already. */
  readonly startMs: number
}

/** How late its event loop was since `beginLoop`. */
export interface LoopDelay {
  readonly p99Ms: number
  readonly maxMs: number
}

const Created = Type.Object({ token: Type.String() })
const Delay = Type.Object({ p99Ms: Type.Number(), maxMs: Type.Number() })
const readyMsMax = 600_000
const readyEveryMs = 10
const settleMsMax = 600_000
const settleEveryMs = 3000
/** Of each `settleEveryMs`: timers and the look at the files. */
const settledMs = 150

/** Makes a registry and a state, sells a subscription, and starts the server twice. */
export async function startDas(
  facts: Facts,
  { folder: parent, memoryLimitBytes }: Pick<Options, 'folder' | 'memoryLimitBytes'>,
  say: (words: string) => void,
  ends: Ends,
): Promise<Das> {
  const folder = await mkdtemp(join(parent, 'das-bench-house-'))
  ends.add(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'state'), { mode: 0o700 })
  await writeRegistry({ folder }, entriesOf(facts))
  const email = ['--email', 'bench@example.org']
  const plans = ['--plan', 'yearly:bench', '--plan', 'packed:bench']
  const argv = ['subscription', 'create', '--json', ...email, ...plans]
  const sold = await das({ folder, uid: null }, argv)
  if (sold.code !== 0) throw new Error(`nothing can be sold: ${sold.stderr}`)
  const { token } = Value.Parse(Created, JSON.parse(sold.stdout))
  // The first one links the files and reads them; the second one is a restart.
  const first = await startOnce(folder, memoryLimitBytes, ends)
  await first.server.stop()
  const { server, startMs } = await startOnce(folder, memoryLimitBytes, ends)
  say('waiting until the server has done what it does after its start')
  if (!(await hasSettled(server))) say(`it is still busy after ${settleMsMax / 1000} s: going on\n`)
  return { server, token, registry: join(folder, 'registry.yaml'), startMs }
}

/** A plan that no benchmark uses up. */
function entriesOf({
  yearly,
  packed,
}: Facts): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const bench = { rows_per_month: 1e15, history: 'all', price_rub: 0, rate_per_minute: 1e9 }
  return Object.fromEntries(
    [yearly, packed].map(({ name, folder }) => [
      name,
      {
        title: `Statements, ${name}`,
        files: `${folder}/*.parquet`,
        key: ['inn', 'year'],
        history: 'year',
        require_filter: false,
        plans: { bench },
      },
    ]),
  )
}

async function startOnce(folder: string, memoryLimitBytes: number, ends: Ends) {
  const memory = ['--memory-limit', `${memoryLimitBytes / 1000}KB`]
  const place = [...placeOptions({ folder }), ...memory]
  const argv = [launcher, 'serve', '--host', '127.0.0.1', '--port', '0', ...place]
  const probe = fileURLToPath(new URL('event-loop.cjs', import.meta.url))
  const env = { ...bareEnvironment(), NODE_OPTIONS: `--require "${probe}"` }
  const startedMs = performance.now()
  const start = { command: process.execPath, argv, env, hasChannel: true }
  const server = await startServer(start, ends)
  while (!(await isReady(server.base))) {
    if (performance.now() - startedMs > readyMsMax) throw new Error('das does not become ready')
    await setTimeout(readyEveryMs)
  }
  return { server, startMs: performance.now() - startedMs }
}

/**
 * Waits until a server does nothing more by itself: after its start ours makes guides for agents,
 * which is no part of what a request costs. Where the system does not tell, it waits for a while.
 */
async function hasSettled({ child }: Server): Promise<boolean> {
  const endMs = performance.now() + settleMsMax
  let before = busyMs(child.pid)
  for (let now: number | null; performance.now() < endMs; before = now) {
    await setTimeout(settleEveryMs)
    now = busyMs(child.pid)
    if (before === null || now === null || now - before < settledMs) return true
  }
  return false
}

/** How long a process has kept a core busy so far. */
function busyMs(pid: number | undefined): number | null {
  try {
    // After the name, which may hold anything, in ticks of 10 ms: proc_pid_stat(5).
    const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    const fields = after.split(' ').map(Number)
    return ((fields[11] ?? 0) + (fields[12] ?? 0)) * 10
  } catch {
    return null
  }
}

function isReady(base: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(`${base}/readyz`, { agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    }).on('error', () => resolve(false))
  })
}

/** Forgets how late its event loop has been so far. */
export function beginLoop({ server }: Das): void {
  server.child.send('begin')
}

/** How late it has been since. */
export async function endLoop({ server }: Das): Promise<LoopDelay> {
  const message = once(server.child, 'message')
  server.child.send('end')
  const [told]: unknown[] = await message
  return Value.Parse(Delay, told)
}

/** The memory that a process has now, in bytes; 0 where the system does not tell. */
export function residentBytes({ child }: Server): number {
  try {
    const text = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+) kB/.exec(text)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
