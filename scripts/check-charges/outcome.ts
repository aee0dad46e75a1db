import type { Agent } from 'node:http'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { toolAnswer, toolText } from '../harness/doors.js'
import { send, SocketError } from '../harness/http.js'
import type { Reply } from '../harness/http.js'
import type { Cost, Question } from './question.js'

/** What a request came to. An explanation that costs a row counts as one. */
export type Outcome =
  | { readonly kind: 'whole'; readonly rows: number }
  | { readonly kind: 'refused' }
  /** It ended too early; what had arrived must have cost so many rows. */
  | { readonly kind: 'broken'; readonly rows: number }
  | { readonly kind: 'unsent' }

interface Target {
  /** `http://127.0.0.1:port` */
  readonly base: string
  readonly agent: Agent
  /** Called at once when an answer other than a refusal begins to arrive. */
  readonly onAnswer: () => void
}

/** Every row and group begins so, and nothing else does: over MCP the list of ids, if any. */
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
 * Asks a question, and says what came of it.
 * @throws Error when the question can't have this answer, or the server hangs
 */
export async function ask({ base, agent, onAnswer }: Target, question: Question): Promise<Outcome> {
  const target = { base, agent, token: question.subscriber.token }
  const onStatus = (status: number) => {
    if (status === 200) onAnswer()
  }
  try {
    return outcomeOf(question, await send(target, question.message, onStatus))
  } catch (cause) {
    if (!(cause instanceof SocketError)) throw cause
    return cause.code === 'ECONNREFUSED' ? { kind: 'unsent' } : { kind: 'broken', rows: 0 }
  }
}

function outcomeOf(question: Question, { status, isComplete, text }: Reply): Outcome {
  const { name, isTool, cost } = question
  if (!isComplete) return { kind: 'broken', rows: status === 200 ? rowsArrived(cost, text) : 0 }
  if (refusals.includes(status)) return { kind: 'refused' }
  if (status !== 200) throw new Error(`unexpected answer to ${name}: ${status} ${text}`)
  if (!isTool) return whole(question, Value.Parse(Page, JSON.parse(text)).data.length)
  const answer = Value.Parse(ToolAnswer, JSON.parse(text))
  const { isError, structuredContent } = answer.result
  if (structuredContent) {
    const { data, explained } = structuredContent
    return whole(question, data.id.length + (explained ? 1 : 0))
  }
  if (isError && toolRefusal.test(toolText(answer))) return { kind: 'refused' }
  throw new Error(`unexpected answer to ${name}: ${text}`)
}

/** @throws Error where an aggregate lacks groups */
function whole({ name, cost }: Question, items: number): Outcome {
  if (cost.kind === 'each') return { kind: 'whole', rows: items }
  if (items === cost.groups) return { kind: 'whole', rows: cost.rows }
  throw new Error(`${items} of ${cost.groups} groups in the answer to ${name}`)
}

/** Of an aggregate that was cut off, one group that arrived has cost as much as all of them. */
function rowsArrived(cost: Cost, text: string): number {
  const items = text.match(rowStart)?.length ?? 0
  if (cost.kind === 'each') return items
  return items > 0 ? cost.rows : 0
}
