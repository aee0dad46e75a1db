import { fork } from 'node:child_process'
import { once } from 'node:events'
import { ServiceError } from '../errors.js'
import { FileError } from '../versions/opener.js'
import { PackError } from '../versions/forms/forms-order.js'
import { TableError } from '../versions/tables/table.js'

/** How the work has ended; an error by its name, with all that it has. */
type Last = { readonly result: unknown } | { readonly failure: Error }
/** A message of the process, which is of the same release. */
type FromChild = { readonly progress: unknown } | Last

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
  const ends: Last[] = []
  let stderr = ''
  child.stderr?.on('data', (text) => {
    stderr = (stderr + String(text)).slice(0, stderrLettersMax)
  })
  child.on('message', (message: FromChild) => {
    if ('progress' in message) report(message.progress as Progress)
    else ends.push(message)
  })
  try {
    child.send(order)
    const reasons = (await once(child, 'close')) as readonly unknown[]
    const [end] = ends
    if (end && 'result' in end) return end.result as Result
    const [, why = String(reasons.find((each) => each !== null))] =
      /FATAL ERROR: (.*)/.exec(stderr) ?? []
    throw end ? revived(end.failure) : lost(why)
  } catch (cause) {
    signal.throwIfAborted()
    throw cause
  } finally {
    signal.removeEventListener('abort', kill)
    kill()
  }
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
    void send({ progress })
  }
  const done = (result: unknown) => send({ result })
  const failed = ({ name, message, ...more }: Error) =>
    send({ failure: { name, message, ...more } })
  // The other process has ended: threads of the engine must not keep this one alive.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  process.once('message', (order: Order) => {
    void work(order, { signal, report })
      .then(done, failed)
      .then(() => process.disconnect())
  })
}
