import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { ServiceError } from '../errors.js'
import type { ErrorCode } from '../errors.js'
import type { ImportTable, ImportedTable } from '../versions/tables/import-table.js'
import { TableError } from '../versions/tables/table.js'

interface Failed {
  readonly message: string
  /** Of a `TableError`. */
  readonly problems?: readonly string[]
  /** Of a `ServiceError`. */
  readonly code?: ErrorCode
}

/** A message from the process: rows that are read, or how it has ended. */
export type FromImporter = number | { readonly table: ImportedTable } | Failed

const program = new URL('./import-worker.js', import.meta.url)
/** A workbook of 50 MB takes half of it. */
const heapMegabytesMax = 1500
const stderrLettersMax = 10_000

/**
 * Imports in a process of its own with a bounded heap: whatever a file does to that process, this
 * one goes on and says so. The process ends with this one, and when the signal aborts.
 */
export const importAside: ImportTable = async (order, { signal, report }) => {
  signal.throwIfAborted()
  const child = fork(program, {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [`--max-old-space-size=${heapMegabytesMax}`],
  })
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  try {
    const ended = endOf(child, order.file, report)
    child.send(order)
    const end = await ended
    if ('table' in end) return end.table
    throw failureOf(end)
  } catch (cause) {
    signal.throwIfAborted()
    throw cause
  } finally {
    signal.removeEventListener('abort', kill)
    kill()
  }
}

function endOf(
  child: ChildProcess,
  file: string,
  report: (rowsDone: number) => void,
): Promise<Exclude<FromImporter, number>> {
  return new Promise((resolve, reject) => {
    let [end, stderr]: [Exclude<FromImporter, number> | null, string] = [null, '']
    child.stderr?.on('data', (text) => {
      stderr = (stderr + String(text)).slice(0, stderrLettersMax)
    })
    child.on('message', (message: FromImporter) => {
      if (typeof message === 'number') report(message)
      else end = message
    })
    child.on('error', reject)
    child.on('close', (code, name) => {
      const [, why = `${name ?? code}`] = /FATAL ERROR: (.*)/.exec(stderr) ?? []
      const message =
        `${file} can't be imported: the process that read it ended (${why}). Nothing was written. ` +
        'Save it as CSV, or in smaller parts.'
      resolve(end ?? { message })
    })
  })
}

function failureOf({ message, problems, code }: Failed): Error {
  if (problems) return new TableError(...problems)
  return code ? new ServiceError(code, message) : new Error(message)
}
