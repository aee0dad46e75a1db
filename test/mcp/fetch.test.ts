import t from 'tap'
import type { Test } from 'tap'
import { callRpc, callTool } from '../support/mcp/mcp-messages.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'

const demo = 'das_demo_firms'

/** Firm `1` has four years, `2` a hundred long ones; `secret` is hidden. */
const files = {
  'data/firms.parquet': `SELECT '1' AS inn, 2021 + i AS year, 'ООО "Астра"' AS name, '62.01' AS okved,
      i * 1000 AS "2110", NULL::BIGINT AS "2400", 0.10 + i AS share, 's' AS secret FROM range(4) t(i)
    UNION ALL SELECT '2', 1875 + i, 'Длинная', NULL, i, i, 0, repeat('x', 10) FROM range(150) t(i)`,
  'data/lots.parquet': `SELECT i AS id, repeat('"', 40000) AS text FROM range(3) t(i)`,
}

const registry = `
demo: {token: ${demo}, rate_per_minute: 1000}
datasets:
  firms:
    title: Firms
    files: data/firms.parquet
    key: [inn, year]
    history: year
    demo: {inn: ['2']}
    entity: {key: inn, name: name, period: year}
    columns:
      okved: {labels: okved.csv}
      '2110': {label: Revenue, unit: thousand RUB, section: Income statement}
      secret: {hidden: true}
    plans:
      all: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 1000}
      two: {rows_per_month: 1000, history: 2, price_rub: 0, rate_per_minute: 1000}
      one: {rows_per_month: 1, history: all, price_rub: 0, rate_per_minute: 1000}
  lots:
    title: Lots
    files: data/lots.parquet
    entity: {key: id}
    plans: {all: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 1000}}
  plain:
    title: Plain
    files: data/lots.parquet
    plans: {all: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 1000}}
`

function startFirms(t: Test): Promise<World> {
  const at = t.testdir({ 'okved.csv': 'code,name\n62.01,Software\n' })
  return startWorld(t, { at, files, registry })
}

async function used(world: World, token: string): Promise<number> {
  const { body } = await world.get('/v1/account', token)
  const datasets = body['datasets'] as readonly { rows: { used: number } }[]
  return datasets.reduce((sum, { rows }) => sum + rows.used, 0)
}

await t.test(
  'fetch gives everything of an entity, newest period first, for its rows',
  async (t) => {
    const world = await startFirms(t)
    const { token } = await world.subscribe(['firms:all'])
    const { content } = await callTool(world, token, 'fetch', { id: 'firms/1' })
    t.match(content, {
      id: 'firms/1',
      title: 'ООО "Астра", 1',
      url: /^http:\/\/.*\/datasets\/firms\/1$/,
      metadata: {
        dataset: 'firms',
        key: '1',
        periods: ['2024', '2023', '2022', '2021'],
        truncated: false,
        quota: { rows_remaining: 996 },
      },
    })
    t.equal(
      content['text'],
      `Values of several rows are divided by " | "; one value is that of all.

inn: 1
year: 2024 | 2023 | 2022 | 2021
name: ООО "Астра"
okved: 62.01 Software
share: 3.10 | 2.10 | 1.10 | 0.10

## Income statement
Revenue (2110), thousand RUB: 3000 | 2000 | 1000 | 0

1 column without a value not shown.`,
    )
    t.equal(await used(world, token), 4)
    const two = await world.subscribe(['firms:two'])
    const window = await callTool(world, two.token, 'fetch', { id: 'firms/1' })
    t.match(window.content, { metadata: { periods: ['2024', '2023'] } }, 'within the window')
    const one = await world.subscribe(['firms:one'])
    const cut = await callTool(world, one.token, 'fetch', { id: 'firms/1' })
    t.match(cut.content, {
      text: /Only the newest 1 row: more do not fit or are not paid\.$/,
      metadata: { periods: ['2024'], truncated: true },
    })
  },
)

await t.test('what does not fit is neither sent nor charged', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:all', 'lots:all'])
  const long = await callTool(world, token, 'fetch', { id: 'firms/2' })
  const { periods } = long.content['metadata'] as { periods: readonly string[] }
  t.equal(periods[0], '2024')
  t.equal(await used(world, token), periods.length)
  t.match(long.content, { text: /Only the newest 100 rows/, metadata: { truncated: true } })
  const wide = await callTool(world, token, 'fetch', { id: 'lots/1' })
  t.notOk(wide.isError, 'a row too long is cut: an error would tell for nothing that it is there')
  t.match(wide.content, { title: '1', text: /… \[cut\]/ })
  t.ok(wide.text.length <= 30_000, String(wide.text.length))
  t.equal(await used(world, token), periods.length + 1)
})

await t.test('whatever is not there, or not to be seen, is one error', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:two', 'plain:all'])
  const ids = [...['firms/9', 'firms/', 'firms', '', '/', 'none/1', 'lots/1', 'lots/x', 'plain/1']]
  for (const id of ids) {
    const { isError, text } = await callTool(world, token, 'fetch', { id })
    t.ok(isError, id)
    t.equal(text, 'not_found: There is no such id. The tools search and find have ids.', id)
  }
  t.equal(await used(world, token), 0)
  t.match((await callTool(world, demo, 'fetch', { id: 'firms/1' })).text, /^not_found/)
  t.notOk((await callTool(world, demo, 'fetch', { id: 'firms/2' })).isError)
})

await t.test('a token without entities is offered neither search nor fetch', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['plain:all'])
  const names = async (token: string) => {
    const { result } = await callRpc(world, token, 'tools/list')
    return (result?.['tools'] as readonly { name: string }[]).map(({ name }) => name)
  }
  const plain = await names(token)
  t.notOk(plain.includes('search') || plain.includes('fetch'))
  t.same((await names(demo)).slice(-2), ['search', 'fetch'])
  const empty = await callTool(world, demo, 'search', { query: ' ' })
  t.equal(empty.text, 'bad_request: query is missing. Example: query: "газпром"')
  const call = { name: 'fetch', arguments: { id: 'lots/1' } }
  const refused = await callRpc(world, token, 'tools/call', call)
  t.match(refused.rpcError, { code: -32602, message: /There is no tool "fetch"/ })
})
