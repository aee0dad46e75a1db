import { request } from 'node:http'
import type { Agent, IncomingMessage } from 'node:http'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Question } from './question.js'

/** What came of a request. An explanation that is paid for like a row counts as one. */
export type Outcome =
  | { readonly kind: 'whole'; readonly rows: number }
  | { readonly kind: 'refused' }
  /** It ended before its time; so many rows had arrived. */
  | { readonly kind: 'broken'; readonly rows: number }
  | { readonly kind: 'unsent' }

/** Where the server is, and the connections to it. */
export interface Target {
  /** `http://127.0.0.1:port` */
  readonly base: string
  readonly agent: Agent
  /** Called at once when an answer other than a refusal begins to arrive. */
  readonly onAnswer: () => void
}

interface Message {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body: string | null
}

/** Far above what any answer takes: reaching it means that the server hangs. */
const answerMsMax = 60_000

/** Every row begins so, and nothing else does: over MCP the list of ids, where there is any. */
const rowStart = /\{"id":\[?\d/g

/** Refusals that a server under load, or a quota, may give. */
const refusals: readonly number[] = [429, 503, 504]
const toolRefusal = /^(row_quota_exceeded|service_unavailable|timeout): /

const Page = Type.Object({ data: Type.Array(Type.Unknown()) })
const ToolAnswer = Type.Object({
  result: Type.Object({
    isError: Type.Optional(Type.Boolean()),
    content: Type.Array(Type.Object({ text: Type.String() })),
    structuredContent: Type.Optional(
      Type.Object({
        data: Type.Object({ id: Type.Array(Type.Unknown()) }),
        explained: Type.Optional(Type.Boolean()),
      }),
    ),
  }),
})

/**
 * Asks, and tells what came of it.
 * @throws Error when the answer is none that the question can have, or never ends
 */
export function ask({ base, agent, onAnswer }: Target, question: Question): Promise<Outcome> {
  const { method, path, body } = messageOf(question)
  const headers = {
    authorization: `Bearer ${question.subscriber.token}`,
    ...(body !== null && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      accept: 'application/json, text/event-stream',
    }),
  }
  return new Promise((resolve, reject) => {
    const sent = request(`${base}${path}`, { method, headers, agent })
    sent.setTimeout(answerMsMax, () => {
      reject(new Error(`no answer to ${method} ${path} within ${answerMsMax} ms`))
      sent.destroy()
    })
    sent.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'ECONNREFUSED' ? { kind: 'unsent' } : { kind: 'broken', rows: 0 })
    })
    sent.once('response', (answer) => {
      if (answer.statusCode === 200) onAnswer()
      gather(answer, (text) => outcomeOf(question, answer, text)).then(resolve, reject)
    })
    sent.end(body ?? undefined)
  })
}

function messageOf({ door, dataset, limit, from, isContradiction }: Question): Message {
  if (door === 'get') {
    const path = `/v1/${dataset}?limit=${limit}&id=gte.${from}`
    return { method: 'GET', path, body: null }
  }
  const below = isContradiction ? [{ column: 'id', op: 'lt', value: 0 }] : []
  const question = { limit, filters: [{ column: 'id', op: 'gte', value: from }, ...below] }
  if (door === 'post') {
    return { method: 'POST', path: `/v1/${dataset}/query`, body: JSON.stringify(question) }
  }
  const params = { name: 'query', arguments: { resource: dataset, ...question } }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  return { method: 'POST', path: '/mcp/', body: JSON.stringify(call) }
}

/** Reads what arrives, to the end or until it breaks off. */
function gather<T>(answer: IncomingMessage, read: (text: string) => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    answer.on('data', (part: Buffer) => parts.push(part))
    answer.on('error', () => undefined)
    answer.once('close', () => {
      try {
        resolve(read(Buffer.concat(parts).toString()))
      } catch (cause) {
        reject(cause instanceof Error ? cause : new Error(String(cause)))
      }
    })
  })
}

function outcomeOf(question: Question, answer: IncomingMessage, text: string): Outcome {
  const status = answer.statusCode ?? 0
  if (!answer.complete) return { kind: 'broken', rows: status === 200 ? rowStarts(text) : 0 }
  if (refusals.includes(status)) return { kind: 'refused' }
  if (status !== 200) throw new Error(`unexpected answer to ${question.door}: ${status} ${text}`)
  if (question.door !== 'mcp') {
    return { kind: 'whole', rows: Value.Parse(Page, JSON.parse(text)).data.length }
  }
  const { result } = Value.Parse(ToolAnswer, JSON.parse(text))
  const { isError, content, structuredContent } = result
  if (structuredContent) {
    const { data, explained } = structuredContent
    return { kind: 'whole', rows: data.id.length + (explained ? 1 : 0) }
  }
  if (isError && toolRefusal.test(content[0]?.text ?? '')) return { kind: 'refused' }
  throw new Error(`unexpected answer to a tool call: ${text}`)
}

function rowStarts(text: string): number {
  return text.match(rowStart)?.length ?? 0
}
