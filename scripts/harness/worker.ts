import { fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Ends } from './cleanup.js'

/** A program in a process of its own, which takes one order at a time. */
export interface Worker<Order, Reply> {
  readonly tell: (order: Order) => Promise<Reply>
}

type Message<Reply> = { readonly reply: Reply } | { readonly error: string }

/** Starts one of this folder's programs; it ends when its channel to this process is closed. */
export function startWorker<Order extends object, Reply>(
  name: string,
  ends: Ends,
): Worker<Order, Reply> {
  // As sources or compiled, like this file.
  const path = fileURLToPath(new URL(name + extname(import.meta.url), import.meta.url))
  const child = fork(path, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  ends.add(async () => {
    if (child.connected) child.disconnect()
    await ended
  })
  const gone = ended.then(() => Promise.reject(new Error(`${name} ended`)))
  gone.catch(() => undefined)
  const tell = async (order: Order) => {
    const message = once(child, 'message')
    child.send(order)
    // What `serveOrders` sends.
    const [answer] = (await Promise.race([message, gone])) as [Message<Reply>]
    if ('error' in answer) throw new Error(`${name}: ${answer.error}`)
    return answer.reply
  }
  return { tell }
}

/** In the worker: answers each order; ends when the channel is closed. */
export function serveOrders<Order, Reply>(
  answer: (order: Order) => Promise<Reply>,
  close: () => Promise<void>,
): void {
  process.on('message', (order: Order) => {
    answer(order).then(
      (reply) => process.send?.({ reply }),
      (cause: unknown) => process.send?.({ error: String(cause) }),
    )
  })
  process.on('disconnect', () => {
    void close().finally(() => process.exit())
  })
  // Ctrl-C reaches every process of the terminal; the parent closes the channel.
  process.on('SIGINT', () => undefined)
}
