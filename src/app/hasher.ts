import { CallThread } from '../call-thread.js'
import type { HashFile } from '../versions/hash-file.js'

/** One file to hash. */
export interface ToHash {
  readonly path: string
  readonly bytesPerSecondMax: number
}

/** Hashes files on a thread of its own. */
export class Hasher {
  readonly #thread = new CallThread<ToHash, string>(
    new URL('./hash-worker.js', import.meta.url),
    'hashes files',
  )

  readonly hash: HashFile = (path, bytesPerSecondMax = Infinity) =>
    this.#thread.call({ path, bytesPerSecondMax })

  /** Ends the thread; waiting callers get an error. */
  async close(): Promise<void> {
    await this.#thread.close()
  }
}
