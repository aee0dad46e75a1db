import { Worker } from 'node:worker_threads'
import type { HashFile } from '../versions/hash-file.js'

/** One file to hash. */
export interface ToHasher {
  readonly id: number
  readonly path: string
  readonly bytesPerSecondMax: number
}

export type FromHasher =
  { readonly id: number; readonly hash: string } | { readonly id: number; readonly code: string }

interface Waiting {
  readonly resolve: (hash: string) => void
  readonly reject: (cause: Error) => void
}

const program = new URL('./hash-worker.js', import.meta.url)

/**
 * Hashes files on a thread of its own, which starts with the first file. The thread keeps the
 * process alive only while a caller waits for a hash.
 */
export class Hasher {
  #worker: Worker | null = null
  #lastId = 0
  #isClosed = false
  readonly #waiting = new Map<number, Waiting>()

  readonly hash: HashFile = (path, bytesPerSecondMax = Infinity) =>
    new Promise((resolve, reject) => {
      if (this.#isClosed) throw new Error('the hasher is closed')
      const id = ++this.#lastId
      this.#waiting.set(id, { resolve, reject })
      const thread = this.#thread()
      thread.ref()
      thread.postMessage({ id, path, bytesPerSecondMax } satisfies ToHasher)
    })

  /** Ends the thread; waiting callers get an error. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#worker?.terminate()
  }

  #thread(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(program)
    let failure = new Error('the thread that hashes files has ended')
    worker.on('message', (message: FromHasher) => {
      this.#settle(message)
    })
    worker.on('error', (cause) => {
      failure = cause
    })
    worker.on('exit', () => {
      this.#worker = null
      for (const { reject } of this.#waiting.values()) reject(failure)
      this.#waiting.clear()
    })
    this.#worker = worker
    return worker
  }

  #settle(message: FromHasher): void {
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if ('hash' in message) waiting?.resolve(message.hash)
    else waiting?.reject(Object.assign(new Error(`read: ${message.code}`), { code: message.code }))
    // Not at a stop: the process must live until the thread has ended.
    if (this.#waiting.size === 0 && !this.#isClosed) this.#worker?.unref()
  }
}
