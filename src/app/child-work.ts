import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { ServiceError } from '../errors.js'
import type { ErrorCode } from '../errors.js'
import { FileError } from '../versions/opener.js'
import { PackError } from '../versions/packing/packer.js'
import { TableError } from '../versions/tables/table.js'

/** Of an error of one of the classes that are made again here. */
interface Failure {
  readonly name: string
  readonly message: string
  readonly path?: string
  readonly code?: ErrorCode
  readonly problems?: readonly string[]
}

/** A message of the process, which is of the same release. */
type FromChild = { readonly kind: 'progress'; readonly progress: unknown } | LastOfChild

type LastOfChild =
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly failure: Failure }

interface WorkOptions<Progress> {
  readonly signal: AbortSignal
  readonly report: (progress: Progress) => void
}

const stderrLettersMax = 10_000

/**
 * Lets a program do one piece of work in a process of its own, which ends with this one, and when
 * the signal aborts. Errors keep their class; if the process ends without a result, `lost` makes
 * one of the reason.
 */
export async function workAside<Progress, Result>(
  program: URL,
  order: object,
  { signal, report }: WorkOptions<Progress>,
  lost: (why: string) => Error,
  nodeArguments: readonly string[] = [],
): Promise<Result> {
  signal.throwIfAborted()
  const child = fork(program, {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Serializes an object that thousands of files share once; JSON would repeat it.
    serialization: 'advanced',
    execArgv: [...nodeArguments],
  })
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  try {
    const end = endOf(child, (progress) => report(progress as Progress))
    child.send(order)
    const last = await end
    if (typeof last === 'string') throw lost(last)
    if (last.kind === 'done') return last.result as Result
    throw errorOf(last.failure)
  } catch (cause) {
    signal.throwIfAborted()
    throw cause
  } finally {
    signal.removeEventListener('abort', kill)
    kill()
  }
}

/** The last message of the process, once it has ended, or why there is none. */
function endOf(
  child: ChildProcess,
  report: (progress: unknown) => void,
): Promise<LastOfChild | string> {
  return new Promise((resolve, reject) => {
    let [last, stderr]: [LastOfChild | null, string] = [null, '']
    child.stderr?.on('data', (text) => {
      stderr = (stderr + String(text)).slice(0, stderrLettersMax)
    })
    child.on('message', (message: FromChild) => {
      if (message.kind === 'progress') report(message.progress)
      else last = message
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      const [, why = String(signal ?? code)] = /FATAL ERROR: (.*)/.exec(stderr) ?? []
      resolve(last ?? why)
    })
  })
}

function errorOf({ name, message, path = '', code, problems = [] }: Failure): Error {
  if (name === 'FileError') return new FileError(path, message)
  if (name === 'PackError') return new PackError(message)
  if (name === 'TableError') return new TableError(...problems)
  return code && name === 'ServiceError' ? new ServiceError(code, message) : new Error(message)
}

/** Does the work that `workAside` orders, in the process itself, which ends then. */
export function doOrder<Order, Progress>(
  work: (order: Order, options: WorkOptions<Progress>) => Promise<unknown>,
): void {
  const { signal } = new AbortController()
  const send = (message: FromChild) =>
    new Promise<void>((resolve) => {
      if (process.connected) process.send?.(message, () => resolve())
      else resolve()
    })
  const report = (progress: Progress) => {
    void send({ kind: 'progress', progress })
  }
  const done = (result: unknown): FromChild => ({ kind: 'done', result })
  const failed = (cause: Error): FromChild => {
    const { name, message } = cause
    return { kind: 'failed', failure: { ...cause, name, message } }
  }
  // The other process has ended: threads of the engine must not keep this one alive.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  process.once('message', (order: Order) => {
    const end = work(order, { signal, report }).then(done, failed).then(send)
    void end.then(() => process.disconnect())
  })
}
