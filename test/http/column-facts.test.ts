import t from 'tap'
import { openControl, usageOf } from '../support/control.js'
import { startShipped } from '../support/shipped.js'
import { filesOnly } from '../support/tables.js'
import { demoToken, startThings } from '../support/things.js'
import { callTool } from '../support/mcp/mcp-messages.js'
import type { World } from '../support/world.js'

interface Facts {
  readonly name: string
  readonly values?: readonly unknown[]
  readonly min?: unknown
  readonly max?: unknown
  readonly null_share?: number
  readonly common?: readonly {
    readonly value: unknown
    readonly share: number
    readonly label?: string
  }[]
  readonly histogram?: {
    readonly edges: readonly unknown[]
    readonly shares: readonly number[]
  }
}

const factNames = ['values', 'min', 'max', 'null_share', 'common', 'histogram'] as const

/** A schema with its facts, if it has any: on a busy machine they come late. */
async function schemaOf(world: World, dataset: string, token: string, query: string) {
  const ask = () => world.get(`/v1/${dataset}/schema${query}`, token)
  let answer = await ask()
  while (answer.body['profiled_rows'] === null) answer = await ask()
  const { status, body, text } = answer
  if (status !== 200) throw new Error(text)
  const columns = body['columns'] as readonly Facts[]
  const column = (name: string) => columns.find((each) => each.name === name)
  return { body, columns, column }
}

await t.test(
  'the schema says of each column what its values are, free of rows',
  filesOnly('shipped'),
  async (t) => {
    const world = await startShipped(t)
    const { token, subscriptionId } = await world.subscribe(['procurement:pro', 'financials:pro'])
    const control = openControl(t, world)
    const { body, columns, column } = await schemaOf(world, 'procurement', token, '?facts=true')
    t.match(body, { profiled_rows: 969, caution: null, rows: 969 })
    t.equal(column('initial_price')?.null_share, 1)
    t.match(column('status'), {
      values: ['E', 'EC', 'ET'],
      common: [
        { value: 'E', share: 0.991 },
        { value: 'EC', share: 0.007 },
        { value: 'ET', share: 0.002 },
      ],
      null_share: 0,
    })
    const { min, max, histogram } = column('price_rub') ?? {}
    t.strictSame([min, max], [307.45, 167705820.32])
    t.strictSame([histogram?.edges.at(0), histogram?.edges.at(-1)], [min, max])
    const total = (histogram?.shares ?? []).reduce((sum, share) => sum + share, 0)
    t.ok(Math.abs(total - 1) < 0.01, `every price is in a bin: ${total}`)
    t.strictSame(column('sign_date')?.histogram?.edges.at(-1), '2018-02-14')
    t.equal(column('supplier_name')?.common, undefined, 'names are data for sale')
    t.ok(columns.every(({ common = [] }) => common.every((each) => !('label' in each))))
    t.ok((column('okpd2')?.common?.length ?? 0) > 1, 'the commonest of many codes')
    for (const [labels, name] of [
      ['true', 'Private ownership'],
      ['ru', 'Частная собственность'],
    ] as const) {
      const query = `?facts=true&labels=${labels}`
      const named = await schemaOf(world, 'financials', token, query)
      t.match(named.column('okfs')?.common?.[0], { value: 16, label: name })
      t.match(named.column('okved')?.common?.[0]?.label, /[а-я]/, 'the only names that there are')
      t.notOk(
        named.column('year')?.common?.some((each) => 'label' in each),
        'not codes',
      )
    }
    t.equal((await usageOf(control, world, subscriptionId)).total, 0)
  },
)

await t.test('facts are those of describe_resource, and only with facts=true', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const { columns } = await schemaOf(world, 'things', token, '?facts=true')
  const { content } = await callTool(world, token, 'describe_resource', { resource: 'things' })
  const shared = columns.map(({ name, values, min, max, null_share: empty }) => ({
    ...{ name, values, min, max },
    ...(empty !== undefined && empty >= 0.1 && { null_share: empty }),
  }))
  t.match(content['columns'], JSON.parse(JSON.stringify(shared)) as object)
  for (const query of ['', '?facts=false']) {
    const plain = await schemaOf(world, 'things', token, query)
    t.notOk(plain.columns.some((column) => factNames.some((name) => name in column)))
    t.notOk('profiled_rows' in plain.body)
  }
})

// Guarantee: facts come from the rows and columns that the token sees, and from no others.
await t.test('facts differ by window, and hidden columns have none', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:last', 'days:pro'])
  const last = await schemaOf(world, 'things', token, '?facts=true')
  t.match(last.column('year'), { values: [2024], common: [{ value: 2024, share: 1 }] })
  t.notMatch(JSON.stringify(last.body), /2022|2023/)
  const demo = await schemaOf(world, 'things', demoToken, '?facts=true')
  t.equal(demo.body['profiled_rows'], 6)
  t.notMatch(JSON.stringify(demo.body), /"a[034]"/)
  const days = await world.get('/v1/days/schema?facts=true', token)
  t.notMatch(days.text, /internal_note|note \d/)
  const [unknown, ungranted] = await Promise.all(
    ['nothing', 'big'].map((name) => world.get(`/v1/${name}/schema?facts=true`, token)),
  )
  t.equal(unknown?.status, 404)
  t.equal(ungranted?.status, 404)
  t.equal(ungranted?.body.detail.replace('big', 'nothing'), unknown?.body.detail)
})

await t.test('a wrong question is refused, and an answer has a tag', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const wrong = await world.get('/v1/things/schema?facts=yes', token)
  t.equal(wrong.status, 400)
  t.match(wrong.body.detail, /facts must be true or false, got "yes"/)
  t.equal((await world.get('/v1/things/schema?facts=true&labels=de', token)).status, 400)
  for (const query of ['facts=', 'facts=true&facts=false', 'facts=false&labels=']) {
    t.equal((await world.get(`/v1/things/schema?${query}`, token)).status, 400, query)
  }
  const url = '/v1/things/schema?facts=true'
  const { headers } = await world.get(url, token)
  const again = await world.get(url, token, {
    headers: { authorization: `Bearer ${token}`, 'if-none-match': String(headers['etag']) },
  })
  t.equal(again.status, 304)
})
