import t from 'tap'
import { callRpc, callTool } from '../support/mcp/mcp-messages.js'
import { startWorld } from '../support/world.js'
import type { Answer, World } from '../support/world.js'

// Guarantee: a hidden column is an unknown column, everywhere: no answer of any door holds its name
// or a value of it, not even where it is the key, the history or the demo subset's column.

const registry = `
demo: {token: das_demo_hidden, rate_per_minute: 10000}
datasets:
  sales:
    title: Sales
    files: data/*.parquet
    key: [qxhidden_key, id]
    history: qxhidden_day
    require_filter: true
    listed: true
    columns: {qxhidden_key: {hidden: true}, qxhidden_day: {hidden: true}, qxhidden_note: {name: qxhidden_shown, hidden: true, description: qxhidden_words, unit: qxhidden_unit}}
    demo: {qxhidden_key: [qxhidden_value1]}
    plans: &plans
      all: {rows_per_month: 1000000, history: all, price_rub: 0, rate_per_minute: 10000}
      one: {rows_per_month: 1000000, history: 1, price_rub: 0, rate_per_minute: 10000}
      tiny: {rows_per_month: 1, history: all, price_rub: 0, rate_per_minute: 10000}
  free:
    title: Free
    files: data/*.parquet
    key: qxhidden_key
    history: qxhidden_day
    listed: true
    columns: {qxhidden_key: {hidden: true}, qxhidden_day: {hidden: true}, qxhidden_note: {hidden: true}}
    plans: *plans
prompts:
  - name: check_counterparty
    title: Check
    description: Check a company.
    datasets: [sales]
    arguments: [{name: inn, description: a number}]
    text: 'Check {inn}.'
`

/** Hidden names and the texts in hidden columns begin with `qxhidden`; their dates are old. */
const files = Object.fromEntries(
  [1803, 1804].map((year) => [
    `data/${year}.parquet`,
    `SELECT 'qxhidden_value' || i AS qxhidden_key, DATE '${year}-03-05' AS qxhidden_day, i AS id, 'kind' || i % 2 AS kind,
       i / 8 AS share, 'qxhidden_note' || i AS qxhidden_note FROM range(6) t(i)`,
  ]),
)
const storedOrder = { sales: ['qxhidden_day', 'id'], free: ['qxhidden_day', 'id'] }
const hidden = /qxhidden|180[34]-0/

interface Said {
  readonly where: string
  readonly text: string
}

function said(where: string, { text, headers }: Answer): Said {
  return { where, text: `${JSON.stringify(headers)}\n${text}` }
}

/** What a caller of REST without an unknown name in the request is answered. */
async function restAnswers(world: World, token: string, dataset: string): Promise<readonly Said[]> {
  const path = `/v1/${dataset}`
  const urls = [
    '/v1/',
    '/v1/account',
    '/openapi.json',
    `/docs/${dataset}`,
    `${path}/schema`,
    path,
    ...['json', 'ndjson', 'csv', 'parquet'].map((format) => `${path}?id=gte.0&format=${format}`),
    `${path}?id=gte.0&limit=1`,
    `${path}?id=eq.77`,
    `${path}?kind=eq.kind7&id=eq.1`,
    `${path}?id=like.1`,
    `${path}?id=eq.x`,
    `${path}?idd=eq.1`,
    `${path}?select=kind,kinds`,
    `${path}?id=gte.0&cursor=x`,
    `${path}?id=gte.0&limit=5000`,
    `${path}/export?id=gte.0`,
    `${path}/export?id=gte.0&format=csv`,
  ]
  const answers: Said[] = []
  for (const url of urls) {
    answers.push(said(url, await world.get(url, token)))
    answers.push(said(`HEAD ${url}`, await world.get(url, token, { method: 'HEAD' })))
  }
  for (const question of [
    {},
    { filters: [{ column: 'id', op: 'gte', value: 0 }] },
    { select: [] },
  ]) {
    answers.push(said(`POST ${dataset}`, await world.post(`${path}/query`, token, question)))
  }
  return answers
}

/** The same of an agent. */
async function mcpAnswers(world: World, token: string, resource: string): Promise<readonly Said[]> {
  const filters = (column: string, op: string, value: unknown) => [{ column, op, value }]
  const calls: readonly (readonly [string, object])[] = [
    ['list_resources', {}],
    ['describe_resource', { resource }],
    ['describe_resource', { resource: 'nothing' }],
    ['query', { resource }],
    ['query', { resource, filters: filters('id', 'gte', 0) }],
    ['query', { resource, filters: filters('id', 'eq', 77) }],
    ['query', { resource, filters: filters('kind', 'eq', 'kind7') }],
    [
      'query',
      { resource, filters: [...filters('kind', 'eq', 'kind7'), ...filters('id', 'eq', 1)] },
    ],
    ['query', { resource, filters: filters('idd', 'eq', 1) }],
    ['query', { resource, filters: filters('id', 'near', 1) }],
    ['query', { resource, filters: filters('id', 'eq', 'x') }],
    ['query', { resource, select: ['kinds'] }],
  ]
  const answers: Said[] = []
  for (const [tool, args] of calls) {
    const { answer } = await callTool(world, token, tool, args)
    answers.push(said(`${tool} ${JSON.stringify(args)}`, answer))
  }
  const messages = [
    ['tools/list', {}],
    ['resources/list', {}],
    ['resources/templates/list', {}],
    ['resources/read', { uri: `dataset://${resource}` }],
    ['prompts/list', {}],
    ['prompts/get', { name: 'check_counterparty', arguments: { inn: '7708004767' } }],
  ] as const
  for (const [method, params] of messages) {
    answers.push(said(method, await callRpc(world, token, method, params)))
  }
  return answers
}

await t.test('no answer of any door holds a hidden name or value', async (t) => {
  const world = await startWorld(t, { files, registry, storedOrder })
  const callers: (readonly [string, string])[] = [['demo', 'das_demo_hidden']]
  for (const plan of ['all', 'one', 'tiny']) {
    callers.push([plan, (await world.subscribe([`sales:${plan}`, `free:${plan}`])).token])
  }
  const answers: Said[] = []
  for (const [caller, token] of callers) {
    for (const dataset of ['sales', 'free']) {
      const both = [
        ...(await restAnswers(world, token, dataset)),
        ...(await mcpAnswers(world, token, dataset)),
      ]
      answers.push(...both.map(({ where, text }) => ({ where: `${caller}: ${where}`, text })))
    }
  }
  for (const path of [
    '/',
    '/datasets/sales',
    '/datasets/free',
    '/account',
    '/docs',
    '/docs/sales',
    '/docs/free',
    '/openapi.json',
  ]) {
    for (const headers of [{}, { 'accept-language': 'ru' }]) {
      answers.push(said(path, await world.get(path, undefined, { headers })))
    }
  }
  const telling = answers.filter(({ text }) => hidden.test(text))
  t.same(
    telling.map(({ where }) => where),
    [],
  )
  const seen = answers.filter(({ text }) => text.includes('kind0'))
  t.ok(answers.length > 400 && seen.length > 40, `${answers.length} ${seen.length}`)
})

await t.test('a hidden name is answered like any name that is not there', async (t) => {
  const world = await startWorld(t, { files, registry, storedOrder })
  const { token } = await world.subscribe(['sales:one', 'free:all'])
  for (const [name, unknown] of [
    ['qxhidden_key', 'vwhidden_key'],
    ['qxhidden_day', 'vwhidden_day'],
    ['qxhidden_note', 'vwhidden_note'],
    ['qxhidden_shown', 'vwhidden_shown'],
  ] as const) {
    const ask = async (column: string) => {
      const filters = [{ column, op: 'eq', value: 'qxhidden_value1' }]
      const texts = [
        (await world.get(`/v1/sales?${column}=eq.qxhidden_value1`, token)).text,
        (await world.get(`/v1/sales?id=eq.1&${column}=gt.1`, token)).text,
        (await world.get(`/v1/free?select=id,${column}`, token)).text,
        (await world.get(`/v1/free/export?select=${column}`, token)).text,
        (await world.post('/v1/free/query', token, { filters })).text,
        (await world.post('/v1/free/query', token, { select: [column] })).text,
        (await callTool(world, token, 'query', { resource: 'free', filters })).text,
        (await callTool(world, token, 'query', { resource: 'free', select: [column] })).text,
      ]
      return texts.map((text) => text.replaceAll(column, '~'))
    }
    const [answer, expected] = [await ask(name), await ask(unknown)]
    t.same(answer, expected, name)
    for (const text of answer) t.match(text, /There is no column (?:or parameter )?\\?"/)
  }
})
