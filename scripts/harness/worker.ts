import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from './script.js'

/** A program in a process of its own, which takes one order at a time. */
export interface Worker<Order, Reply> {
  readonly send: (order: Order) => Promise<Reply>
}

type Message<Reply> = { readonly reply: Reply } | { readonly error: string }

/** Starts a program that calls `serveOrders`; it ends when its channel to this process closes. */
export function startWorker<Order extends object, Reply>(
  program: URL,
  cleanup: Cleanup,
): Worker<Order, Reply> {
  cleanup.signal.throwIfAborted()
  // As sources or compiled, like this file.
  const isCompiled = import.meta.url.endsWith('.js')
  const path = fileURLToPath(program).replace(/\.ts$/, isCompiled ? '.js' : '.ts')
  const child = fork(path, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const ended = once(child, 'exit')
  cleanup.add(async () => {
    if (child.connected) child.disconnect()
    await ended
  })
  const failed = ended.then(() => Promise.reject(new Error(`${path} ended`)))
  failed.catch(() => undefined)
  const send = async (order: Order) => {
    const message = once(child, 'message')
    child.send(order)
    // What `serveOrders` sends.
    const [answer] = (await Promise.race([message, failed])) as [Message<Reply>]
    if ('error' in answer) throw new Error(`${path}: ${answer.error}`)
    return answer.reply
  }
  return { send }
}

/** In the worker: answers each order; ends when the channel closes. */
export function serveOrders<Order, Reply>(answer: (order: Order) => Promise<Reply>): void {
  process.on('message', (order: Order) => {
    answer(order).then(
      (reply) => process.send?.({ reply }),
      (cause: unknown) => process.send?.({ error: String(cause) }),
    )
  })
  process.on('disconnect', () => process.exit())
  // Ctrl-C reaches every process of the terminal; the parent closes the channel.
  process.on('SIGINT', () => undefined)
}
