import { parentPort, Worker } from 'node:worker_threads'
import type { TransferListItem } from 'node:worker_threads'

/** A call as the thread gets it. */
interface Call<Content> {
  readonly id: number
  readonly content: Content
}

/** How a call has ended, as the thread sends it. */
type Reply<Result> =
  | { readonly id: number; readonly result: Result }
  | { readonly id: number; readonly message: string; readonly code: string | undefined }

interface Waiting<Result> {
  readonly resolve: (result: Result) => void
  readonly reject: (cause: Error) => void
}

/**
 * A thread for work that would keep requests waiting. It starts with the first call, and keeps the
 * process alive only while a caller waits. `work` is for messages: `hashes files`.
 */
export class CallThread<Content, Result> {
  readonly #program: URL
  readonly #work: string
  readonly #waiting = new Map<number, Waiting<Result>>()
  #worker: Worker | null = null
  #lastId = 0
  #isClosed = false

  constructor(program: URL, work: string) {
    this.#program = program
    this.#work = work
  }

  /** The number of calls that wait. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Lets the thread work. What is transferred can't be read here afterwards. */
  call(content: Content, transferred: readonly TransferListItem[] = []): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw this.#ended()
      const id = ++this.#lastId
      this.#waiting.set(id, { resolve, reject })
      const thread = this.#thread()
      thread.ref()
      thread.postMessage({ id, content } satisfies Call<Content>, transferred)
    })
  }

  /** Ends the thread; waiting callers get an error. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#worker?.terminate()
  }

  #thread(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(this.#program)
    let failure = this.#ended()
    worker.on('message', (reply: Reply<Result>) => {
      this.#settle(reply)
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

  #settle(reply: Reply<Result>): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if ('result' in reply) waiting?.resolve(reply.result)
    else waiting?.reject(Object.assign(new Error(reply.message), { code: reply.code }))
    // Not at a stop: the process must live until the thread has ended.
    if (this.#waiting.size === 0 && !this.#isClosed) this.#worker?.unref()
  }

  #ended(): Error {
    return new Error(`the thread that ${this.#work} has ended`)
  }
}

/** Answers calls, in the thread itself. An error arrives with its message and its code. */
export function answerCalls<Content, Result>(answer: (content: Content) => Promise<Result>): void {
  const send = (reply: Reply<Result>) => parentPort?.postMessage(reply)
  parentPort?.on('message', ({ id, content }: Call<Content>) => {
    answer(content).then(
      (result) => {
        send({ id, result })
      },
      ({ message, code }: NodeJS.ErrnoException) => {
        send({ id, message, code })
      },
    )
  })
}
