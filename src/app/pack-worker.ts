import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { duckDbPacker } from '../engine/duckdb/pack/pack.js'
import { FileError } from '../versions/opener.js'
import { PackError } from '../versions/packer.js'
import type { PackOrder } from '../versions/packer.js'
import type { FromPacker } from './pack-messages.js'

// The process that `pack-process.ts` starts: it packs one order, says how it went, and ends.

const never = new AbortController().signal

function tell(message: FromPacker): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve())
    else resolve()
  })
}

/**
 * Gives way to all others. On Linux each thread has a priority of its own, which those that it
 * starts inherit; elsewhere the process has one.
 */
function giveWay(): void {
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0]
  for (const thread of threads) setPriority(thread, constants.priority.PRIORITY_LOW)
}

function failed(cause: unknown): FromPacker {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (cause instanceof FileError) {
    return { kind: 'failed', error: 'file', message, path: cause.path }
  }
  return { kind: 'failed', error: cause instanceof PackError ? 'pack' : 'other', message, path: '' }
}

// The starter has ended, in whatever way. Threads of the engine must not delay this end.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

// The one message that ever comes is an order, from the same release of the same program.
process.once('message', (order: PackOrder) => {
  giveWay()
  const report = (progress: (FromPacker & { kind: 'progress' })['progress']) => {
    void tell({ kind: 'progress', progress })
  }
  void duckDbPacker()(order, { signal: never, report })
    .then<FromPacker, FromPacker>((files) => ({ kind: 'done', files: [...files] }), failed)
    .then(tell)
    .then(() => process.disconnect())
})
