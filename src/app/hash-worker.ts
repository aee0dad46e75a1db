import { answerCalls } from '../call-thread.js'
import { hashFile } from '../versions/hash-file.js'
import type { ToHash } from './hasher.js'

// The thread of `hasher.ts`.

answerCalls(async ({ path, bytesPerSecondMax }: ToHash) => {
  try {
    return await hashFile(path, bytesPerSecondMax)
  } catch (cause) {
    // The error of a file has a code, and its own message names the path.
    const { code = 'UNKNOWN' } = cause as NodeJS.ErrnoException
    throw Object.assign(new Error(`read: ${code}`), { code })
  }
})
