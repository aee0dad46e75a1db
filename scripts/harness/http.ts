import { Agent, request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { Fault } from './fault.js'

/** Where a server is, and the connections to it. */
export interface Target {
  /** `http://127.0.0.1:port` */
  readonly base: string
  readonly agent: Agent
  /** Empty where the server asks for none. */
  readonly token: string
}

/** A request without the parts that are the same for all. */
export interface Message {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Empty = none. */
  readonly body: string
  /** `application/json` where it is left out. */
  readonly type?: string
  /** Beside those of token and body. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer, or as much of it as arrived. */
export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** False where the connection broke. */
  readonly isComplete: boolean
  /** From the first byte sent to the last one read. */
  readonly ms: number
}

/** The server gave no answer, because it could not be reached or it closed the connection. */
export class SocketError extends Error {
  override readonly name = 'SocketError'
  readonly code: string | undefined

  constructor(cause: NodeJS.ErrnoException) {
    super(cause.message, { cause })
    this.code = cause.code
  }
}

/** Far above what any answer takes: a server that reaches it hangs. */
const answerMsMax = 120_000

/**
 * Sends a request and reads its answer, to the end or until the connection breaks.
 * @throws Fault when the server hangs, SocketError when it gives no answer
 */
export function send(
  { base, agent, token }: Target,
  { method, path, body, type = 'application/json', headers: more = {} }: Message,
  onStatus: (status: number) => void = () => undefined,
): Promise<Reply> {
  const headers = {
    ...(token !== '' && { authorization: `Bearer ${token}` }),
    ...(body !== '' && {
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      accept: 'application/json, text/event-stream',
    }),
    ...more,
  }
  return new Promise((resolve, reject) => {
    const startedMs = performance.now()
    const sent = request(`${base}${path}`, { method, headers, agent })
    sent.setTimeout(answerMsMax, () => {
      reject(new Fault(`no answer to ${method} ${path} within ${answerMsMax} ms`))
      sent.destroy()
    })
    sent.on('error', (cause: NodeJS.ErrnoException) => reject(new SocketError(cause)))
    sent.once('response', (answer) => {
      const status = answer.statusCode ?? 0
      onStatus(status)
      const parts: Buffer[] = []
      let ms = NaN
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('error', () => undefined)
      answer.once('end', () => {
        ms = performance.now() - startedMs
      })
      answer.once('close', () => {
        const text = Buffer.concat(parts).toString()
        resolve({ status, headers: answer.headers, text, isComplete: answer.complete, ms })
      })
    })
    sent.end(body === '' ? undefined : body)
  })
}

/**
 * Sends a request that must be answered in full with status 200.
 * @throws Error with the start of any other answer
 */
export async function sendWell(target: Target, message: Message): Promise<Reply> {
  const reply = await send(target, message)
  if (reply.isComplete && reply.status === 200) return reply
  const start = reply.text.slice(0, 500)
  throw new Error(`${target.base} answers ${reply.status} to ${message.path}: ${start}`)
}

/** A GET over a connection of its own; null where the server gives no whole answer. */
export async function getOnce(base: string, path: string, token = ''): Promise<Reply | null> {
  const agent = new Agent()
  const message = { method: 'GET', path, body: '' } as const
  const reply = await send({ base, agent, token }, message).catch((cause: unknown) => {
    if (cause instanceof SocketError) return null
    throw cause
  })
  agent.destroy()
  return reply?.isComplete ? reply : null
}
