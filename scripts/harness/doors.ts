import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { jsonBody, urlQuery } from '../../test/support/carriers.js'
import type { TestFilter } from '../../test/support/carriers.js'
import type { Message } from './http.js'

/** The ways to ask a question. */
export const doors = ['get', 'post', 'mcp'] as const
export type Door = (typeof doors)[number]

/** A question in the words of a client. */
export interface Words {
  readonly dataset: string
  /** For rows where it is left out. */
  readonly tool?: keyof typeof paths
  readonly filters?: readonly TestFilter[]
  readonly select?: readonly string[]
  readonly limit: number
  readonly cursor?: string | null
  /** Parameters of tops and aggregates. */
  readonly more?: Readonly<Record<string, string | readonly string[]>>
}

const paths = { query: '', top: '/top', aggregate: '/aggregate' } as const

/** The request that asks a question through a door; REST takes tops as GET only. */
export function messageOf(door: Door, words: Words): Message {
  const { dataset, tool = 'query', more = {}, cursor, ...rest } = words
  const question = { ...rest, ...(typeof cursor === 'string' && { cursor }) }
  if (door === 'get') {
    const parts = [urlQuery(question), ...Object.entries(more).flatMap(parameters)]
    return { method: 'GET', path: `/v1/${dataset}${paths[tool]}?${parts.join('&')}`, body: '' }
  }
  const asked = { ...(JSON.parse(jsonBody(question)) as object), ...more }
  if (door === 'mcp') return toolMessage(tool, { resource: dataset, ...asked })
  return { method: 'POST', path: `/v1/${dataset}/${tool}`, body: JSON.stringify(asked) }
}

/** A list in one parameter, except `having`, whose conditions have one each. */
function parameters([name, value]: readonly [string, string | readonly string[]]) {
  const values = name === 'having' ? [value].flat() : [String(value)]
  return values.map((each) => `${name}=${encodeURIComponent(each)}`)
}

/** The request that calls a tool. */
export function toolMessage(name: string, args: object): Message {
  const params = { name, arguments: args }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  return { method: 'POST', path: '/mcp/', body }
}

/** The schema of a tool's answer with such structured content, which an error lacks. */
export function toolAnswer<T extends TSchema>(content: T) {
  return Type.Object({
    result: Type.Object({
      isError: Type.Optional(Type.Boolean()),
      content: Type.Array(Type.Object({ text: Type.String() })),
      structuredContent: Type.Optional(content),
    }),
  })
}

/** The text of a tool's answer. */
export function toolText({ result }: Static<ReturnType<typeof toolAnswer>>): string {
  return result.content[0]?.text ?? ''
}
