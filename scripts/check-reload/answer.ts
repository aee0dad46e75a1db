import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { pageMessage, toolAnswer, toolText } from '../harness/doors.js'
import type { Door, Filter } from '../harness/doors.js'
import { Fault } from '../harness/fault.js'
import { send, SocketError } from '../harness/http.js'
import type { Message, Reply, Target } from '../harness/http.js'
import { RowSchema } from './rows.js'
import type { Row, Selection } from './rows.js'

/** One page that is asked for. */
export interface Question {
  readonly door: Door
  readonly dataset: string
  readonly selection: Selection
  /** All years of the dataset, which need no filter. */
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

/** How much of an answer is shown as a counter-example. */
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
const ToolAnswer = toolAnswer(
  Type.Object({ data: Columns, next_cursor: cursorOrNull, version: Type.String() }),
)

/**
 * Asks for a page, and says what came of it.
 * @throws Fault when the question can't have this answer, or the server hangs
 */
export async function ask(target: Target, question: Question): Promise<Answer> {
  const { door, dataset, limit, cursor } = question
  const message = pageMessage(door, { dataset, limit, filters: filtersOf(question), cursor })
  const reply = await sendOrNull(target, message)
  if (reply === null) return { kind: 'away' }
  const asked = `${message.path} ${message.body}`
  return door === 'mcp' ? answerOfTool(reply, asked) : answerOfRest(reply, asked)
}

/** A GET; null when the server is away. */
export function get(target: Target, path: string): Promise<Reply | null> {
  return sendOrNull(target, { method: 'GET', path, body: '' })
}

async function sendOrNull(target: Target, message: Message): Promise<Reply | null> {
  try {
    const reply = await send(target, message)
    return reply.isComplete ? reply : null
  } catch (cause) {
    if (cause instanceof SocketError) return null
    throw cause
  }
}

function answerOfRest({ status, headers, text }: Reply, asked: string): Answer {
  if (status === 503) return { kind: 'unavailable' }
  if (status === 400 && text.includes('start again')) return { kind: 'gone' }
  if (status !== 200) throw new Fault(`${status} to ${asked}: ${text}`)
  const { data, next_cursor: cursor } = parsed(Page, text)
  return { kind: 'page', rows: data, version: String(headers['x-dataset-version']), cursor }
}

function answerOfTool({ status, text }: Reply, asked: string): Answer {
  if (status !== 200) throw new Fault(`${status} to ${asked}: ${text}`)
  const answer = parsed(ToolAnswer, text)
  const { isError, structuredContent } = answer.result
  const words = toolText(answer)
  if (isError && words.startsWith('service_unavailable')) return { kind: 'unavailable' }
  if (isError && words.includes('start again')) return { kind: 'gone' }
  if (!structuredContent) throw new Fault(`a tool's error to ${asked}: ${words}`)
  const { data, next_cursor: cursor, version } = structuredContent
  const rows = data.id.map((id, at) => ({
    id,
    year: data.year[at] ?? NaN,
    generation: data.generation[at] ?? NaN,
    value: data.value[at] ?? NaN,
    label: data.label[at] ?? '',
  }))
  return { kind: 'page', rows, version, cursor }
}

function parsed<T extends TSchema>(schema: T, text: string): Static<T> {
  const answer: unknown = JSON.parse(text)
  if (Value.Check(schema, answer)) return answer
  throw new Fault(`an answer of another shape: ${text.slice(0, lettersMax)}`)
}

function filtersOf({ selection: { years, from, to }, years: all }: Question): readonly Filter[] {
  const ofYears = years.length === all.length ? [] : [{ column: 'year', op: 'in', value: years }]
  if (to === from + 1) return [...ofYears, { column: 'id', op: 'eq', value: from }]
  return [
    ...ofYears,
    { column: 'id', op: 'gte', value: from },
    { column: 'id', op: 'lt', value: to },
  ]
}
