import { parentPort } from 'node:worker_threads'
import { hashFile } from '../versions/hash-file.js'
import type { FromHasher, ToHasher } from './hasher.js'

// The thread of `hasher.ts`: requests do not wait while it reads files.

parentPort?.on('message', ({ id, path, bytesPerSecondMax }: ToHasher) => {
  const send = (message: FromHasher) => parentPort?.postMessage(message)
  hashFile(path, bytesPerSecondMax).then(
    (hash) => {
      send({ id, hash })
    },
    (cause: NodeJS.ErrnoException) => {
      send({ id, code: cause.code ?? 'UNKNOWN' })
    },
  )
})
