import { spawn } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'

/** A program that was started, with all that it starts in turn. */
export interface Child {
  /** All that it has written to stdout and stderr so far. */
  readonly output: () => string
  /** Calls back whenever there is more output. */
  readonly onOutput: (look: () => void) => void
  /** Its exit code; null when a signal ended it, or it could not be started. */
  readonly ended: Promise<number | null>
  /** Ends it and everything that it started; resolves when it is gone. */
  readonly stop: () => Promise<void>
}

/** Is told of every program started, so that it is ended in all cases. */
export type OnStart = (child: Child) => void

interface Start {
  readonly folder: string
  readonly environment?: NodeJS.ProcessEnv
}

/** For a graceful end after SIGTERM; then SIGKILL. */
const stopMs = 20_000

/** Starts a program as the head of a process group of its own, so that it can be ended as a whole. */
export function startChild(command: string, argv: readonly string[], start: Start): Child {
  const { folder: cwd, environment: env = process.env } = start
  const child = spawn(command, argv, {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const parts: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => parts.push(text))
  }
  let hasEnded = false
  const ended = new Promise<number | null>((resolve) => {
    const end = (code: number | null) => {
      hasEnded = true
      resolve(code)
    }
    child.once('error', (error) => {
      parts.push(String(error))
      end(null)
    })
    child.once('close', end)
  })
  const stop = async () => {
    if (hasEnded) return
    signalGroup(child.pid, 'SIGTERM')
    const late = new AbortController()
    const kill = setTimeout(stopMs, undefined, { signal: late.signal }).then(
      () => signalGroup(child.pid, 'SIGKILL'),
      () => undefined,
    )
    await ended
    late.abort()
    await kill
  }
  return {
    output: () => parts.join(''),
    onOutput: (look) => {
      child.stdout.on('data', look)
      child.stderr.on('data', look)
    },
    ended,
    stop,
  }
}

/** A group that is gone already is no fault. */
function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause
  }
}
