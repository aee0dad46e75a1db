import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { Check } from 'typebox/value'
import { FileError } from '../versions/opener.js'
import { PackError } from '../versions/packing/packer.js'
import type { PackFiles } from '../versions/packing/packer.js'
import { FromPackerSchema } from './pack-messages.js'
import type { FromPacker } from './pack-messages.js'

const program = new URL('./pack-worker.js', import.meta.url)

type Settle = (message: Exclude<FromPacker, { kind: 'progress' }>) => void

/**
 * Packs in a separate process while the server answers requests: with its own memory, at low
 * priority. The process ends with this one, and when the signal aborts; the next call continues the
 * work.
 */
export const packAside: PackFiles = async (order, { signal, report }) => {
  signal.throwIfAborted()
  const child = fork(program, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Serializes an object that thousands of files share once; JSON would repeat it.
    serialization: 'advanced',
  })
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  try {
    const outcome = await outcomeOf(child, report, () => child.send(order))
    if (outcome.kind === 'done') return outcome.files
    throw failureOf(outcome)
  } catch (cause) {
    signal.throwIfAborted()
    throw cause
  } finally {
    signal.removeEventListener('abort', kill)
    kill()
  }
}

/** The last message of the process, once it has ended. */
function outcomeOf(
  child: ChildProcess,
  report: Parameters<PackFiles>[1]['report'],
  start: () => void,
): Promise<Parameters<Settle>[0]> {
  return new Promise((resolve, reject) => {
    let last: Parameters<Settle>[0] | undefined
    child.on('message', (message: unknown) => {
      if (!Check(FromPackerSchema, message)) return
      if (message.kind === 'progress') report(message.progress)
      else last = message
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (last) resolve(last)
      else reject(new PackError(`The packing process ended unexpectedly (${signal ?? code}).`))
    })
    start()
  })
}

function failureOf({ error, message, path }: FromPacker & { kind: 'failed' }): Error {
  if (error === 'file') return new FileError(path, message)
  return error === 'pack' ? new PackError(message) : new Error(message)
}
