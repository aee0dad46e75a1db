import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { ServiceError } from '../errors.js'
import { FileError } from '../versions/opener.js'
import { PackError } from '../versions/packing/packer.js'
import { TableError } from '../versions/tables/table.js'

/** A message of the process, which is of the same release. */
type FromChild =
  | { readonly kind: 'progress'; readonly progress: unknown }
  | { readonly kind: 'done'; readonly result: unknown }
  /** An error by its name, with all that it has. */
  | { readonly kind: 'failed'; readonly failure: Error }

interface WorkOptions<Progress> {
  readonly signal: AbortSignal
  readonly report: (progress: Progress) => void
}

const stderrLettersMax = 10_000
/** Other errors become plain ones. */
const classes: Readonly<Record<string, { readonly prototype: Error }>> = {
  ...{ FileError, PackError, ServiceError, TableError },
}

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
    throw last.failure
  } catch (cause) {
    signal.throwIfAborted()
    throw cause
  } finally {
    signal.removeEventListener('abort', kill)
    kill()
  }
}

type LastOfChild = Exclude<FromChild, { kind: 'progress' }>

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
      else if (message.kind === 'done') last = message
      else last = { kind: 'failed', failure: revived(message.failure) }
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      const [, why = String(signal ?? code)] = /FATAL ERROR: (.*)/.exec(stderr) ?? []
      resolve(last ?? why)
    })
  })
}

function revived(failure: Error): Error {
  const error = Object.assign(new Error(failure.message), failure)
  Object.setPrototypeOf(error, classes[failure.name]?.prototype ?? Error.prototype)
  return error
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
  const failed = ({ name, message, ...more }: Error) =>
    send({ kind: 'failed', failure: { name, message, ...more } })
  // The other process has ended: threads of the engine must not keep this one alive.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  process.once('message', (order: Order) => {
    const end = work(order, { signal, report }).then(
      (result) => send({ kind: 'done', result }),
      failed,
    )
    void end.then(() => process.disconnect())
  })
}
