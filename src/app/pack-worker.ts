import { constants } from 'node:os'
import { duckDbPacker } from '../engine/duckdb/pack/pack.js'
import { givePriority, threadIds } from '../machine.js'
import { FileError } from '../versions/opener.js'
import { PackError } from '../versions/packing/packer.js'
import type { PackOrder } from '../versions/packing/packer.js'
import type { FromPacker } from './pack-messages.js'

// The process of `pack-process.ts`: it packs one order, reports the result, and ends.

const never = new AbortController().signal

function send(message: FromPacker): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve())
    else resolve()
  })
}

/** Other processes go first; threads that start later inherit the priority. */
function lowerPriority(): void {
  const threads = threadIds()
  givePriority(threads.length > 0 ? threads : [process.pid], constants.priority.PRIORITY_LOW)
}

function failed(cause: unknown): FromPacker {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (cause instanceof FileError) {
    return { kind: 'failed', error: 'file', message, path: cause.path }
  }
  return { kind: 'failed', error: cause instanceof PackError ? 'pack' : 'other', message, path: '' }
}

// The server has ended: threads of the engine must not keep this process alive.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

// The only message is an order, from a server of the same release.
process.once('message', (order: PackOrder) => {
  lowerPriority()
  const report = (progress: (FromPacker & { kind: 'progress' })['progress']) => {
    void send({ kind: 'progress', progress })
  }
  void duckDbPacker()(order, { signal: never, report })
    .then<FromPacker, FromPacker>((files) => ({ kind: 'done', files: [...files] }), failed)
    .then(send)
    .then(() => process.disconnect())
})
