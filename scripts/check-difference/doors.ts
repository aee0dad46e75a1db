import { aggregateMessage, pageMessage, topMessage } from '../harness/doors.js'
import type { Message, Target } from '../harness/http.js'
import { send, sendWell } from '../harness/http.js'
import { names } from './names.js'

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
  const filters = [{ column: 'id', op: 'eq', value: 1 }]
  const asked = (dataset: string) => ({ dataset, limit: 10, filters })
  const groups = (dataset: string) => ({ ...asked(dataset), group: ['id'], measures: ['count'] })
  const top = (dataset: string) => ({ ...asked(dataset), by: 'id' })
  const get = (path: string, headers = {}): Message => ({ method: 'GET', path, body: '', headers })
  const rest = (name: string, messageFor: Door['messageFor']): Door => ({
    name,
    isPublic: false,
    messageFor,
  })
  return [
    rest('REST schema', (dataset) => get(`/v1/${dataset}/schema`)),
    rest('REST query', (dataset) => pageMessage('get', asked(dataset))),
    rest('REST query, POST', (dataset) => pageMessage('post', asked(dataset))),
    rest('REST aggregate', (dataset) => aggregateMessage('get', groups(dataset))),
    rest('REST top', (dataset) => topMessage('get', top(dataset))),
    rest('REST export', (dataset) => get(`/v1/${dataset}/export?id=eq.1`)),
    rest('cursor of an own dataset', (dataset) => get(`/v1/${dataset}?limit=1&cursor=${cursor}`)),
    rest('cursor of the unlisted one', (dataset) =>
      get(`/v1/${dataset}?limit=1&cursor=${secrets.cursor}`),
    ),
    rest('If-None-Match', (dataset) =>
      get(`/v1/${dataset}/schema`, { 'if-none-match': secrets.tag }),
    ),
    rest('MCP describe_resource', (dataset) => describeMessage(dataset)),
    rest('MCP query', (dataset) => pageMessage('mcp', asked(dataset))),
    rest('MCP aggregate', (dataset) => aggregateMessage('mcp', groups(dataset))),
    rest('MCP top', (dataset) => topMessage('mcp', top(dataset))),
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

function describeMessage(dataset: string): Message {
  const params = { name: 'describe_resource', arguments: { resource: dataset } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  return { method: 'POST', path: '/mcp/', body }
}
