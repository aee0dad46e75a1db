import t from 'tap'
import { callTool } from '../support/mcp/mcp-messages.js'
import { startShipped } from '../support/shipped.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'

/** The columns of the last example in the schema, of OpenAPI, of the portal and of MCP. */
async function shownBy(world: World, dataset: string, token: string) {
  const schema = await world.get(`/v1/${dataset}/schema`, token)
  const page = await world.get(`/datasets/${dataset}`)
  const guide = await callTool(world, token, 'describe_resource', { resource: dataset })
  const examples = guide.content['examples'] as readonly {
    readonly arguments: { readonly select: readonly string[] }
  }[]
  const selectIn = (text: unknown) => /select=([^&"]*)/.exec(String(text))?.[1] ?? ''
  return {
    schema: selectIn((schema.body['examples'] as readonly string[]).at(-1)),
    portal: selectIn(page.text.replaceAll('&amp;', '&')),
    mcp: examples.at(0)?.arguments.select.join(),
  }
}

await t.test(
  'a first question shows the columns that the registry names, everywhere',
  async (t) => {
    const world = await startShipped(t)
    const { token } = await world.subscribe(['financials:pro', 'procurement:pro'])
    for (const [dataset, names] of [
      ['financials', 'inn,year,name,2110,2400,1600'],
      ['procurement', 'sign_date,price_rub,supplier_name,subject,customer_name,okpd2'],
    ] as const) {
      t.strictSame(await shownBy(world, dataset, token), {
        ...{ schema: names, portal: names, mcp: names },
      })
    }
  },
)

const files = {
  'a.parquet': `SELECT i AS id, NULL::INTEGER AS nothing, 'n' || i AS name, i * 2 AS cost,
    i * 3 AS income, 'x' || i AS secret FROM range(10) t(i)`,
}

function registryWith(more: string): string {
  return `
demo: {token: das_demo_shops, rate_per_minute: 1000}
datasets:
  shops:
    title: Shops
    files: a.parquet
    key: id
    listed: true
    columns: {secret: {hidden: true}}
    measures: {margin: {ratio: income/cost}, of_nothing: {sum: nothing}}
    demo: {id: [1, 2]}
    plans: {pro: {rows_per_month: 1000, history: all, price_rub: 0}}
${more}`
}

await t.test(
  'without them: key, text and what measures are made of, if it holds values',
  async (t) => {
    const world = await startWorld(t, { files, registry: registryWith('') })
    const { token } = await world.subscribe(['shops:pro'])
    const { mcp, schema } = await shownBy(world, 'shops', token)
    t.equal(mcp, 'id,name,income,cost')
    t.equal(schema, 'id,name,income,cost,nothing', 'which reads no values')
  },
)

await t.test('a wrong name is refused with its place, and a hidden one', async (t) => {
  const wrong = registryWith('    first_columns: [id, nme]\n')
  const world = await startWorld(t, { files, registry: wrong })
  const { token } = await world.subscribe(['shops:pro'])
  t.equal((await world.get('/v1/shops?id=eq.1', token)).status, 503)
  t.match(world.log.join(''), /there is no column \\"nme\\"\. Did you mean \\"name\\"\?/)
  const hidden = registryWith('    first_columns: secret\n')
  const other = await startWorld(t, { files, registry: hidden, at: t.testdir({ other: {} }) })
  t.match(other.log.join(''), /registry\.yaml:\d+:\d+: column \\"secret\\" is hidden/)
})
