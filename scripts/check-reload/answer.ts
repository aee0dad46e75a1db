import { request } from 'node:http'
import type { Agent } from 'node:http'
import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { Fault, RowSchema } from './rows.js'
import type { Row, Selection } from './rows.js'

export const doors = ['get', 'post', 'mcp'] as const

/** One page that is asked for. */
export interface Question {
  readonly door: (typeof doors)[number]
  readonly dataset: string
  readonly selection: Selection
  /** All years that there are: no filter says so. */
  readonly years: readonly number[]
  readonly limit: number
  readonly cursor: string | null
}

export type Answer =
  | {
      readonly kind: 'page'
      readonly rows: readonly Row[]
      readonly version: string
      readonly cursor: string | null
    }
  /** 503 */
  | { readonly kind: 'unavailable' }
  /** 400: the cursor's version is gone. */
  | { readonly kind: 'gone' }
  /** No answer, or not to its end: the server is away. */
  | { readonly kind: 'away' }

/** Where the server is, and the connections to it. */
export interface Target {
  /** `http://127.0.0.1:port` */
  readonly base: string
  readonly agent: Agent
  readonly token: string
}

interface Reply {
  readonly status: number
  readonly version: string
  readonly text: string
}

/** Far above what any answer takes: reaching it means that the server hangs. */
const answerMsMax = 60_000
/** Of an answer that is shown as a counter-example. */
const lettersMax = 1000

const cursorOrNull = Type.Union([Type.String(), Type.Null()])
const Page = Type.Object({ data: Type.Array(RowSchema), next_cursor: cursorOrNull })
const numbers = Type.Array(Type.Integer())
const Columns = Type.Object({
  id: numbers,
  year: numbers,
  generation: numbers,
  value: numbers,
  label: Type.Array(Type.String()),
})
const ToolAnswer = Type.Object({
  result: Type.Object({
    isError: Type.Optional(Type.Boolean()),
    content: Type.Array(Type.Object({ text: Type.String() })),
    structuredContent: Type.Optional(
      Type.Object({ data: Columns, next_cursor: cursorOrNull, version: Type.String() }),
    ),
  }),
})

/**
 * Asks, and tells what came of it.
 * @throws Fault when the answer is none that a question may have
 */
export async function ask(target: Target, question: Question): Promise<Answer> {
  const { method, path, body } = messageOf(question)
  const reply = await send(target, method, path, body)
  if (reply === null) return { kind: 'away' }
  return question.door === 'mcp' ? toolAnswer(reply, body) : restAnswer(reply, `${path} ${body}`)
}

/** A GET; null when the server is away. */
export function get(target: Target, path: string): Promise<Reply | null> {
  return send(target, 'GET', path, '')
}

function restAnswer({ status, version, text }: Reply, asked: string): Answer {
  if (status === 503) return { kind: 'unavailable' }
  if (status === 400 && text.includes('start again')) return { kind: 'gone' }
  if (status !== 200) throw new Fault(`${status} to ${asked}: ${text}`)
  const { data, next_cursor: cursor } = parsed(Page, text)
  return { kind: 'page', rows: data, version, cursor }
}

function toolAnswer({ status, text }: Reply, asked: string): Answer {
  if (status !== 200) throw new Fault(`${status} to ${asked}: ${text}`)
  const { result } = parsed(ToolAnswer, text)
  const said = result.content[0]?.text ?? ''
  if (result.isError && said.startsWith('service_unavailable')) return { kind: 'unavailable' }
  if (result.isError && said.includes('start again')) return { kind: 'gone' }
  if (!result.structuredContent) throw new Fault(`a tool's error to ${asked}: ${said}`)
  const { data, next_cursor: cursor, version } = result.structuredContent
  const at = <T>(list: readonly T[], index: number, empty: T) => list[index] ?? empty
  const rows = data.id.map((id, index) => ({
    id,
    year: at(data.year, index, NaN),
    generation: at(data.generation, index, NaN),
    value: at(data.value, index, NaN),
    label: at(data.label, index, ''),
  }))
  return { kind: 'page', rows, version, cursor }
}

function parsed<T extends TSchema>(schema: T, text: string): Static<T> {
  const answer: unknown = JSON.parse(text)
  if (!Value.Check(schema, answer)) throw new Fault(`not such rows: ${text.slice(0, lettersMax)}`)
  return answer
}

function messageOf(question: Question) {
  const { door, dataset, limit, cursor } = question
  const filters = filtersOf(question)
  if (door === 'get') {
    const said = filters.map(({ column, op, value }) => `&${column}=${op}.${String(value)}`)
    const next = cursor === null ? '' : `&cursor=${cursor}`
    const path = `/v1/${dataset}?limit=${limit}${said.join('')}${next}`
    return { method: 'GET', path, body: '' } as const
  }
  const asked = { limit, filters, ...(cursor !== null && { cursor }) }
  if (door === 'post') {
    const path = `/v1/${dataset}/query`
    return { method: 'POST', path, body: JSON.stringify(asked) } as const
  }
  const params = { name: 'query', arguments: { resource: dataset, ...asked } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  return { method: 'POST', path: '/mcp/', body } as const
}

function filtersOf({ selection: { years, from, to }, years: all }: Question) {
  const ofYears =
    years.length === all.length ? [] : [{ column: 'year', op: 'in', value: years as unknown }]
  if (to === from + 1) return [...ofYears, { column: 'id', op: 'eq', value: from }]
  return [
    ...ofYears,
    { column: 'id', op: 'gte', value: from },
    { column: 'id', op: 'lt', value: to },
  ]
}

function send(
  { base, agent, token }: Target,
  method: string,
  path: string,
  body: string,
): Promise<Reply | null> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== '' && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      accept: 'application/json, text/event-stream',
    }),
  }
  return new Promise((resolve, reject) => {
    const sent = request(`${base}${path}`, { method, headers, agent })
    sent.setTimeout(answerMsMax, () => {
      reject(new Fault(`no answer to ${method} ${path} within ${answerMsMax} ms`))
      sent.destroy()
    })
    sent.once('error', () => resolve(null))
    sent.once('response', (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('error', () => undefined)
      answer.once('close', () => {
        const version = String(answer.headers['x-dataset-version'])
        const text = Buffer.concat(parts).toString()
        resolve(answer.complete ? { status: answer.statusCode ?? 0, version, text } : null)
      })
    })
    sent.end(body === '' ? undefined : body)
  })
}
