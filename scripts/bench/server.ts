import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import type { Ends } from '../harness/cleanup.js'
import { addressOf } from '../harness/server.js'

/** A server in a process of its own. */
export interface Server {
  readonly child: ChildProcess
  /** `http://127.0.0.1:port` */
  readonly base: string
  /** Ends it; resolves when it is gone. */
  readonly stop: () => Promise<void>
}

export interface Start {
  readonly command: string
  readonly argv: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Finds the address in what it writes. */
  readonly pattern?: RegExp
  /** With a channel for messages. */
  readonly hasChannel?: boolean
}

/** What is kept of its log, for the case that it does not start. */
const lettersMax = 4000
/** The first start over new files reads every byte of them. */
const startMsMax = 600_000
/** For a graceful end; then it is killed. */
const stopMs = 10_000

/**
 * Starts a server and waits until its log tells where it listens.
 * @throws Error with the end of its log when it does not come to listen
 */
export async function startServer(start: Start, ends: Ends): Promise<Server> {
  const { command, argv, env, pattern, hasChannel = false } = start
  const wait = { ...(pattern && { pattern }), msMax: startMsMax }
  const child = spawn(command, argv, {
    env,
    stdio: ['ignore', 'pipe', 'pipe', hasChannel ? 'ipc' : 'ignore'],
  })
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('error', () => resolve(1))
    child.once('close', (code, signal) => resolve(signal ?? code ?? 1))
  })
  const stop = async () => {
    child.kill('SIGTERM')
    const kill = setTimeout(() => child.kill('SIGKILL'), stopMs)
    await ended
    clearTimeout(kill)
  }
  ends.add(stop)
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-lettersMax)
    })
  }
  const base = await addressOf(child, () => log, ended, wait)
  return { child, base, stop }
}
