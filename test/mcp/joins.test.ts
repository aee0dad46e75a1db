import t from 'tap'
import { describeResource } from '../support/mcp/mcp-messages.js'
import { startWorld } from '../support/world.js'

/** Guarantee: joins name no dataset and no column that the token can't read. */

const plans = 'plans: {all: {rows_per_month: 100, history: all, price_rub: 0}}'
const registry = `
datasets:
  firms:
    title: Firms
    files: firms.parquet
    entity: {key: inn, name: name}
    links: {deals: {buyer: inn, seller: inn, secret: inn}, loans: {debtor: inn}}
    ${plans}
  deals:
    title: Deals
    files: deals.parquet
    columns: {secret: {hidden: true}}
    ${plans}
  loans:
    title: Loans
    files: loans.parquet
    ${plans}
`
const files = {
  'firms.parquet': "SELECT '007' AS inn, 'A' AS name",
  'deals.parquet': "SELECT '007' AS buyer, '008' AS seller, '007' AS secret",
  'loans.parquet': "SELECT '007' AS debtor",
}

await t.test('a description says which columns join two datasets of the token', async (t) => {
  const world = await startWorld(t, { files, registry })
  const of = async (granted: readonly string[]) => {
    const { token } = await world.subscribe(granted.map((name) => `${name}:all`))
    const described = await Promise.all(
      granted.map((resource) => describeResource(world, token, resource)),
    )
    return described.map(({ content }) => content['joins'])
  }
  const deals = ['buyer = firms.inn', 'seller = firms.inn']
  t.same(await of(['firms', 'deals', 'loans']), [
    ['inn = deals.buyer', 'inn = deals.seller', 'inn = loans.debtor'],
    deals,
    ['debtor = firms.inn'],
  ])
  t.same(await of(['firms', 'deals']), [['inn = deals.buyer', 'inn = deals.seller'], deals])
  for (const name of ['firms', 'deals', 'loans']) {
    const [joins = []] = await of([name])
    t.same(joins, [], name)
  }
})
