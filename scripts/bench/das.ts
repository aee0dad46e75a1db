import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { bareEnvironment, serve, subscribe } from '../harness/fixture.js'
import type { Fixture } from '../harness/fixture.js'
import type { Run } from '../harness/script.js'
import type { Server } from '../harness/server.js'
import { eventually } from '../harness/wait.js'
import type { Options } from './bench-options.js'
import type { Facts } from './facts.js'

/** The built product over both layouts, started as a user starts it. */
export interface Das {
  readonly server: Server
  readonly token: string
  /** From its start to ready, over a state where everything is linked already. */
  readonly startMs: number
}

/** How late its event loop was since `beginLoop`. */
export interface LoopDelay {
  readonly p99Ms: number
  readonly maxMs: number
}

const Delay = Type.Object({ p99Ms: Type.Number(), maxMs: Type.Number() })
/** The first start over new files reads every byte of them. */
const startMsMax = 600_000
const readyEveryMs = 10
const settleMsMax = 600_000
const settleEveryMs = 3000
/** Of each `settleEveryMs`: timers and the watcher's checks. */
const settledMs = 150

/** Sells a subscription, and starts the server twice. */
export async function startDas(
  { fixture }: Facts,
  options: Pick<Options, 'memoryLimit' | 'serverCores'>,
  run: Run,
): Promise<Das> {
  const { token } = await subscribe(fixture, ['yearly:bench', 'packed:bench'])
  // The first server links the files and reads them; the second start is a restart.
  const first = await startOnce(fixture, options, run)
  await first.server.stop()
  const { server, startMs } = await startOnce(fixture, options, run)
  run.update('waiting until the server has finished the work of its start')
  if (!(await hasSettled(server))) {
    run.log(`the server is still busy after ${settleMsMax / 1000} s; measuring all the same`)
  }
  return { server, token, startMs }
}

async function startOnce(
  fixture: Fixture,
  options: Pick<Options, 'memoryLimit' | 'serverCores'>,
  { cleanup }: Run,
) {
  const { memoryLimit, serverCores: cores } = options
  const probe = fileURLToPath(new URL('event-loop.cjs', import.meta.url))
  const env = { ...bareEnvironment(), NODE_OPTIONS: `--require "${probe}"` }
  const argv = ['--memory-limit', `${memoryLimit / 1000}KB`]
  const startedMs = performance.now()
  // Little of the log is kept: keeping it costs what the measurements share.
  const start = { argv, env, cores, hasChannel: true, outputMax: 4000, startMsMax }
  const server = await serve(fixture, cleanup, start)
  const wait = { withinMs: startMsMax, everyMs: readyEveryMs }
  await eventually('das is ready', wait, () => isReady(server.base))
  return { server, startMs: performance.now() - startedMs }
}

/**
 * Waits until a server does nothing more by itself: after its start it makes guides for agents,
 * which no request pays for. Where the system does not report it, this waits for a while.
 */
async function hasSettled({ child }: Server): Promise<boolean> {
  const endMs = performance.now() + settleMsMax
  let before = busyMs(child.pid)
  for (let now: number | null; performance.now() < endMs; before = now) {
    await sleep(settleEveryMs)
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

function isReady(base: string): Promise<true | undefined> {
  return new Promise((resolve) => {
    get(`${base}/readyz`, { agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200 ? true : undefined)
    }).on('error', () => resolve(undefined))
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
  const [delay]: unknown[] = await message
  return Value.Parse(Delay, delay)
}
