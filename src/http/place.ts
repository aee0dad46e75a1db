/** The interface that a request came to; `none` for unknown paths and broken requests. */
export type Door = 'rest' | 'mcp' | 'portal' | 'docs' | 'health' | 'none'

/** Where a request came to. */
export interface Place {
  readonly door: Door
  /** What it asked the door for; null where the path does not say it. */
  readonly tool: string | null
}

const restTools: Readonly<Record<string, string>> = {
  '/v1': 'list',
  '/v1/account': 'account',
  '/v1/:dataset': 'query',
  '/v1/:dataset/query': 'query',
  '/v1/:dataset/top': 'top',
  '/v1/:dataset/aggregate': 'aggregate',
  '/v1/:dataset/export': 'export',
  '/v1/:dataset/schema': 'schema',
  '/v1/:dataset/versions': 'versions',
  '/v1/:dataset/changes': 'changes',
  '/v1/:dataset(^find$)': 'find',
  '/v1/:dataset/find': 'find',
}

const doors: readonly (readonly [Door, RegExp])[] = [
  ['rest', /^\/v1(\/|$)/],
  ['mcp', /^\/(mcp|authorize|token|register|revoke|\.well-known)(\/|$)/],
  ['docs', /^\/(docs|openapi\.json)(\/|$)/],
  ['health', /^\/(healthz|readyz)$/],
]

/** Route → place: as many entries as routes. */
const known = new Map<string, Place>()
const nowhere: Place = { door: 'none', tool: null }

/** The place of a route's path; undefined = no route. */
export function placeOf(route: string | undefined): Place {
  if (route === undefined) return nowhere
  const found = known.get(route)
  if (found) return found
  const [door] = doors.find(([, paths]) => paths.test(route)) ?? ['portal' as const]
  const place = { door, tool: restTools[route] ?? null }
  known.set(route, place)
  return place
}
