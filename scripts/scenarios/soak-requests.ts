import { aggregateMessage, pageMessage, topMessage } from '../harness/doors.js'
import type { Door } from '../harness/doors.js'
import type { Message } from '../harness/http.js'
import type { Random } from '../harness/random.js'
import type { Selection, Table } from './parts/rows.js'

/** One request of the mix. */
export interface Request {
  readonly kind: string
  readonly message: Message
  /** The status that it must have. */
  readonly status: number
  /** Rows that the answer must have and cost. */
  readonly rows: number
  /** Whose rows they are, where they are rows of a table. */
  readonly selection?: Selection
  /** With a token that no subscription has. */
  readonly isStranger?: true
}

type Make = (random: Random) => Omit<Request, 'kind'>

export const things: Table = {
  name: 'things',
  years: [2019, 2020, 2021, 2022, 2023],
  rows: 3000,
  letters: 0,
}
/** It never changes. */
export const other: Table = { name: 'other', years: [1], rows: 3000, letters: 0 }

const { name: dataset, years } = things
const topRows = 10
const pageRows = 50

const free = (path: string, status = 200): Omit<Request, 'kind'> => {
  return { message: { method: 'GET', path, body: '' }, status, rows: 0 }
}

/** What the mix consists of, each kind as often as its weight. */
const mix: readonly (readonly [kind: string, weight: number, make: Make])[] = [
  ['look-up', 20, (random) => lookUp(random, 'get')],
  ['look-up by POST', 6, (random) => lookUp(random, 'post')],
  ['look-up by MCP', 4, (random) => lookUp(random, 'mcp')],
  ['page', 4, page],
  ['page as CSV', 2, csvPage],
  ['aggregate', 2, aggregate],
  ['top', 2, top],
  ['no rows', 10, () => free('/v1/things?id=eq.-1')],
  ['schema', 10, () => free('/v1/other/schema')],
  ['catalog', 10, () => free('/v1')],
  ['wrong question', 10, () => free('/v1/things?idd=eq.1', 400)],
  ['unknown dataset', 10, () => free('/v1/nothing?id=eq.1', 404)],
  ['wrong token', 5, () => ({ ...free('/v1', 401), isStranger: true })],
  ['health', 5, () => free('/healthz')],
]
const bag = mix.flatMap((part) => Array.from({ length: part[1] }, () => part))

/** A request of the mix. */
export function nextRequest(random: Random): Request {
  const [kind, , make] = random.oneOf(bag)
  return { kind, ...make(random) }
}

function oneId(random: Random) {
  const id = random.whole(0, things.rows - 1)
  const filters = [{ column: 'id', op: 'eq', value: id }]
  return { id, asked: { dataset, limit: 100, filters } }
}

function lookUp(random: Random, door: Door): Omit<Request, 'kind'> {
  const { id, asked } = oneId(random)
  const selection = { years, from: id, to: id + 1 }
  return { message: pageMessage(door, asked), status: 200, rows: years.length, selection }
}

function page(random: Random): Omit<Request, 'kind'> {
  const from = random.whole(0, things.rows - pageRows)
  const year = random.oneOf(years)
  const filters = [
    { column: 'id', op: 'gte', value: from },
    { column: 'year', op: 'eq', value: year },
  ]
  const selection = { years: [year], from, to: from + pageRows }
  const message = pageMessage('get', { dataset, limit: pageRows, filters })
  return { message, status: 200, rows: pageRows, selection }
}

function csvPage(random: Random): Omit<Request, 'kind'> {
  const { message } = page(random)
  return { message: { ...message, headers: { accept: 'text/csv' } }, status: 200, rows: pageRows }
}

function aggregate(random: Random): Omit<Request, 'kind'> {
  const { asked } = oneId(random)
  const message = aggregateMessage('get', { ...asked, group: ['year'], measures: ['count'] })
  return { message, status: 200, rows: years.length }
}

function top(random: Random): Omit<Request, 'kind'> {
  const filters = [{ column: 'year', op: 'eq', value: random.oneOf(years) }]
  const message = topMessage('get', { dataset, limit: topRows, filters, by: '-value' })
  return { message, status: 200, rows: topRows }
}
