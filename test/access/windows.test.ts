import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { subscribe } from '../control/fixtures/store.js'
import { column, isError } from '../support/answers.js'
import { openRecordsOf } from '../support/database.js'
import { filesOnly } from '../support/tables.js'
import { demoToken, startThings } from '../support/things.js'
import { startOfTest, startWorld, writeParquet } from '../support/world.js'
import type { World } from '../support/world.js'

async function allRows(world: World, token: string, dataset: string, field: string) {
  const answer = await world.get(`/v1/${dataset}?limit=1000&select=${field}`, token)
  return column(answer, field)
}

/** What the list and the schema say of a dataset's rows. */
async function rowsSaid(world: World, token: string, dataset: string): Promise<unknown> {
  const list = (await world.get('/v1/', token)).body.data
  const listed = list.find((each) => each['name'] === dataset)?.['rows']
  const schema = await world.get(`/v1/${dataset}/schema`, token)
  return listed === schema.body['rows'] ? listed : 'list and schema differ'
}

// Guarantee: a row outside a plan's window can't be had, counted or guessed at.
await t.test(
  'a plan sees the latest years of an integer column, counted from the data',
  async (t) => {
    const world = await startThings(t)
    const windows = { last: [2024], two: [2023, 2024], pro: [2022, 2023, 2024] }
    for (const [plan, years] of Object.entries(windows)) {
      const { token } = await world.subscribe([`things:${plan}`])
      const seen = await allRows(world, token, 'things', 'year')
      t.same(
        seen,
        years.flatMap((year) => Array<number>(5).fill(year)),
        plan,
      )
      t.equal(await rowsSaid(world, token, 'things'), years.length * 5, plan)
      const schema = await world.get('/v1/things/schema', token)
      t.match(JSON.stringify(schema.body['examples']), `year=eq.${years[0] ?? 0}`, plan)
      const outside = await world.get('/v1/things?year=eq.2022', token)
      t.equal(outside.status, 200)
      t.equal(outside.body.data.length, plan === 'pro' ? 5 : 0, plan)
      for (const filter of [
        'year=lt.2024',
        'year=in.2022,2023',
        'year=isdistinct.2024',
        'year=is_null',
      ]) {
        const { body } = await world.get(`/v1/things?${filter}&select=year`, token)
        t.ok(
          body.data.every((row) => years.includes(Number(row['year']))),
          `${plan}: ${filter}`,
        )
      }
    }
  },
)

await t.test('a date column counts calendar years', async (t) => {
  const world = await startThings(t)
  const all = await allRows(world, (await world.subscribe(['days:pro'])).token, 'days', 'day')
  t.equal(all.at(-1), '2024-06-19')
  const from = (date: string) => all.filter((day) => String(day) >= date)
  for (const [plan, date] of [
    ['last', '2024-01-01'],
    ['two', '2023-01-01'],
  ] as const) {
    const { token } = await world.subscribe([`days:${plan}`])
    t.same(await allRows(world, token, 'days', 'day'), from(date), plan)
    t.equal(await rowsSaid(world, token, 'days'), from(date).length, plan)
    const { body } = await world.get('/v1/days?day=lt.2023-01-01', token)
    t.same(body.data, [], plan)
  }
})

await t.test(
  'a window ends at the newest value of all files; rows without a value are outside it',
  async (t) => {
    const world = await startWorld(t, {
      files: {
        'data/a.parquet': 'SELECT * FROM (VALUES (2020, 1), (NULL, 2), (2031, 3)) v(year, id)',
        'data/b.parquet': 'SELECT * FROM (VALUES (2030, 4), (2029, 5)) v(year, id)',
        'empty/a.parquet': 'SELECT NULL::INT AS year, 1 AS id',
      },
      storedOrder: { gaps: ['id'], empty: ['id'] },
      registry: `
datasets:
  gaps:
    title: Gaps
    files: data/*.parquet
    history: year
    plans:
      last: {rows_per_month: 100, history: 1, price_rub: 0}
      two: {rows_per_month: 100, history: 2, price_rub: 0}
      pro: {rows_per_month: 100, history: all, price_rub: 0}
  empty:
    title: Empty
    files: empty/*.parquet
    history: year
    plans: {last: {rows_per_month: 100, history: 5, price_rub: 0}}
`,
    })
    const ids = async (grant: string) =>
      allRows(world, (await world.subscribe([grant])).token, grant.split(':')[0] ?? '', 'id')
    t.same(await ids('gaps:last'), [3])
    t.same(await ids('gaps:two'), [3, 4])
    t.same(await ids('gaps:pro'), [1, 2, 3, 4, 5])
    t.same(await ids('empty:last'), [], 'no year, no window')
  },
)

await t.test(
  'a new year that is dropped in moves the windows of tokens sold before',
  filesOnly('replaces'),
  async (t) => {
    const folder = t.testdir({})
    const year = (value: number) => ({
      [`data/${value}.parquet`]: `SELECT ${value} AS year, i AS id FROM range(3) t(i)`,
    })
    await writeParquet(folder, { ...year(2023), ...year(2024) })
    const plan = '{rows_per_month: 100, history: 2, price_rub: 0}'
    writeFileSync(
      join(folder, 'registry.yaml'),
      `datasets: {rows: {title: T, files: data/*.parquet, history: year, plans: {two: ${plan}}}}`,
    )
    const settings = { registry: join(folder, 'registry.yaml'), state: join(folder, 'var') }
    const control = openRecordsOf(settings.state)
    const grants = [{ dataset: 'rows', plan: 'two' }]
    const { token } = await subscribe(control, { grants, now: () => startOfTest })
    await control.close()
    const years = async (t: Test) => {
      const world = await startWorld(t, { files: {}, registry: '', settings })
      return new Set(await allRows(world, token, 'rows', 'year'))
    }
    await t.test('before', async (t) => {
      t.same(await years(t), new Set([2023, 2024]))
    })
    await writeParquet(folder, year(2025))
    await t.test('after', async (t) => {
      t.same(await years(t), new Set([2024, 2025]))
    })
  },
)

// Guarantee: the demo token sees the demo subset, of all years, and nothing besides.
await t.test('the demo token sees its subset; outside it rows are simply not there', async (t) => {
  const world = await startThings(t)
  t.same(await allRows(world, demoToken, 'things', 'id'), ['a1', 'a2', 'a1', 'a2', 'a1', 'a2'])
  t.equal(await rowsSaid(world, demoToken, 'things'), 6)
  for (const filter of [
    'id=eq.a0',
    'id=in.a0,a3,a4',
    'id=not_in.a1,a2',
    '2110=gt.2',
    'id=is_null',
  ]) {
    const answer = await world.get(`/v1/things?${filter}`, demoToken)
    t.equal(answer.text, '{"data":[],"next_cursor":null}', filter)
  }
  const answer = await world.get('/v1/things', demoToken)
  for (const name of ['x-quota-rows-limit', 'x-quota-rows-remaining', 'x-quota-scope']) {
    t.equal(answer.headers[name], undefined, 'no row quota')
  }
  const schema = await world.get('/v1/things/schema', demoToken)
  t.notMatch(JSON.stringify(schema.body['examples']), /a0/)
  isError(t, await world.get('/v1/days', demoToken), 'not_found')
})

// Guarantee: a hidden column is an unknown column, everywhere.
await t.test(
  'a hidden column does not exist: not in rows, schema, filters, hints or texts',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['days:pro'])
    const page = await world.get('/v1/days', token)
    t.same(Object.keys(page.body.data[0] ?? {}), ['id', 'day', 'half'])
    t.notMatch(page.text, /internal|note/)
    for (const url of ['/v1/', '/v1/days/schema', '/v1/account']) {
      t.notMatch((await world.get(url, token)).text, /internal|note/, url)
    }
    t.match((await world.get('/v1/', token)).body.data, [{ name: 'days', columns: 3 }])
    const asked = [
      ['internal_note=eq.x', 'internal_nope=eq.x'],
      ['internal_note=is_null', 'internal_nope=is_null'],
      ['internal_note=gt.x', 'internal_nope=gt.x'],
      ['internal_note=nonsense', 'internal_nope=nonsense'],
      ['select=internal_note', 'select=internal_nope'],
      ['select=id,internal_note', 'select=id,internal_nope'],
      ['internal_not=eq.x', 'internal_nop=eq.x'],
      ['INTERNAL_NOTE=eq.x', 'INTERNAL_NOPE=eq.x'],
      ['filename=eq.x', 'filenope=eq.x'],
      ['file_index=eq.1', 'file_indes=eq.1'],
    ]
    for (const [hidden = '', unknown = ''] of asked) {
      const answer = await world.get(`/v1/days?${hidden}`, token)
      isError(t, answer, 'bad_request', /There is no column or parameter/, hidden)
      const other = await world.get(`/v1/days?${unknown}`, token)
      const name = /\w*(?:internal|file)\w*/i
      t.equal(answer.text.replace(name, ''), other.text.replace(name, ''), hidden)
      t.notMatch(answer.text, /Did you mean[^.]*internal/, hidden)
    }
    const post = await world.post('/v1/days/query', token, { select: ['internal_note'] })
    isError(t, post, 'bad_request', /no column or parameter "internal_note"/)
  },
)
