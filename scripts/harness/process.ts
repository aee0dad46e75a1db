import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cleanup } from './cleanup.js'

/** An exit code, or the signal that ended the process. */
export type Exit = number | NodeJS.Signals

/** A program and how it is started. */
export interface Start {
  /** Node where it is left out. */
  readonly command?: string
  readonly argv: readonly string[]
  readonly folder?: string
  readonly env?: NodeJS.ProcessEnv
  /** The user and group that it runs as. */
  readonly uid?: number | null
  /** The cores that it may run on, as `taskset -c` takes them; all of them by default. */
  readonly cores?: string | null
  /** In a process group of its own, so that `stop` ends what it starts in turn. */
  readonly isGroup?: boolean
  /** With a channel for messages. */
  readonly hasChannel?: boolean
  /** How much is kept of the end of its output. */
  readonly outputMax?: number
  /** Lines of its output that are not kept. */
  readonly dropped?: RegExp
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

interface Result {
  readonly code: Exit
  readonly stdout: string
  readonly stderr: string
}

const outputMaxDefault = 20_000
/** For a graceful end after SIGTERM. */
const stopMs = 20_000

/** Starts a program, which the clean-up stops where it still runs. */
export function startProgram(start: Start, cleanup: Cleanup): Program {
  cleanup.signal.throwIfAborted()
  const { hasChannel = false, isGroup = false, outputMax = outputMaxDefault, dropped } = start
  const child = spawnProgram(start, ['ignore', 'pipe', 'pipe', hasChannel ? 'ipc' : 'ignore'])
  let output = ''
  const keep = (words: string) => {
    output += words
    if (dropped) output = output.replaceAll(dropped, '')
    output = output.slice(-outputMax)
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

/** Runs a program to its end, whatever that is, and returns what it wrote. */
export async function runProgram(start: Start, msMax?: number): Promise<Result> {
  const child = spawnProgram(start, ['ignore', 'pipe', 'pipe'], msMax)
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

/**
 * Runs a program to its end; what it writes goes to stderr.
 * @throws Error when it fails
 */
export async function runVisibly(start: Start, cleanup: Cleanup): Promise<void> {
  cleanup.signal.throwIfAborted()
  const child = spawnProgram(start, ['ignore', 2, 2])
  const ended = endOf(child)
  const forget = cleanup.add(() => {
    child.kill()
    return ended
  })
  const code = await ended
  forget()
  if (code === 0) return
  throw new Error(
    `${[start.command ?? 'node', ...start.argv].slice(0, 4).join(' ')} ended: ${code}`,
  )
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

type Stdio = ('ignore' | 'pipe' | 'ipc' | number)[]

function spawnProgram(start: Start, stdio: Stdio, timeout?: number): ChildProcess {
  const { folder, env, uid = null, isGroup = false } = start
  const [command, ...argv] = commandLineOf(start)
  return spawn(command, argv, {
    stdio,
    detached: isGroup,
    env: env ?? process.env,
    ...(folder !== undefined && { cwd: folder }),
    ...(uid !== null && { uid, gid: uid }),
    ...(timeout !== undefined && { timeout }),
  })
}

function commandLineOf({ command = process.execPath, argv, cores = null }: Start) {
  return cores === null
    ? ([command, ...argv] as const)
    : (['taskset', '-c', cores, command, ...argv] as const)
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
