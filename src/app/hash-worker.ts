import { parentPort } from 'node:worker_threads'
import { hashFile } from '../versions/hash-file.js'
import type { FromHasher, ToHasher } from './hasher.js'

// The thread that `hasher.ts` starts: it reads files, so that requests need not wait for that.

parentPort?.on('message', ({ id, path, bytesPerSecondMax }: ToHasher) => {
  const tell = (message: FromHasher) => parentPort?.postMessage(message)
  hashFile(path, bytesPerSecondMax).then(
    (hash) => {
      tell({ id, hash })
    },
    (cause: NodeJS.ErrnoException) => {
      tell({ id, code: cause.code ?? 'UNKNOWN' })
    },
  )
})
