import type { Agent } from 'node:http'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { pageMessage, toolAnswer, toolText } from '../harness/doors.js'
import type { Filter } from '../harness/doors.js'
import { send, SocketError } from '../harness/http.js'
import type { Message, Reply } from '../harness/http.js'
import type { Question } from './question.js'

/** What a request came to. An explanation that costs a row counts as one. */
export type Outcome =
  | { readonly kind: 'whole'; readonly rows: number }
  | { readonly kind: 'refused' }
  /** It ended too early; so many rows had arrived. */
  | { readonly kind: 'broken'; readonly rows: number }
  | { readonly kind: 'unsent' }

interface Target {
  /** `http://127.0.0.1:port` */
  readonly base: string
  readonly agent: Agent
  /** Called at once when an answer other than a refusal begins to arrive. */
  readonly onAnswer: () => void
}

/** Every row begins so, and nothing else does: over MCP the list of ids, where there is any. */
const rowStart = /\{"id":\[?\d/g

/** Refusals that a server under load, or a quota, may give. */
const refusals: readonly number[] = [429, 503, 504]
const toolRefusal = /^(row_quota_exceeded|service_unavailable|timeout): /

const Page = Type.Object({ data: Type.Array(Type.Unknown()) })
const ToolAnswer = toolAnswer(
  Type.Object({
    data: Type.Object({ id: Type.Array(Type.Unknown()) }),
    explained: Type.Optional(Type.Boolean()),
  }),
)

/**
 * Asks for a page, and says what came of it.
 * @throws Error when the question can't have this answer, or the server hangs
 */
export async function ask({ base, agent, onAnswer }: Target, question: Question): Promise<Outcome> {
  const target = { base, agent, token: question.subscriber.token }
  const onStatus = (status: number) => {
    if (status === 200) onAnswer()
  }
  try {
    return outcomeOf(question, await send(target, messageOf(question), onStatus))
  } catch (cause) {
    if (!(cause instanceof SocketError)) throw cause
    return cause.code === 'ECONNREFUSED' ? { kind: 'unsent' } : { kind: 'broken', rows: 0 }
  }
}

function messageOf({ door, dataset, limit, from, isContradiction }: Question): Message {
  const filters: Filter[] = [{ column: 'id', op: 'gte', value: from }]
  if (isContradiction) filters.push({ column: 'id', op: 'lt', value: 0 })
  return pageMessage(door, { dataset, limit, filters })
}

function outcomeOf({ door }: Question, { status, isComplete, text }: Reply): Outcome {
  if (!isComplete) return { kind: 'broken', rows: status === 200 ? rowStarts(text) : 0 }
  if (refusals.includes(status)) return { kind: 'refused' }
  if (status !== 200) throw new Error(`unexpected answer to ${door}: ${status} ${text}`)
  if (door !== 'mcp') {
    return { kind: 'whole', rows: Value.Parse(Page, JSON.parse(text)).data.length }
  }
  const answer = Value.Parse(ToolAnswer, JSON.parse(text))
  const { isError, structuredContent } = answer.result
  if (structuredContent) {
    const { data, explained } = structuredContent
    return { kind: 'whole', rows: data.id.length + (explained ? 1 : 0) }
  }
  if (isError && toolRefusal.test(toolText(answer))) return { kind: 'refused' }
  throw new Error(`unexpected answer to a tool call: ${text}`)
}

function rowStarts(text: string): number {
  return text.match(rowStart)?.length ?? 0
}
