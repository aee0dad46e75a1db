import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { callTool } from '../support/mcp/mcp-messages.js'
import { startWorld, writeParquet } from '../support/world.js'
import { compared } from './fixtures/copies.js'

const registry = `
datasets:
  firms:
    title: Firms
    files: data/*.parquet
    key: inn
    allow_breaking: true
    allow_repeated_keys: true
    columns: {secret: {hidden: true}}
    plans:
      pro: {rows_per_month: 100, history: all, price_rub: 10, rate_per_minute: 100000}
`

/** A world after the first file was replaced by the others, one after another. */
async function replaced(t: Test, [first = '', ...others]: readonly string[]) {
  const at = 'data/a.parquet'
  const world = await startWorld(t, { files: { [at]: first }, registry })
  const { token } = await world.subscribe(['firms:pro'])
  const since = world.app.catalog().datasets.get('firms')?.version?.id ?? ''
  for (const rows of others) {
    await writeParquet(world.folder, { [at]: rows })
    await world.app.reload(true)
    await compared(world, 'firms', token)
  }
  const changes = (question = `since=${since}`) => world.get(`/v1/firms/changes?${question}`, token)
  return { world, token, changes }
}

const rows = (list: string) => `SELECT * FROM (VALUES ${list}) t(inn, v, secret)`

await t.test(
  'several versions fold to one change a key, and each change costs a row',
  async (t) => {
    const { world, token, changes } = await replaced(t, [
      rows("('a', 1, 1), ('b', 2, 1), ('c', 3, 1)"),
      rows("('a', 9, 2), ('c', 3, 1), ('d', 4, 1)"),
      rows("('a', 1, 3), ('b', 5, 1), ('c', 3, 2)"),
    ])
    const { status, body, headers } = await changes()
    t.equal(status, 200)
    t.same(body.data, [{ change: 'changed', fields: ['v'], row: { inn: 'b', v: 5 } }])
    t.equal(headers['x-rows-charged'], '1')
    const none = await changes(`since=${String(body['version'])}`)
    t.same([none.body.data, none.headers['x-rows-charged']], [[], '0'])
    const unknown = await changes('since=0000000000000000')
    t.equal(unknown.status, 400)
    t.match(unknown.body.detail, /take an export, and go on from version/)
    t.equal((await changes('')).status, 400)
    const unfiltered = { resource: 'firms', filters: [], select: ['inn'] }
    const asked = await callTool(world, token, 'changes', unfiltered)
    t.ok(asked.isError, 'the list of versions drops no part of a question')
    t.match(asked.text, /since is missing/)
    t.notOk((await callTool(world, token, 'changes', { resource: 'firms' })).isError)
    t.equal((await world.get('/v1/firms/changes?since=x&secret=eq.1', token)).status, 400)
  },
)

await t.test('without a unique key that is never empty there are no changes', async (t) => {
  for (const after of ["('a', 1, 1), ('a', 2, 1)", "('a', 1, 1), (NULL, 2, 1)"]) {
    const { changes } = await replaced(t, [rows("('a', 1, 1), ('b', 2, 1)"), rows(after)])
    t.equal((await changes()).status, 404, after)
  }
})

await t.test(
  'a quota that ends within a walk pays for what is delivered, and the walk goes on',
  async (t) => {
    const count = 105
    const all = (v: number) =>
      `SELECT printf('%03d', i) AS inn, ${v} AS v, 0 AS secret FROM range(${count}) t(i)`
    const { world, token, changes } = await replaced(t, [all(1), all(2)])
    const since = String((await world.get('/v1/firms/versions', token)).body.data[1]?.['version'])
    const found: string[] = []
    let [charged, cursor] = [0, '']
    for (const limit of [60, 60, 60]) {
      const page = await changes(`since=${since}&limit=${limit}${cursor}`)
      if (page.status !== 200) {
        t.equal(page.body.error, 'row_quota_exceeded')
        break
      }
      found.push(...page.body.data.map(({ row }) => (row as { inn: string }).inn))
      charged += Number(page.headers['x-rows-charged'])
      cursor = `&cursor=${String(page.body.next_cursor)}`
    }
    t.same([found.length, charged], [100, 100])
    world.clock.ms = Date.UTC(2026, 11, 1)
    const rest = await changes(`limit=60${cursor}`)
    found.push(...rest.body.data.map(({ row }) => (row as { inn: string }).inn))
    t.same(
      found,
      Array.from({ length: count }, (_, i) => String(i).padStart(3, '0')),
    )
    t.same([rest.body.next_cursor, rest.headers['x-rows-charged']], [null, '5'])
  },
)

await t.test(
  'rows that a plan shows again, as its newest year went back, need an export',
  async (t) => {
    const years = registry
      .replace('    key: inn', '    history: year\n    key: inn')
      .replace('history: all', 'history: 1')
    const of = (list: string) => ({
      'data/a.parquet': `SELECT * FROM (VALUES ${list}) t(inn, year, secret)`,
    })
    const [right, wrong] = ["('a', 2024, 1), ('b', 2024, 1)", "('a', 2042, 1), ('b', 2024, 1)"]
    const world = await startWorld(t, { files: of(right), registry: years })
    const { token } = await world.subscribe(['firms:pro'])
    const sinceThen = async () => {
      const since = world.app.catalog().datasets.get('firms')?.version?.id ?? ''
      return () => world.get(`/v1/firms/changes?since=${since}`, token)
    }
    const replace = async (list: string) => {
      await writeParquet(world.folder, of(list))
      await world.app.reload(true)
      await compared(world, 'firms', token)
    }
    const forward = await sinceThen()
    await replace(wrong)
    t.match((await forward()).body, { from: 2042, data: [{ change: 'added', row: { inn: 'a' } }] })
    const back = await sinceThen()
    await replace("('a', 2025, 1), ('b', 2024, 1)")
    t.match((await back()).body.detail, /rows again.*take an export/)
    t.match((await forward()).body, { from: 2025, data: [{ change: 'added' }] })
  },
)

await t.test("a delivery that was rolled back stands in nobody's way", async (t) => {
  const good = rows("('a', 2, 1), ('b', 2, 1)")
  const { changes } = await replaced(t, [
    rows("('a', 1, 1), ('b', 2, 1)"),
    good,
    // Nothing can be told of a key that repeats.
    rows("('a', 2, 1), ('a', 3, 1)"),
    good,
  ])
  t.same((await changes()).body.data, [
    { change: 'changed', fields: ['v'], row: { inn: 'a', v: 2 } },
  ])
})

await t.test('what a column held while it was hidden is told by no later version', async (t) => {
  const { world, token, changes } = await replaced(t, [
    rows("('a', 1, 5), ('b', 1, 5)"),
    rows("('a', 2, 6), ('b', 1, 5)"),
  ])
  const path = join(world.folder, 'registry.yaml')
  writeFileSync(path, registry.replace('columns: {secret: {hidden: true}}', 'columns: {}'))
  await writeParquet(world.folder, { 'data/a.parquet': rows("('a', 3, 6), ('b', 1, 5)") })
  await world.app.reload(true)
  await compared(world, 'firms', token)
  const since = String((await world.get('/v1/firms/versions', token)).body.data.at(-1)?.['version'])
  t.same((await changes(`since=${since}&secret=eq.5&inn=eq.a`)).body.data, [], 'was never seen')
  const { body } = await changes(`since=${since}&select=inn,secret`)
  t.same(body.data, [
    { change: 'changed', fields: ['secret'], row: { inn: 'a', secret: 6 } },
    { change: 'changed', fields: ['secret'], row: { inn: 'b', secret: 5 } },
  ])
})

await t.test('a renamed column is another one', async (t) => {
  const { changes } = await replaced(t, [
    rows("('a', 1, 1), ('b', 2, 1)"),
    "SELECT * FROM (VALUES ('a', 1, 1), ('c', 2, 1)) t(inn, u, secret)",
  ])
  t.match((await changes()).body, { error: 'bad_request', detail: /take an export/ })
})

await t.test('a column of another type is refused where it is asked for', async (t) => {
  const { changes } = await replaced(t, [
    rows("('a', 1, 1), ('b', 2, 1)"),
    rows("('a', '1', 1), ('c', '2', 1)"),
  ])
  t.equal((await changes()).status, 400)
})
