import type { InjectOptions } from 'fastify'

interface Filter {
  readonly column: string
  readonly op: string
  readonly value: string | readonly string[]
}

const filtersMax = 50
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index))

/** A word of two letters, another for each number. */
function word(index: number): string {
  const letter = (place: number) => String.fromCharCode(0x430 + (place % 32))
  return letter(index) + letter(Math.floor(index / 32))
}

const words = (count: number) => times(count, word).join(' ')

/** Filters of one kind, as many as a request may have. */
export const largestFilters: Readonly<Record<string, readonly Filter[]>> = {
  'words of one name': [{ column: 'name', op: 'contains', value: words(333) }],
  words: times(filtersMax, () => ({ column: 'name', op: 'contains', value: words(10) })),
  texts: times(filtersMax, (filter) => ({
    column: 'inn',
    op: 'not_in',
    value: times(1000, (index) => String(1e9 + filter * 1000 + index)),
  })),
  numbers: times(filtersMax, (filter) => ({
    column: '2110',
    op: 'not_in',
    value: times(1000, (index) => String(filter * 1000 + index)),
  })),
  'short lists': times(filtersMax, (filter) => ({
    column: '1600',
    op: 'in',
    value: times(16, (index) => String(filter * 16 + index)),
  })),
  'a long list and short ones': times(filtersMax, (filter) => ({
    column: filter === 0 ? 'okved' : '1600',
    op: 'in',
    value: times(filter === 0 ? 1000 : 16, (index) => String(filter * 16 + index)),
  })),
  'one list': [{ column: 'okved', op: 'in', value: times(1000, (index) => `${index}.${index}`) }],
  comparisons: times(filtersMax, (filter) => ({
    column: filter % 2 === 0 ? '1100' : '1600',
    op: 'gte',
    value: `-${filter}.5`,
  })),
  'long texts': times(filtersMax, () => ({ column: 'name', op: 'ne', value: 'ж'.repeat(5000) })),
}

const lines = ['1100', '1600', '2110', '2400']
const quotients = lines.flatMap((over) =>
  lines.filter((under) => under !== over).map((under) => `${over}/${under}`),
)
const measures = [
  ...quotients.map((quotient) => `median(${quotient})`),
  ...quotients.slice(0, 4).map((quotient) => `ratio(${quotient})`),
]

/** A summary with all groups, measures and conditions that a request may have. */
export const largestSummary = {
  group: ['inn', 'prefix(okved,2)', 'year', 'prefix(okved,5)'],
  measures,
  having: measures.map((measure) => `${measure}.gte.-1000000`),
  order: measures.slice(0, 2).map((measure) => `-${measure}`),
  limit: 10_000,
}

const post = (url: string, body: unknown): InjectOptions => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

const call = (name: string, args: object) =>
  post('/mcp', {
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name, arguments: { resource: 'financials', ...args } },
  })

/** The largest valid request of every door, by the kind of its filters. */
export const largestRequests: readonly (readonly [name: string, request: InjectOptions])[] =
  Object.entries(largestFilters).flatMap(([kind, list]) => [
    [`POST query, ${kind}`, post('/v1/financials/query', { filters: list, limit: 1000 })],
    [
      `POST aggregate, ${kind}`,
      post('/v1/financials/aggregate', { ...largestSummary, filters: list }),
    ],
    [`MCP query, ${kind}`, call('query', { filters: list })],
    [`MCP aggregate, ${kind}`, call('aggregate', { ...largestSummary, filters: list })],
    [`MCP top, ${kind}`, call('top', { by: '-2110', filters: list })],
  ])
