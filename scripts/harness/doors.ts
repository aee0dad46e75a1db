import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import type { Message } from './http.js'

/** The ways to ask for a page of rows. */
export const doors = ['get', 'post', 'mcp'] as const
export type Door = (typeof doors)[number]

/** One condition of a question. */
export interface Filter {
  readonly column: string
  readonly op: string
  readonly value: unknown
}

interface Asked {
  readonly dataset: string
  readonly limit: number
  readonly filters: readonly Filter[]
}

interface Page extends Asked {
  readonly cursor?: string | null
}

interface Aggregate extends Asked {
  readonly group: readonly string[]
  readonly measures: readonly string[]
}

interface Top extends Asked {
  /** A column, after `-` for the largest values first. */
  readonly by: string
}

/** Where each kind of question is asked. */
const places = {
  query: { get: '', post: '/query' },
  aggregate: { get: '/aggregate', post: '/aggregate' },
  top: { get: '/top', post: null },
} as const

/** The request that asks for a page through a door. */
export function pageMessage(door: Door, { cursor, ...page }: Page): Message {
  return messageOf(door, 'query', page, cursor ? { cursor } : {})
}

/** The request that asks for an aggregate through a door. */
export function aggregateMessage(door: Door, { group, measures, ...asked }: Aggregate): Message {
  return messageOf(door, 'aggregate', asked, { group, measures })
}

/** The request that asks for the first rows by a column; REST takes it as GET only. */
export function topMessage(door: Exclude<Door, 'post'>, { by, ...asked }: Top): Message {
  return messageOf(door, 'top', asked, { by })
}

function messageOf(
  door: Door,
  tool: keyof typeof places,
  { dataset, limit, filters }: Asked,
  more: Readonly<Record<string, string | readonly string[]>>,
): Message {
  const { get, post } = places[tool]
  if (door === 'get') {
    const conditions = filters.map(({ column, op, value }) => `&${column}=${op}.${String(value)}`)
    const rest = Object.entries(more).map(([name, value]) => `&${name}=${String(value)}`)
    const path = `/v1/${dataset}${get}?limit=${limit}${conditions.join('')}${rest.join('')}`
    return { method: 'GET', path, body: '' }
  }
  const question = { limit, filters, ...more }
  if (door === 'post') {
    return { method: 'POST', path: `/v1/${dataset}${post}`, body: JSON.stringify(question) }
  }
  return toolMessage(tool, { resource: dataset, ...question })
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
