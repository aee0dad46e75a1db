import { ServiceError } from '../errors.js'
import { TableError } from '../versions/tables/table.js'
import type { TableOrder } from '../versions/tables/table.js'
import type { FromImporter } from './import-process.js'
import { importHere } from './sampling.js'

// The process of `import-process.ts`: it imports one file, reports the result, and ends.

function send(message: FromImporter): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve())
    else resolve()
  })
}

function failed(cause: unknown): FromImporter {
  if (cause instanceof TableError) return { message: cause.message, problems: cause.problems }
  if (cause instanceof ServiceError) return { message: cause.detail, code: cause.code }
  return { message: cause instanceof Error ? cause.message : String(cause) }
}

// The command has ended: threads of the engine must not keep this process alive.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

// The only message is an order, from a command of the same release.
process.once('message', (order: TableOrder) => {
  const { signal } = new AbortController()
  const report = (rowsDone: number) => {
    void send(rowsDone)
  }
  void importHere(order, { signal, report })
    .then((table) => ({ table }), failed)
    .then(send)
    .then(() => process.disconnect())
})
