import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cleanup } from './script.js'

/** In megabytes: with the default of Node.js, garbage collection is a tenth of the time. */
export const youngSpace = '--max-semi-space-size=64'

/** An exit code, or the signal that ended the process. */
type Exit = number | NodeJS.Signals

/** A program and how it is started. */
export interface Start {
  /** Node where it is left out. */
  readonly command?: string
  readonly argv: readonly string[]
  readonly folder?: string
  readonly env?: NodeJS.ProcessEnv
  /** The user and group that it runs as. */
  readonly uid?: number | null
  /** In a process group of its own, so that `stop` ends what it starts in turn. */
  readonly isGroup?: boolean
  /** How much is kept of the end of its output. */
  readonly outputMax?: number
}

/** A program that runs in a process of its own. */
export interface Program {
  readonly child: ChildProcess
  /** The end of what it wrote to stdout and stderr. */
  readonly output: () => string
  readonly ended: Promise<Exit>
  /** Sends a signal; resolves when the process has ended. */
  readonly end: (signal: NodeJS.Signals) => Promise<Exit>
  /** Ends it with SIGTERM, or with SIGKILL where that takes too long. */
  readonly stop: () => Promise<void>
}

/** A server in a process of its own. */
export interface Server extends Program {
  /** `http://127.0.0.1:port` */
  readonly base: string
}

/** A server, and how its address is found. */
export interface ServerStart extends Start {
  /** What finds the address in its output; by default what the product logs. */
  readonly pattern?: RegExp
  readonly startMsMax?: number
}

interface Result {
  readonly code: Exit
  readonly stdout: string
  readonly stderr: string
}

const outputMaxDefault = 20_000
/** For a graceful end after SIGTERM. */
const stopMs = 20_000
const startMsMaxDefault = 60_000
const listening = /Server listening at (http:\/\/[\d.]+:\d+)/

/** Starts a program, which the clean-up stops where it still runs. */
export function startProgram(start: Start, cleanup: Cleanup): Program {
  cleanup.signal.throwIfAborted()
  const { isGroup = false, outputMax = outputMaxDefault } = start
  const child = spawnProgram(start)
  let output = ''
  const keep = (words: string) => {
    output = (output + words).slice(-outputMax)
  }
  child.stdout?.setEncoding('utf8').on('data', keep)
  child.stderr?.setEncoding('utf8').on('data', keep)
  child.once('error', (error) => keep(String(error)))
  const ended = endOf(child)
  const end = (signal: NodeJS.Signals) => {
    send(child, signal, isGroup)
    return ended
  }
  const stop = async () => {
    const done = new AbortController()
    const kill = sleep(stopMs, undefined, { signal: done.signal }).then(
      () => end('SIGKILL'),
      () => undefined,
    )
    await end('SIGTERM')
    done.abort()
    await kill
  }
  const forget = cleanup.add(stop)
  void ended.then(forget)
  return { child, output: () => output, ended, end, stop }
}

/**
 * Starts a server and waits until it listens.
 * @throws Error with the end of its output when it ends first, or does not listen in time
 */
export async function startServer(start: ServerStart, cleanup: Cleanup): Promise<Server> {
  const { pattern = listening, startMsMax = startMsMaxDefault } = start
  const program = startProgram(start, cleanup)
  const { child, output, ended } = program
  const base = await new Promise<string>((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(`${reason}:\n${output()}`))
    const limit = setTimeout(() => {
      child.kill('SIGKILL')
      fail('the server does not listen')
    }, startMsMax)
    const check = () => {
      const found = pattern.exec(output())?.[1]
      if (found === undefined) return
      clearTimeout(limit)
      for (const stream of [child.stdout, child.stderr]) stream?.off('data', check)
      resolve(found)
    }
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', check)
    void ended.then((exit) => {
      clearTimeout(limit)
      fail(`the server ended (${exit})`)
    })
  })
  return { ...program, base }
}

/** Runs a program to its end, whatever that is, and returns what it wrote. */
export async function runProgram(start: Start, msMax?: number): Promise<Result> {
  const child = spawnProgram(start, msMax)
  if (!child.stdout || !child.stderr) throw new Error('no output')
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)]
  const code = await endOf(child)
  return { code, stdout: await stdout, stderr: await stderr }
}

/**
 * Runs a program of the system.
 * @throws Error when it fails
 */
export async function system(command: string, ...argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram({ command, argv })
  if (code !== 0) throw new Error(`${command} ${argv.join(' ')}: ${stderr}`)
  return stdout
}

/** The memory of a process in bytes, now or at its peak; 0 where the system does not report it. */
export function memoryOf({ pid }: ChildProcess, kind: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(new RegExp(`${kind}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

/** A port of this host where nothing listens now. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function spawnProgram(start: Start, timeout?: number): ChildProcess {
  const { command = process.execPath, argv, folder, env, uid = null, isGroup = false } = start
  return spawn(command, argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: isGroup,
    env: env ?? process.env,
    ...(folder !== undefined && { cwd: folder }),
    ...(uid !== null && { uid, gid: uid }),
    ...(timeout !== undefined && { timeout }),
  })
}

function endOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(1))
    child.once('close', (code, signal) => resolve(signal ?? code ?? 1))
  })
}

/** A process or a group that has ended already is not an error. */
function send(child: ChildProcess, signal: NodeJS.Signals, isGroup: boolean): void {
  if (!isGroup || child.pid === undefined) {
    child.kill(signal)
    return
  }
  try {
    process.kill(-child.pid, signal)
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ESRCH')) throw cause
  }
}
