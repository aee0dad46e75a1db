import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { textsOf } from '../../../src/row-texts.js'
import { messageOf, toolAnswer, toolText } from '../../harness/doors.js'
import type { Door, Words } from '../../harness/doors.js'
import { demand, differenceOf, Fault } from '../../harness/fault.js'
import { send } from '../../harness/http.js'
import type { Message, Reply, Target } from '../../harness/http.js'
import type { Random } from '../../harness/random.js'

/** What a question has at its disposal. */
export interface Asking {
  readonly random: Random
  readonly target: Target
  /** Called for each answer. */
  readonly note: (reply: Reply) => void
  /** Called with the rows that an answer must have cost. */
  readonly pay: (rows: number) => void
}

export const restFormats = ['json', 'json', 'ndjson', 'csv'] as const
export type RestFormat = (typeof restFormats)[number]

const mediaTypes = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
} as const satisfies Record<RestFormat, string>

const ToolAnswer = toolAnswer(
  Type.Object({
    columns: Type.Array(Type.String()),
    data: Type.Record(Type.String(), Type.Array(Type.Unknown())),
    /** Of rows; an aggregate has none. */
    row_count: Type.Optional(Type.Integer()),
    next_cursor: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    truncated: Type.Boolean(),
    explained: Type.Optional(Type.Boolean()),
  }),
)

/** The request over REST: the format of a GET is in its URL or in a header. */
export function restMessage(
  random: Random,
  door: Exclude<Door, 'mcp'>,
  words: Words,
  format: RestFormat,
): Message {
  const message = messageOf(door, words)
  const isInUrl = door === 'get' && random.whole(0, 1) === 0
  if (!isInUrl) return { ...message, headers: { accept: mediaTypes[format] } }
  return format === 'json' ? message : { ...message, path: `${message.path}&format=${format}` }
}

/**
 * Asks, and returns an answer with 200.
 * @throws Fault for any other answer
 */
export async function askWell({ target, note }: Asking, message: Message): Promise<Reply> {
  const reply = await send(target, message)
  note(reply)
  if (reply.status === 200 && reply.isComplete) return reply
  throw new Fault(`${reply.status} to ${shown(message)}: ${reply.text.slice(0, 500)}`)
}

/** Charges the rows, where the answer says the same. */
export function checkCharge({ pay }: Asking, { headers }: Reply, rows: number): void {
  pay(rows)
  differ('X-Rows-Charged', String(headers['x-rows-charged'] ?? 0), String(rows))
}

/** A tool's answer: its members, and its columns as JSON texts of their lists. */
export function readTool(reply: Reply) {
  const answer = Value.Parse(ToolAnswer, JSON.parse(reply.text))
  const { isError, structuredContent } = answer.result
  const text = toolText(answer)
  if (isError || !structuredContent) throw new Fault(text)
  const { names, cells } = textsOf(text)
  const data = textsOf(cells[names.indexOf('"data"')] ?? '{}')
  const lists = new Map(data.names.map((name, at) => [JSON.parse(name) as string, data.cells[at]]))
  return { ...structuredContent, lists }
}

/** @throws Fault where a text is not the expected one, from where it differs */
export function differ(what: string, found: string, expected: string): void {
  const difference = differenceOf(found, expected)
  demand(difference === null, `${what} differs ${difference}`)
}

/** A request in one line. */
export function shown({ method, path, body, headers }: Message): string {
  return `${method} ${path} ${body} ${headers?.['accept'] ?? ''}`.trim().slice(0, 3000)
}
