import { messageOf, toolMessage } from '../../harness/doors.js'
import type { Message, Target } from '../../harness/http.js'
import { send, sendWell } from '../../harness/http.js'

/** Datasets by what a token may know of them; names of one length, so that it tells nothing. */
export const names = {
  granted: 'accounts',
  /** Visitors see it in the portal; the token has no plan for it. */
  ungranted: 'offering',
  /** Only tokens that were sold a plan for it know that it exists. */
  unlisted: 'internal',
  unknown: 'anything',
  /** Also unknown: what two names that can't differ look like. */
  unknownToo: 'whatever',
} as const

const rows = 1000

/** The SELECT whose rows each of the datasets has. */
export const select = `SELECT i AS id, i % 7 AS size FROM range(${rows}) t(i)`

/** The registry's entries; the plan is named `all`. */
export function datasetsWith(plan: Readonly<Record<string, unknown>>) {
  const entry = (title: string, listed: boolean) => ({
    title,
    files: `data/${title}.parquet`,
    key: 'id',
    require_filter: false,
    measures: { rows: { sum: 'size' } },
    listed,
    plans: { all: plan },
  })
  return {
    [names.granted]: entry(names.granted, true),
    [names.ungranted]: entry(names.ungranted, true),
    [names.unlisted]: entry(names.unlisted, false),
  }
}

/** A way to ask for a dataset by its name. */
export interface Door {
  readonly name: string
  /** Asked without a token, where listed datasets are public. */
  readonly isPublic: boolean
  readonly messageFor: (dataset: string) => Message
}

/** What only a token with a plan for the unlisted dataset gets. */
interface Secrets {
  readonly cursor: string
  readonly tag: string
}

/** Every way to ask for a dataset that a client may not know of. */
export async function findDoors(own: Target, other: Target): Promise<readonly Door[]> {
  const { cursor } = await secretsOf(own, names.granted)
  const secrets = await secretsOf(other, names.unlisted)
  const asked = (dataset: string) => ({ dataset, limit: 10, filters: [['id', 'eq', 1]] as const })
  const groups = (dataset: string) => {
    const more = { group: ['id'], measures: ['count'] }
    return { ...asked(dataset), tool: 'aggregate', more } as const
  }
  const top = (dataset: string) => ({ ...asked(dataset), tool: 'top', more: { by: 'id' } }) as const
  const get = (path: string, headers = {}): Message => ({ method: 'GET', path, body: '', headers })
  const rest = (name: string, messageFor: Door['messageFor']): Door => ({
    name,
    isPublic: false,
    messageFor,
  })
  return [
    rest('REST schema', (dataset) => get(`/v1/${dataset}/schema`)),
    rest('REST query', (dataset) => messageOf('get', asked(dataset))),
    rest('REST query, POST', (dataset) => messageOf('post', asked(dataset))),
    rest('REST aggregate', (dataset) => messageOf('get', groups(dataset))),
    rest('REST top', (dataset) => messageOf('get', top(dataset))),
    rest('REST export', (dataset) => get(`/v1/${dataset}/export?id=eq.1`)),
    rest('cursor of an own dataset', (dataset) => get(`/v1/${dataset}?limit=1&cursor=${cursor}`)),
    rest('cursor of the unlisted one', (dataset) =>
      get(`/v1/${dataset}?limit=1&cursor=${secrets.cursor}`),
    ),
    rest('If-None-Match', (dataset) =>
      get(`/v1/${dataset}/schema`, { 'if-none-match': secrets.tag }),
    ),
    rest('MCP describe_resource', (resource) => toolMessage('describe_resource', { resource })),
    rest('MCP query', (dataset) => messageOf('mcp', asked(dataset))),
    rest('MCP aggregate', (dataset) => messageOf('mcp', groups(dataset))),
    rest('MCP top', (dataset) => messageOf('mcp', top(dataset))),
    {
      name: 'portal',
      isPublic: true,
      messageFor: (dataset) => get(`/datasets/${dataset}`, { accept: 'text/html' }),
    },
  ]
}

/** Sends a door's request as the client it is for. */
export function ask(target: Target, door: Door, dataset: string) {
  return send(door.isPublic ? { ...target, token: '' } : target, door.messageFor(dataset))
}

async function secretsOf(target: Target, dataset: string): Promise<Secrets> {
  const get = (path: string) => sendWell(target, { method: 'GET', path, body: '' })
  const page = JSON.parse((await get(`/v1/${dataset}?limit=1`)).text) as { next_cursor: string }
  const { headers } = await get(`/v1/${dataset}/schema`)
  if (headers.etag === undefined) throw new Error('a schema has no ETag')
  return { cursor: page.next_cursor, tag: headers.etag }
}
