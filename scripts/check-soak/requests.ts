import { aggregateMessage, pageMessage, topMessage } from '../harness/doors.js'
import type { Message } from '../harness/http.js'
import type { Random } from '../harness/random.js'
import { rowsOfYear, years } from '../check-reload/reload-fixture.js'

/** One request of the mix. */
export interface Request {
  readonly kind: string
  readonly message: Message
  /** The status that it must have. */
  readonly status: number
  /** Rows that the answer must have and cost. */
  readonly rows: number
  /** With a token that no subscription has. */
  readonly isStranger?: true
}

type Make = (random: Random) => Omit<Request, 'kind'>

const topRows = 10
const pageRows = 50
const well = 200

const get = (path: string): Message => ({ method: 'GET', path, body: '' })
const oneId = (random: Random) => [
  { column: 'id', op: 'eq', value: random.whole(0, rowsOfYear - 1) },
]
const page = (random: Random) => ({
  dataset: 'things',
  limit: pageRows,
  filters: [
    { column: 'id', op: 'gte', value: random.whole(0, rowsOfYear - pageRows) },
    { column: 'year', op: 'eq', value: random.oneOf(years) },
  ],
})
const lookUp = (random: Random) => ({ dataset: 'things', limit: 100, filters: oneId(random) })

/** What the mix consists of, each kind as often as its weight. */
const mix: readonly (readonly [kind: string, weight: number, make: Make])[] = [
  ['look-up', 20, (random) => ofRows(pageMessage('get', lookUp(random)), years.length)],
  ['look-up by POST', 6, (random) => ofRows(pageMessage('post', lookUp(random)), years.length)],
  ['look-up by MCP', 4, (random) => ofRows(pageMessage('mcp', lookUp(random)), years.length)],
  ['page', 4, (random) => ofRows(pageMessage('get', page(random)), pageRows)],
  ['page as CSV', 2, csvPage],
  ['aggregate', 2, (random) => ofRows(aggregateMessage('get', aggregate(random)), years.length)],
  ['top', 2, (random) => ofRows(topMessage('get', top(random)), topRows)],
  ['no rows', 10, () => ofRows(get('/v1/things?id=eq.-1'), 0)],
  ['schema', 10, () => ofRows(get('/v1/other/schema'), 0)],
  ['catalog', 10, () => ofRows(get('/v1'), 0)],
  ['wrong question', 10, () => ({ message: get('/v1/things?idd=eq.1'), status: 400, rows: 0 })],
  ['unknown dataset', 10, () => ({ message: get('/v1/nothing?id=eq.1'), status: 404, rows: 0 })],
  ['wrong token', 5, () => ({ message: get('/v1'), status: 401, rows: 0, isStranger: true })],
  ['health', 5, () => ofRows(get('/healthz'), 0)],
]
const bag = mix.flatMap((part) => Array.from({ length: part[1] }, () => part))

/** A request of the mix. */
export function nextRequest(random: Random): Request {
  const [kind, , make] = random.oneOf(bag)
  return { kind, ...make(random) }
}

function ofRows(message: Message, rows: number): Omit<Request, 'kind'> {
  return { message, status: well, rows }
}

function csvPage(random: Random): Omit<Request, 'kind'> {
  const message = pageMessage('get', page(random))
  return ofRows({ ...message, headers: { accept: 'text/csv' } }, pageRows)
}

function aggregate(random: Random) {
  return { ...lookUp(random), group: ['year'], measures: ['count'] }
}

function top(random: Random) {
  const filters = [{ column: 'year', op: 'eq', value: random.oneOf(years) }]
  return { dataset: 'things', limit: topRows, filters, by: '-value' }
}
