import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { addressOf } from '../harness/server.js'
import { bareEnvironment, launcher, ownerOf, placeOptions } from './reload-fixture.js'
import type { House } from './reload-fixture.js'

/** The built server, as a process of its own. */
export interface Server {
  /** `http://127.0.0.1:port` */
  readonly base: string
  /** Resolves with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
  /** The end of its log. */
  readonly log: () => string
  /** Sends a signal that it is to live through. */
  readonly send: (signal: NodeJS.Signals) => void
  /** Sends a signal; resolves when it has ended. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals>
}

const requestLine = /^.*"msg":"request"\}\n/gm
/** What is kept of its log. */
const lettersMax = 20_000

/**
 * Starts the server over the house; resolves when it listens. It is killed when `signal` aborts.
 * @throws Error with the end of its log when it does not come to listen
 */
export async function startServer(house: House, signal: AbortSignal, port = '0'): Promise<Server> {
  const argv = ['serve', '--host', '127.0.0.1', '--port', port, '--log-level', 'info']
  const child = spawn(process.execPath, [launcher, ...argv, ...placeOptions(house)], {
    env: bareEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
    ...ownerOf(house),
  })
  const ended = endOf(child)
  const log = tailOf(child)
  const base = await addressOf(child, log, ended)
  const send = (name: NodeJS.Signals) => {
    child.kill(name)
  }
  const end = (name: NodeJS.Signals) => {
    child.kill(name)
    return ended
  }
  return { base, ended, log, send, end }
}

function endOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  return new Promise((resolve) => {
    child.once('error', () => undefined)
    child.once('close', (code, signal) => resolve(signal ?? code ?? 1))
  })
}

/** Reads all that it writes, and keeps the end, without the requests. */
function tailOf(child: ChildProcess): () => string {
  let tail = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).replaceAll(requestLine, '').slice(-lettersMax)
    })
  }
  return () => tail
}
