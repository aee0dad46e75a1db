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

interface Page {
  readonly dataset: string
  readonly limit: number
  readonly filters: readonly Filter[]
  readonly cursor?: string | null
}

/** The request that asks for a page through a door. */
export function pageMessage(door: Door, { dataset, limit, filters, cursor }: Page): Message {
  if (door === 'get') {
    const conditions = filters.map(({ column, op, value }) => `&${column}=${op}.${String(value)}`)
    const next = cursor ? `&cursor=${cursor}` : ''
    const path = `/v1/${dataset}?limit=${limit}${conditions.join('')}${next}`
    return { method: 'GET', path, body: '' }
  }
  const question = { limit, filters, ...(cursor && { cursor }) }
  if (door === 'post') {
    return { method: 'POST', path: `/v1/${dataset}/query`, body: JSON.stringify(question) }
  }
  const params = { name: 'query', arguments: { resource: dataset, ...question } }
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
