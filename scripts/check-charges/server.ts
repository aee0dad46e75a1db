import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { addressOf } from '../harness/server.js'
import { bareEnvironment, launcher, placeOptions } from './charges-fixture.js'
import type { House } from './charges-fixture.js'

/** The built server, as a process of its own. */
export interface Server {
  /** `http://127.0.0.1:port` */
  readonly base: string
  /** Resolves with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
  /** The end of its log. */
  readonly log: () => string
  /** Sends a signal; resolves when it has ended. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals>
}

/** What is kept of its log, for the case that it does not start. */
const lettersMax = 4000

/**
 * Starts the server over the house; resolves when it listens. It is killed when `signal` aborts.
 * @throws Error with the end of its log when it does not come to listen
 */
export async function startServer(house: House, signal: AbortSignal): Promise<Server> {
  const argv = ['serve', '--host', '127.0.0.1', '--port', '0', '--log-level', 'info']
  const child = spawn(process.execPath, [launcher, ...argv, ...placeOptions(house)], {
    env: bareEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  })
  const ended = endOf(child)
  const log = tailOf(child)
  const base = await addressOf(child, log, ended)
  const end = (name: NodeJS.Signals) => {
    child.kill(name)
    return ended
  }
  return { base, ended, log, end }
}

function endOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  return new Promise((resolve) => {
    child.once('error', () => undefined)
    child.once('close', (code, signal) => resolve(signal ?? code ?? 1))
  })
}

/** Reads all that it writes, and keeps the end. */
function tailOf(child: ChildProcess): () => string {
  let tail = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-lettersMax)
    })
  }
  return () => tail
}
