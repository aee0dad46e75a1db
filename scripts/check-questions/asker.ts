import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { textsOf } from '../../src/row-texts.js'
import { jsonBody, urlQuery } from '../../test/support/carriers.js'
import type { TestFilter } from '../../test/support/carriers.js'
import { toolAnswer, toolMessage, toolText } from '../harness/doors.js'
import { Fault } from '../harness/fault.js'
import { differenceOf } from '../harness/difference.js'
import { send } from '../harness/http.js'
import type { Message, Reply, Target } from '../harness/http.js'
import type { Random } from '../harness/random.js'

/** What a question has at its disposal. */
export interface Asking {
  readonly random: Random
  readonly target: Target
  /** Called for each answer. */
  readonly note: (reply: Reply) => void
  /** Called with the rows that an answer must have cost. */
  readonly pay: (rows: number) => void
}

/** A question in the words of a client. */
export interface Words {
  readonly dataset: string
  readonly tool: 'query' | 'top' | 'aggregate'
  readonly filters: readonly TestFilter[]
  readonly select?: readonly string[]
  readonly limit: number
  readonly cursor?: string
  /** Parameters of tops and aggregates. */
  readonly more?: Readonly<Record<string, string | readonly string[]>>
}

export const restFormats = ['json', 'json', 'ndjson', 'csv'] as const
export type RestFormat = (typeof restFormats)[number]

const mediaTypes = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
} as const satisfies Record<RestFormat, string>

const paths = { query: '', top: '/top', aggregate: '/aggregate' } as const

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

/** The request in the URL, its format there or in a header. */
export function urlMessage(random: Random, words: Words, format: RestFormat): Message {
  const { dataset, tool, more = {} } = words
  const inUrl = random.whole(0, 1) === 0
  const parts = [
    urlQuery(words),
    ...Object.entries(more).flatMap(([name, value]) =>
      (name === 'having' ? [value].flat() : [String(value)]).map(
        (each) => `${name}=${encodeURIComponent(each)}`,
      ),
    ),
    ...(inUrl && format !== 'json' ? [`format=${format}`] : []),
  ]
  const path = `/v1/${dataset}${paths[tool]}?${parts.join('&')}`
  return { method: 'GET', path, body: '', ...(!inUrl && acceptOf(format)) }
}

/** The request as a body. */
export function bodyMessage({ dataset, tool, more, ...words }: Words, format: RestFormat): Message {
  const body = JSON.stringify({ ...(JSON.parse(jsonBody(words)) as object), ...more })
  return { method: 'POST', path: `/v1/${dataset}/${tool}`, body, ...acceptOf(format) }
}

/** The request as the call of a tool. */
export function callMessage({ dataset, tool, more, ...words }: Words): Message {
  const args = JSON.parse(jsonBody(words)) as object
  return toolMessage(tool, { resource: dataset, ...args, ...more })
}

function acceptOf(format: RestFormat): Pick<Message, 'headers'> {
  return { headers: { accept: mediaTypes[format] } }
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
  if (difference !== null) throw new Fault(`${what} differs ${difference}`)
}

/** A request in one line. */
export function shown({ method, path, body, headers }: Message): string {
  return `${method} ${path} ${body} ${headers?.['accept'] ?? ''}`.trim().slice(0, 3000)
}
