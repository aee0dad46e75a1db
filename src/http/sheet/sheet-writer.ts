import { Worker } from 'node:worker_threads'
import { ServiceError } from '../../errors.js'
import type { Sheet } from './sheet.js'

export interface ToSheetWriter {
  readonly id: number
  readonly sheet: Sheet
}

export type FromSheetWriter =
  | { readonly id: number; readonly file: Uint8Array }
  | { readonly id: number; readonly failure: string }

interface Waiting {
  readonly resolve: (file: Buffer) => void
  readonly reject: (cause: Error) => void
}

const program = new URL('./sheet-worker.js', import.meta.url)
const waitingMax = 32
const retryAfterSeconds = 5

/**
 * Writes files of spreadsheets, one after another, on a thread of its own, which starts with the
 * first file: a page takes as long as hundreds of other requests. The thread keeps the process
 * alive only while a file is written.
 */
export class SheetWriter {
  #worker: Worker | null = null
  #lastId = 0
  readonly #waiting = new Map<number, Waiting>()

  /** @throws service_unavailable if too many files wait; ask before rows are charged */
  requirePlace(): void {
    if (this.#waiting.size < waitingMax) return
    throw new ServiceError('service_unavailable', 'Too many files for spreadsheets are waiting.', {
      retryAfterSeconds,
    })
  }

  /** The file. The sheet's lines can't be read afterwards. */
  write(sheet: Sheet): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#waiting.set(id, { resolve, reject })
      const message: ToSheetWriter = { id, sheet }
      const thread = this.#thread()
      thread.ref()
      thread.postMessage(message, [sheet.lines.buffer])
    })
  }

  /** Ends the thread; waiting callers get an error. */
  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #thread(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(program)
    let failure = new Error('the thread that writes spreadsheets has ended')
    worker.on('message', (message: FromSheetWriter) => {
      const waiting = this.#waiting.get(message.id)
      this.#waiting.delete(message.id)
      if ('file' in message) waiting?.resolve(Buffer.from(message.file))
      else waiting?.reject(new Error(message.failure))
      if (this.#waiting.size === 0) worker.unref()
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
}
