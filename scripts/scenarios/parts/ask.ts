import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { toolAnswer, toolText } from '../../harness/doors.js'
import { Fault } from '../../harness/fault.js'
import { send, SocketError } from '../../harness/http.js'
import type { Message, Reply, Target } from '../../harness/http.js'

/** A whole answer with rows, whatever its form. */
export interface Page {
  readonly kind: 'page'
  readonly rows: readonly unknown[]
  readonly version: string
  readonly cursor: string | null
  /** MCP explains why there are no rows, for the price of one. */
  readonly isExplained: boolean
  /** False where an export ended before its last row. */
  readonly isWhole: boolean
  /** No row of the quota is left, which may have cut the page. */
  readonly isLast: boolean
}

/** What came of a request. */
export type Answer =
  | Page
  /** Any other whole answer, also a tool's error. */
  | { readonly kind: 'refused'; readonly status: number; readonly words: string }
  /** It ended too early; so many rows or groups had arrived. */
  | { readonly kind: 'broken'; readonly arrived: number }
  /** The server was not there. */
  | { readonly kind: 'unsent' }

/** Every row and group begins so, and nothing else does: over MCP the list of ids, if any. */
const rowStart = /\{"id":\[?\d/g
/** How much of an answer a counter-example shows. */
const lettersMax = 1000

const CursorOrNull = Type.Optional(Type.Union([Type.String(), Type.Null()]))
/** Descriptions have no rows. */
const Rows = Type.Object({
  data: Type.Optional(Type.Array(Type.Unknown())),
  next_cursor: CursorOrNull,
})
const Control = Type.Object({ cursor: CursorOrNull, complete: Type.Optional(Type.Boolean()) })
const ToolAnswer = toolAnswer(
  Type.Object({
    data: Type.Record(Type.String(), Type.Array(Type.Unknown())),
    next_cursor: CursorOrNull,
    version: Type.Optional(Type.String()),
    explained: Type.Optional(Type.Boolean()),
  }),
)
/** What REST answers with, where a tool says it in words. */
const toolStatuses: readonly (readonly [words: RegExp, status: number])[] = [
  [/^row_quota_exceeded: /, 429],
  [/^service_unavailable: /, 503],
  [/^timeout: /, 504],
]

/**
 * Sends a request, and says what came of it.
 * @throws Fault when the server hangs, or an answer has another shape
 */
export async function ask(
  target: Target,
  message: Message,
  onStatus?: (status: number) => void,
): Promise<Answer> {
  const reply = await send(target, message, onStatus).catch((cause: unknown) => {
    if (cause instanceof SocketError) return cause
    throw cause
  })
  if (reply instanceof SocketError) {
    return reply.code === 'ECONNREFUSED' ? { kind: 'unsent' } : { kind: 'broken', arrived: 0 }
  }
  const { status, text, isComplete } = reply
  if (!isComplete) {
    return { kind: 'broken', arrived: status === 200 ? (text.match(rowStart)?.length ?? 0) : 0 }
  }
  if (status !== 200) return { kind: 'refused', status, words: text.slice(0, lettersMax) }
  return message.path === '/mcp/' ? toolPage(reply) : restPage(reply)
}

function restPage({ headers, text }: Reply): Page {
  const type = headers['content-type'] ?? ''
  const version = String(headers['x-dataset-version'])
  const isLast = headers['x-quota-rows-remaining'] === '0'
  const whole = { cursor: null, isExplained: false, isWhole: true } as const
  const page = { kind: 'page', version, isLast, ...whole } as const
  if (type.startsWith('text/csv')) return { ...page, rows: text.trimEnd().split('\n').slice(1) }
  if (type.startsWith('application/x-ndjson')) {
    const lines = text.trimEnd().split('\n')
    const rows = lines
      .filter((line) => !line.startsWith('{"cursor":'))
      .map((line) => fromJson(line))
    const last = parsed(Control, lines.at(-1) ?? '')
    return { ...page, rows, cursor: last.cursor ?? null, isWhole: last.complete === true }
  }
  const { data = [], next_cursor: cursor = null } = parsed(Rows, text)
  return { ...page, rows: data, cursor }
}

function toolPage({ text, status }: Reply): Answer {
  const answer = parsed(ToolAnswer, text)
  const { isError, structuredContent } = answer.result
  if (isError || !structuredContent) {
    const words = toolText(answer)
    const known = toolStatuses.find(([start]) => start.test(words))
    return { kind: 'refused', status: known?.[1] ?? 400, words }
  }
  const { data, next_cursor: cursor = null, version = '', explained = false } = structuredContent
  const names = Object.keys(data)
  const rows = (data[names[0] ?? ''] ?? []).map((_, at) =>
    Object.fromEntries(names.map((name) => [name, data[name]?.[at]])),
  )
  const isWhole = status === 200
  // A page of MCP may end early for other reasons as well.
  return { kind: 'page', rows, version, cursor, isExplained: explained, isWhole, isLast: true }
}

function parsed<T extends TSchema>(schema: T, text: string): Static<T> {
  const value = fromJson(text)
  if (Value.Check(schema, value)) return value
  throw new Fault(`an answer of another shape: ${text.slice(0, lettersMax)}`)
}

function fromJson(text: string): unknown {
  return JSON.parse(text)
}
