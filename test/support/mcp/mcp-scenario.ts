import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { ControlStore } from '../../../src/control/store/store.js'
import { revokeToken } from '../../../src/control/tokens/tokens.js'
import { tools } from '../../../src/mcp/tools.js'
import { recordOf } from '../../../src/registry/shape.js'
import { listen } from '../answers.js'
import { openControl } from '../control.js'
import { startThings } from '../things.js'
import type { World } from '../world.js'
import { call, errorText, Walk } from './mcp-calls.js'
import type { McpClient, Party } from './mcp-clients.js'

/** A listening world, and the two things that a test does beside the conversation. */
export interface Stage {
  readonly world: World
  readonly control: ControlStore
  readonly url: string
  /** The protocol's revisions that requests have named since somebody cleared this. */
  readonly revisions: Set<string>
}

type Json = Readonly<Record<string, unknown>>

/** A public address where agents can't sign in. */
export const withoutSignIn = { publicUrl: 'http://data.example.org' }

/** Starts a server on a free port of this machine, for any number of conversations. */
export async function startStage(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
): Promise<Stage> {
  const world = await startThings(t, settings)
  const control = openControl(t, world)
  const revisions = new Set<string>()
  world.app.server.server.on('request', ({ headers }: IncomingMessage) => {
    const revision = headers['mcp-protocol-version']
    if (typeof revision === 'string') revisions.add(revision)
  })
  return { world, control, url: `http://127.0.0.1:${await listen(world)}/mcp`, revisions }
}

/** The one conversation that every client has with the server, up to the end of its token. */
export async function converse(t: Test, party: Party, stage: Stage): Promise<void> {
  const { world, url } = stage
  const { token, tokenId } = await world.subscribe(['things:tiny', 'days:pro'])
  const folder = join(world.folder, 'client', tokenId)
  stage.revisions.clear()
  const client = await party.connect({ url, token, folder })
  try {
    t.match(client.getServerVersion(), { name: 'dataset-access-service', version: '0.0.0-test' })
    t.match(client.getInstructions(), /list_resources.+describe_resource.+query/s)
    await seeTools(t, client)
    await seeDatasets(t, client)
    await walk(t, client, stage, token)
    await summarize(t, client)
    await useUpQuota(t, client)
    await askForForeign(t, client)
    await readResources(t, client, stage, token)
    await getPrompt(t, client)
    t.same([...stage.revisions], [party.revision])
    await revokeToken(stage.control, tokenId, () => world.clock.ms)
    await isTurnedAway(t, world, party.revoked, () =>
      client.callTool({ name: 'list_resources', arguments: {} }),
    )
  } finally {
    await client.close()
  }
}

/** A static header works beside the metadata of a sign-in: its client does not sign in. */
export async function useHeader(t: Test, party: Party, { world, url }: Stage): Promise<void> {
  const { token, tokenId } = await world.subscribe(['things:pro'])
  const before = world.log.length
  const client = await party.connect({ url, token, folder: join(world.folder, 'client', tokenId) })
  try {
    const walk = new Walk('things', 4)
    await walk.readRest(t, client)
    t.equal(walk.rows.length, 15)
  } finally {
    await client.close()
  }
  t.notMatch(world.log.slice(before).join(''), /"url":"\/(register|authorize|token)/)
}

/** Without a token a client is refused, and finds no OAuth to go on with. */
export async function comeWithoutToken(
  t: Test,
  party: Pick<Party, 'connect' | 'tokenless'>,
  stage: Stage,
): Promise<void> {
  const { world, url } = stage
  const folder = join(world.folder, 'client', 'none')
  await isTurnedAway(t, world, party.tokenless, async () => {
    const client = await party.connect({ url, token: null, folder })
    await client.close()
  })
}

async function seeTools(t: Test, client: McpClient): Promise<void> {
  const listed = recordOf(await client.listTools())['tools'] as readonly Json[]
  t.same(
    listed.map(({ name }) => name),
    ['list_resources', 'describe_resource', 'query', 'aggregate', 'top', 'find', 'changes'],
  )
  const names = new Set(listed.map(({ name }) => name))
  const expected = tools.filter(({ name }) => names.has(name))
  t.same(listed, expected, 'titles, descriptions and schemas arrive whole')
  for (const tool of listed) {
    t.match(tool, {
      inputSchema: { type: 'object', properties: {} },
      outputSchema: { type: 'object', properties: {} },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    })
  }
}

async function seeDatasets(t: Test, client: McpClient): Promise<void> {
  const { resources } = await call(t, client, 'list_resources', {})
  t.match(resources, [
    { name: 'things', title: 'Things', rows: 15, columns: 4 },
    { name: 'days', title: 'Days', rows: 10, columns: 3 },
  ])
  t.equal((resources as readonly unknown[]).length, 2, 'none that is not granted')
  const described = await call(t, client, 'describe_resource', { resource: 'days' })
  t.match(described, {
    name: 'days',
    limit: { default: 50 },
    columns: [
      { name: 'id', type: 'integer', min: 0, max: 9 },
      { name: 'day', type: 'date', min: '2022-01-01', max: '2024-06-19' },
      { name: 'half', type: 'integer', values: [0, 1] },
    ],
  })
  for (const example of described['examples'] as readonly Json[]) {
    const answer = await call(t, client, 'query', recordOf(example['arguments']))
    t.equal(answer['row_count'], example['row_count'], String(example['purpose']))
  }
  const filters = [{ column: 'half', op: 'eq', value: 1 }]
  t.match(await call(t, client, 'query', { resource: 'days', filters, select: ['id', 'day'] }), {
    columns: ['id', 'day'],
    data: { id: [1, 3, 5, 7, 9], day: ['2022-04-11'] },
    row_count: 5,
    next_cursor: null,
    truncated: false,
  })
}

/** Page by page to the end: the same rows in the same order as REST has them. */
async function walk(t: Test, client: McpClient, stage: Stage, token: string): Promise<void> {
  const walk = new Walk('days', 4)
  await walk.readRest(t, client)
  t.same(walk.pageRows, [4, 4, 2])
  const rest = await stage.world.get('/v1/days?limit=100', token)
  t.same(walk.rows, rest.body.data)
}

/** Groups and the first rows by a column, at their price. */
async function summarize(t: Test, client: McpClient): Promise<void> {
  const question = {
    resource: 'days',
    group: ['half'],
    measures: ['last:max(day)', 'count'],
    limit: 10,
  }
  const groups = await call(t, client, 'aggregate', { ...question, order: '-half' })
  t.match(groups, {
    columns: ['half', 'last', 'count'],
    data: { half: [1, 0], last: ['2024-06-19', '2024-03-11'], count: [5, 5] },
    groups: 2,
    rows: 10,
    truncated: false,
  })
  const top = await call(t, client, 'top', { resource: 'days', by: '-day', limit: 3 })
  t.match(top, { data: { id: [9, 8, 7] }, row_count: 3 })
  const left = (answer: Json) => Number(recordOf(answer['quota'])['rows_remaining'])
  t.equal(left(top), left(groups) - 3)
  const wrong = { ...question, measures: 'average(id)' }
  const refused = await client.callTool({ name: 'aggregate', arguments: wrong })
  t.match(
    errorText(t, refused),
    /\nCorrected call: aggregate \{.+"measures":"avg\(id\)","limit":10\}$/s,
  )
}

/** Seven rows a month: five, then the two that are left, then an error that says so. */
async function useUpQuota(t: Test, client: McpClient): Promise<void> {
  const question = { resource: 'things', limit: 5 }
  const whole = await call(t, client, 'query', question)
  t.match(whole, {
    columns: ['year', 'id', '2110', 'note'],
    data: { '2110': [0, 1, 2, 3, 4], note: ['even', null, 'even', null, 'even'] },
    quota: { rows_remaining: 2, scope: 'resource' },
  })
  t.notHas(whole, { hint: '' })
  const cut = await call(t, client, 'query', { ...question, cursor: whole['next_cursor'] })
  t.match(cut, {
    data: { year: [2023, 2023], id: ['a0', 'a1'] },
    row_count: 2,
    next_cursor: /./,
    quota: { rows_remaining: 0 },
    hint: /cut to the rows left of this month's quota/,
  })
  const refused = await client.callTool({
    name: 'query',
    arguments: { ...question, cursor: cut['next_cursor'] },
  })
  t.match(errorText(t, refused), /^row_quota_exceeded: This month's 7 rows .+ are used/)
}

/** What there is not, and what this token may not see, are told apart by no word. */
async function askForForeign(t: Test, client: McpClient): Promise<void> {
  for (const name of ['describe_resource', 'query', 'aggregate', 'top']) {
    const texts: string[] = []
    for (const resource of ['big', 'nil']) {
      const refused = await client.callTool({ name, arguments: { resource } })
      texts.push(errorText(t, refused).replaceAll(resource, '…'))
    }
    t.match(texts[0], /^not_found: .+list_resources/s)
    t.equal(texts[0], texts[1])
  }
}

async function readResources(t: Test, client: McpClient, stage: Stage, token: string) {
  const { resources } = recordOf(await client.listResources())
  t.match(resources, [
    { uri: 'dataset://things', name: 'things', mimeType: 'application/json' },
    { uri: 'dataset://days', name: 'days', mimeType: 'application/json' },
  ])
  t.equal((resources as readonly unknown[]).length, 2)
  const { contents } = recordOf(await client.readResource({ uri: 'dataset://days' }))
  const [content] = contents as readonly Json[]
  const schema = await stage.world.get('/v1/days/schema', token)
  t.match(content, { uri: 'dataset://days', mimeType: 'application/json' })
  t.same(JSON.parse(String(content?.['text'])), schema.body)
  for (const name of ['big', 'nil']) {
    await t.rejects(client.readResource({ uri: `dataset://${name}` }), {
      message: new RegExp(`Resource not found: dataset://${name}`, 'i'),
    })
  }
}

async function getPrompt(t: Test, client: McpClient): Promise<void> {
  const name = 'check_counterparty'
  const { prompts } = recordOf(await client.listPrompts())
  t.match(prompts, [{ name, arguments: [{ name: 'inn', required: true }] }])
  t.match(await client.getPrompt({ name, arguments: { inn: '7708004767' } }), {
    messages: [{ role: 'user', content: { type: 'text', text: /filter inn eq "7708004767"/ } }],
  })
  await t.rejects(client.getPrompt({ name, arguments: { inn: '12' } }), {
    message: /taxpayer number of 10 digits/,
  })
}

/** The client tells why, and every road that it tried ended in 401, or in 404 where OAuth would be. */
async function isTurnedAway(
  t: Test,
  { log }: World,
  message: RegExp,
  attempt: () => Promise<unknown>,
): Promise<void> {
  const before = log.length
  await t.rejects(attempt(), { message })
  const requests = log
    .slice(before)
    .map((line) => JSON.parse(line) as Json)
    .filter(({ msg }) => msg === 'request')
    .map(({ method, url, status }) => `${String(method)} ${String(url)} ${String(status)}`)
  t.ok(requests.includes('POST /mcp 401'), 'the refusal is a 401')
  const usual =
    /^POST \/mcp 401$|^GET \/mcp 405$|^GET \/(mcp\/)?\.well-known\/\S+ 404$|^POST \/register 404$/
  t.same(
    requests.filter((request) => !usual.test(request)),
    [],
  )
}
