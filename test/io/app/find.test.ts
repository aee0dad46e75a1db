import { writeFileSync } from 'node:fs'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { listDatasetStates } from '../../../src/control/dataset-state.js'
import { openControl } from '../../support/control.js'
import { logged } from '../../support/logged.js'
import { callTool } from '../../support/mcp/mcp-messages.js'
import { startWorld, writeParquet } from '../../support/world.js'
import type { World } from '../../support/world.js'

const demo = 'das_demo_firms'

/** `firms`: four columns, five firms; one has changed its name. */
const files = {
  'data/2022.parquet': rowsOf(`('01', 2022, 'ООО "Ромашка"', 10), ('02', 2022, 'АО "Василёк"', 20),
    ('03', 2022, 'ООО "Старый сад"', 5)`),
  'data/2024.parquet': rowsOf(`('01', 2024, 'ООО "Астра"', 30), ('02', 2024, 'АО "Василёк"', 90),
    ('04', 2024, 'ООО "Василёк плюс"', 12345678901234567)`),
  'other/firms.parquet': `SELECT 7 AS id, 'Василёк' AS title`,
}

function rowsOf(values: string): string {
  return `SELECT * FROM (VALUES ${values}) AS t(inn, year, name, "2110")`
}

const registry = `
demo: {token: ${demo}, rate_per_minute: 1000}
datasets:
  firms:
    title: Firms
    files: data/*.parquet
    key: [inn, year]
    history: year
    listed: true
    pack: 'off'
    columns: {'2110': {json: string}}
    entity: {key: inn, name: name, period: year, rank: '2110', aliases: aliases.csv}
    demo: {inn: ['02']}
    plans:
      new: {rows_per_month: 100, history: 1, price_rub: 0}
      all: {rows_per_month: 100, history: all, price_rub: 0}
      few: {rows_per_month: 4, history: all, price_rub: 0}
  shops:
    title: Shops
    files: other/*.parquet
    entity: {key: id, name: title}
    plans:
      all: {rows_per_month: 100, history: all, price_rub: 0}
  plain:
    title: Plain
    files: other/*.parquet
    plans:
      all: {rows_per_month: 100, history: all, price_rub: 0}
`

async function startFirms(t: Test): Promise<World> {
  const folder = t.testdir({ 'aliases.csv': 'key,alias\n02,Синий цветок\n' })
  const world = await startWorld(t, { at: folder, files, registry })
  void world.app.prepare()
  await logged(world, '"packed"', 2)
  return world
}

const at = (path: string, q: string) => `${path}?q=${encodeURIComponent(q)}`

await t.test('entities are found by name and key, as the caller may see them', async (t) => {
  const world = await startFirms(t)
  const tokens = {
    all: (await world.subscribe(['firms:all'])).token,
    new: (await world.subscribe(['firms:new'])).token,
    demo,
  }
  const find = async (who: keyof typeof tokens, q: string) => {
    const { status, body } = await world.get(at('/v1/firms/find', q), tokens[who])
    t.equal(status, 200, q)
    return body.data
  }

  await t.test('an entry is of the newest period, with the digits of the rows', async (t) => {
    t.same(await find('all', 'василек плюс'), [
      {
        dataset: 'firms',
        key: '04',
        name: 'ООО "Василёк плюс"',
        period: 2024,
        rank: '12345678901234567',
        match: 'exact',
        matched: 'ООО "Василёк плюс"',
      },
    ])
    t.match(await find('all', '0'), [{ key: '04' }, { key: '02' }, { key: '01' }, { key: '03' }])
    t.match(await find('all', '02'), [{ key: '02', match: 'key', matched: '02', rank: '90' }])
    t.match(await find('all', 'синий цветок'), [{ key: '02', matched: 'Синий цветок' }])
  })
  await t.test('a former name counts in the periods in which it stood', async (t) => {
    const found = { key: '01', name: 'ООО "Астра"', period: 2024, matched: 'ООО "Ромашка"' }
    t.match(await find('all', 'ромашка'), [found])
    t.same(await find('new', 'ромашка'), [], 'the plan has 2024 only')
    t.match(await find('new', 'астра'), [{ key: '01' }])
    t.same(await find('new', 'старый сад'), [])
    t.same(await find('new', '03'), [])
  })
  await t.test('the demo token finds what is in its subset, and nothing else', async (t) => {
    t.match(await find('demo', 'василёк'), [{ key: '02', period: 2024 }])
    t.equal((await find('demo', 'василёк')).length, 1)
    for (const q of ['астра', 'ромашка', '01', '0', 'василёк плюс']) {
      const keys = (await find('demo', q)).map((entry) => entry['key'])
      t.same(
        keys.filter((key) => key !== '02'),
        [],
        q,
      )
    }
    const url = `${at('/v1/firms/find', 'астро')}&explain=true`
    const { text } = await world.get(url, demo)
    t.notMatch(text, /астра/i, 'no name beyond it is told')
  })
  await t.test('without an entity, and without a grant: 404', async (t) => {
    const { token } = await world.subscribe(['plain:all'])
    t.equal((await world.get(at('/v1/plain/find', 'x'), token)).status, 404)
    const [forbidden, unknown] = [
      await world.get(at('/v1/firms/find', 'x'), token),
      await world.get(at('/v1/nothing/find', 'x'), token),
    ]
    t.equal(forbidden.status, 404)
    t.same(forbidden.body, unknown.body)
    t.same((await world.get(at('/v1/find', 'василёк'), token)).body.data, [])
  })
  await t.test('mistakes are refused, and free', async (t) => {
    for (const query of ['', 'q=', 'q=a&limit=0', 'q=a&limit=51', 'q=a&limit=x', 'q=a&inn=eq.1']) {
      const { status, body } = await world.get(`/v1/firms/find?${query}`, tokens.all)
      t.equal(status, 400, query)
      t.equal(body.error, 'bad_request')
    }
    t.equal((await world.get(`/v1/firms/find?q=${'a'.repeat(201)}`, tokens.all)).status, 400)
    t.equal((await world.get('/v1/firms/find?q=a&explain=maybe', tokens.all)).status, 400)
  })
  await t.test('the reference has the path of datasets with an entity', async (t) => {
    const { body } = await world.get('/openapi.json', tokens.all)
    const paths = Object.keys(body['paths'] as object)
    t.ok(paths.includes('/v1/firms/find') && paths.includes('/v1/find'))
  })
  await t.test('agents have the same as a tool', async (t) => {
    const answer = await callTool(world, tokens.all, 'find', { q: 'василек плюс' })
    t.match(answer.content, {
      data: [{ dataset: 'firms', key: '04', match: 'exact', rank: '12345678901234567' }],
      quota: { scope: 'resource' },
    })
    const { content } = await callTool(world, tokens.all, 'search', { query: 'василек плюс' })
    t.match(content, {
      results: [
        {
          id: 'firms/04',
          title: 'ООО "Василёк плюс", 04',
          url: /\/datasets\/firms\/04$/,
        },
      ],
    })
    const read = await callTool(world, tokens.all, 'fetch', { id: 'firms/04' })
    t.match(read.content, { text: /2110: 12345678901234567/ })
    const nothing = await callTool(world, tokens.all, 'search', { query: 'ххххх' })
    t.same(nothing.content, { results: [] })
    const none = await callTool(world, tokens.all, 'find', { q: 'ххххх', resource: 'firms' })
    t.match(none.content, { data: [], explained: { nowhere: ['ххххх'] } })
  })
})

await t.test('each entry costs its share of a row, and nothing found is free', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:all', 'shops:all'])
  const cost = async (url: string, method: 'GET' | 'HEAD' = 'GET') => {
    const { status, headers } = await world.get(url, token, { method })
    t.equal(status, 200, url)
    return headers['x-rows-charged']
  }
  t.equal(await cost(at('/v1/firms/find', 'астра')), '1', 'four cells of four columns')
  t.equal(await cost(at('/v1/firms/find', '0')), '4')
  t.equal(await cost(at('/v1/firms/find', 'нетничего')), '0')
  t.equal(await cost(`${at('/v1/firms/find', 'нетничего')}&explain=true`), '1')
  t.equal(await cost(at('/v1/firms/find', '0'), 'HEAD'), undefined)
  const both = await world.get(at('/v1/find', 'василёк'), token)
  t.match(both.body.data, [
    { dataset: 'firms', key: '02', match: 'exact' },
    { dataset: 'shops', key: 7, match: 'exact', matched: 'Василёк' },
    { dataset: 'firms', key: '04', match: 'prefix' },
  ])
  t.notOk(Object.hasOwn(both.body.data[1] ?? {}, 'period'), 'only what the entity declares')
  t.equal(both.headers['x-rows-charged'], '3')
  const none = await world.get(`${at('/v1/find', 'ромашкаа нетничего')}&explain=true`, token)
  t.same(none.body['explained'], { nowhere: ['нетничего'], nearest: ['ООО "Ромашка"'] })
  t.equal(none.headers['x-rows-charged'], '2', 'a row of each dataset')
  const usage = (await world.get('/v1/account', token)).body['datasets']
  t.match(usage, [
    { name: 'firms', rows: { used: 9 } },
    { name: 'shops', rows: { used: 2 } },
  ])
})

await t.test('what may be dearer than what is left is refused unread', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:few', 'shops:all'])
  for (const q of ['астра', 'нетничего']) {
    const { status, body } = await world.get(at('/v1/firms/find', q), token)
    t.equal(status, 429, 'whatever is there')
    t.match(body, { error: 'row_quota_exceeded', detail: /^Up to 10 rows needed, 4 left: limit=4/ })
  }
  t.equal((await world.get(`${at('/v1/firms/find', '0')}&limit=4`, token)).body.data.length, 4)
  const rest = await world.get(at('/v1/find', 'василёк'), token)
  t.match(rest.body.data, [{ dataset: 'shops' }])
  t.equal(rest.headers['x-left-out'], 'firms')
  t.equal(rest.headers['x-quota-scope'], undefined, 'no quota is over all datasets')
  const search = await callTool(world, token, 'search', { query: 'василёк' })
  t.match(search.content, { results: [{ id: 'shops/7' }], left_out: ['firms'] })
  const silent = await world.get(`${at('/v1/find', 'астра')}&explain=true`, token)
  t.same(silent.body, { data: [] }, 'what was not asked may have the word')
  t.equal(silent.headers['x-rows-charged'], '0')
  const { token: only } = await world.subscribe(['firms:few'])
  t.match(await world.get(at('/v1/find', 'василёк'), only), { status: 429 }, 'nothing was asked')
  t.ok((await callTool(world, only, 'search', { query: 'василёк' })).isError)
})

await t.test('of requests at once, none pays for what it does not answer', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:few', 'shops:all'])
  const url = `${at('/v1/find', 'василёк')}&limit=4`
  const answers = await Promise.all(Array.from({ length: 3 }, () => world.get(url, token)))
  const charged = answers.reduce((sum, { headers }) => sum + Number(headers['x-rows-charged']), 0)
  for (const { status, body, headers } of answers) {
    t.equal(status, 200, JSON.stringify(body))
    const isWhole = headers['x-left-out'] === undefined
    t.equal(body.data.length, isWhole ? 3 : 1)
  }
  const usage = (await world.get('/v1/account', token)).body['datasets']
  t.match(usage, [{ rows: { used: 4 } }, { rows: { used: 3 } }])
  t.equal(charged, 7)
})

await t.test('a part of the answer, or another format, is refused free of charge', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:all'])
  for (const path of ['/v1/find', '/v1/firms/find']) {
    const ask = (headers: Record<string, string>) => world.get(at(path, '0'), token, { headers })
    t.match(await ask({ range: 'bytes=0-5' }), { status: 400 })
    t.match(await ask({ accept: 'text/csv' }), { status: 406 })
  }
  const miss = { q: 'нетничего', explain: false }
  t.notOk(Object.hasOwn((await callTool(world, token, 'find', miss)).content, 'explained'))
  const digits = await callTool(world, token, 'find', { q: 0 })
  t.match(digits.content, { data: [{ key: '04' }, {}, {}, {}] })
  t.match((await world.get('/v1/account', token)).body['datasets'], [{ rows: { used: 4 } }])
})

await t.test('a visitor finds demo entities, and reads a page of each', async (t) => {
  const world = await startFirms(t)
  const accept = { headers: { accept: 'text/html' } }
  const found = await world.get(at('/datasets/firms/find', 'васелек'), undefined, accept)
  t.equal(found.status, 200)
  t.match(found.text, 'href="/datasets/firms/02"')
  t.notMatch(found.text, /плюс/)
  const form = 'action="/datasets/firms/find"'
  for (const path of ['/', '/datasets/firms']) {
    t.match((await world.get(path, undefined, accept)).text, form, path)
  }
  const page = await world.get('/datasets/firms/02', undefined, accept)
  t.equal(page.status, 200)
  t.match(page.text, /<h1>АО &quot;Василёк&quot;<\/h1>/)
  for (const key of ['01', '04', '99']) {
    const { status, text } = await world.get(`/datasets/firms/${key}`, undefined, accept)
    t.equal(status, 404, key)
    t.notMatch(text, /Астра|плюс/)
  }
  t.equal((await world.get('/datasets/shops/7', undefined, accept)).status, 404, 'not listed')
})

await t.test('the index follows the files, and is made again when it is damaged', async (t) => {
  const world = await startFirms(t)
  const { token } = await world.subscribe(['firms:all'])
  const find = (q: string) => world.get(at('/v1/firms/find', q), token)
  const control = openControl(t, world)
  const state = (await listDatasetStates(control)).find(({ dataset }) => dataset === 'firms')
  t.same(JSON.parse(state?.packing ?? ''), [{ form: 'names', state: 'made' }], 'no other form')
  await writeParquet(world.folder, { 'data/2025.parquet': rowsOf(`('05', 2025, 'Клевер', 1)`) })
  await logged(world, '"packed"', 3)
  t.match((await find('клевер')).body.data, [{ key: '05', period: 2025 }])
  const forms = join(world.folder, 'var/versions/firms/forms')
  for (const name of readdirSync(forms).filter((each) => each.endsWith('.names'))) {
    writeFileSync(join(forms, name), 'no index')
  }
  const damaged = await find('василёк')
  t.match(damaged, { status: 503, body: { error: 'service_unavailable' } })
  t.notMatch(damaged.text, /SQLITE|forms/)
  await logged(world, '"packed"', 4)
  t.match((await find('клевер')).body.data, [{ key: '05' }])
})

await t.test(
  'the newest row names an entity, also within a year and without a history',
  async (t) => {
    const of = (column: string, values: string) =>
      `SELECT * FROM (VALUES ${values}) AS t(id, ${column}, name, size)`
    const dated = of(
      'day',
      `('1', DATE '2024-01-31', 'Азбука', 1), ('1', DATE '2024-12-31', 'Яблоко', 2),
     ('2', DATE '2024-05-05', 'Яблоко', NULL), ('2', DATE '2020-05-05', 'Старое яблоко', 100)`,
    )
    const plain = of('y', `('1', 2020, 'Азбука', 1), ('1', 2024, 'Яблоко', 2)`)
    const entry = (name: string, more: string) => `
  ${name}:
    title: T
    files: data/${name}.parquet
    ${more}
    plans: {all: {rows_per_month: 100, history: all, price_rub: 0}}`
    const world = await startWorld(t, {
      files: {
        'data/dated.parquet': dated,
        'data/plain.parquet': plain,
        'data/none.parquet': `${plain} LIMIT 0`,
      },
      registry: `datasets:${[
        entry('dated', 'history: day\n    entity: {key: id, name: name, period: day, rank: size}'),
        entry('plain', 'entity: {key: id, name: name, period: y, rank: size}'),
        entry('none', 'entity: {key: id, name: name}'),
      ].join('')}\n`,
    })
    void world.app.prepare()
    await logged(world, '"packed"', 2)
    const { token } = await world.subscribe(['dated:all', 'plain:all', 'none:all'])
    const find = async (path: string, q: string) => (await world.get(at(path, q), token)).body.data
    t.match(await find('/v1/dated/find', 'азбука'), [
      { key: '1', name: 'Яблоко', period: '2024-12-31', rank: 2, matched: 'Азбука' },
    ])
    t.match(await find('/v1/plain/find', 'азбука'), [{ name: 'Яблоко', period: 2024, rank: 2 }])
    const ranks = (await find('/v1/dated/find', 'яблоко')).map(({ rank }) => rank)
    t.same(ranks, [2, null], 'an older rank orders nothing')
    t.same(await find('/v1/none/find', 'яблоко'), [], 'without a row nothing is found')
    t.equal((await find('/v1/find', 'яблоко')).length, 3)
  },
)

await t.test(
  'a key comes first of all datasets, however its type lets it be written',
  async (t) => {
    const uuid = '0a0b0c0d-0000-4000-8000-000000000007'
    const keys: Readonly<Record<string, readonly [key: string, longer: string, names: string[]]>> =
      {
        texts: ["'7'", "'71'", ['7']],
        numbers: ['7::BIGINT', '71::BIGINT', ['7', '007', '7.0', '7e0']],
        amounts: ['7::DECIMAL(9,2)', '7.05::DECIMAL(9,2)', ['7', '7.0', '07.00']],
        doubles: ['7::DOUBLE', '7.5::DOUBLE', ['7', '7.0', '007']],
        uuids: [`'${uuid}'::UUID`, `'${uuid.slice(0, -1)}8'::UUID`, [uuid, uuid.toUpperCase()]],
      }
    const entry = (name: string) => `
  ${name}:
    title: T
    files: data/${name}.parquet
    entity: {key: id, name: name, rank: size}
    plans: {all: {rows_per_month: 1000, history: all, price_rub: 0}}`
    const world = await startWorld(t, {
      files: Object.fromEntries(
        Object.entries(keys).map(([name, [key, longer]]) => [
          `data/${name}.parquet`,
          `SELECT * FROM (VALUES (${key}, 'Малый', 1), (${longer}, 'Большой', 9)) AS t(id, name, size)`,
        ]),
      ),
      registry: `datasets:${Object.keys(keys).map(entry).join('')}\n`,
    })
    void world.app.prepare()
    await logged(world, '"packed"', Object.keys(keys).length)
    const { token } = await world.subscribe(Object.keys(keys).map((name) => `${name}:all`))
    const find = async (path: string, q: string) => (await world.get(at(path, q), token)).body.data
    for (const [name, [, , written]] of Object.entries(keys)) {
      for (const q of written) {
        const [first] = await find(`/v1/${name}/find`, q)
        t.match(first, { match: 'key', rank: 1 }, `${name} ${q}`)
        const all = await find('/v1/find', q)
        const ranks = all.map(({ rank }) => Number(rank))
        t.same(ranks, ranks.toSorted(), `all, ${q}: keys, then longer ones`)
        t.ok(all.some(({ dataset, rank }) => dataset === name && rank === 1))
      }
    }
    t.same(await find('/v1/texts/find', '007'), [], 'a text has its zeros')
  },
)

await t.test(
  'a dataset named find is served, and wins over the search of all datasets',
  async (t) => {
    const renamed = registry.replace('\n  plain:', '\n  find:')
    const folder = t.testdir({ 'aliases.csv': 'key,alias\n' })
    const world = await startWorld(t, { at: folder, files, registry: renamed })
    void world.app.prepare()
    await logged(world, '"packed"', 2)
    const { token: both } = await world.subscribe(['find:all', 'shops:all'])
    const { token: other } = await world.subscribe(['shops:all'])
    for (const path of ['/v1/find', '/v1/find?id=eq.7', '/v1/find/']) {
      t.same((await world.get(path, both)).body.data, [{ id: 7, title: 'Василёк' }], path)
    }
    t.match((await world.get('/v1/find/schema', both)).body, { name: 'find' })
    t.equal((await world.get('/v1/find', both, { method: 'HEAD' })).status, 200)
    const found = await world.get(at('/v1/find', 'василёк'), other)
    t.match(found.body.data, [{ dataset: 'shops' }], 'without a grant it does not exist')
    t.equal((await world.get('/v1/find/schema', other)).status, 404)
    await logged(world, 'datasets.find: the name is reserved', 1)
  },
)

await t.test(
  'datasets under one quota are asked as far as it goes, and nothing is paid in vain',
  async (t) => {
    const world = await startFirms(t)
    const { token } = await world.subscribe(['firms:all', 'shops:all'], { globalRows: 13 })
    const { status, headers, body } = await world.get(at('/v1/find', 'василёк'), token)
    t.equal(status, 200)
    t.match(body.data, [{ dataset: 'firms' }, { dataset: 'firms' }])
    t.match(headers, { 'x-left-out': 'shops', 'x-rows-charged': '2' })
  },
)

await t.test('a period that is not the history is refused', async (t) => {
  const wrong = registry.replace("period: year, rank: '2110'", "period: '2110'")
  const folder = t.testdir({ 'aliases.csv': 'key,alias\n' })
  const world = await startWorld(t, { at: folder, files, registry: wrong })
  t.match(
    world.app.catalog().datasets.get('firms')?.reason,
    /registry\.yaml:\d+:\d+: period must be the history column, "year"/,
  )
})

await t.test('a mistake in an entity is refused with its line', async (t) => {
  const folder = t.testdir({ 'aliases.csv': 'key,alias\n' })
  const wrong = registry
    .replace('name: name, period', 'name: nam, period')
    .replace('key: id, name: title', "key: id, name: id, rank: title, aliases: 'gone.csv'")
  const world = await startWorld(t, { at: folder, files, registry: wrong })
  const reasons = [...world.app.catalog().datasets.values()].map(({ reason }) => reason ?? '')
  t.match(reasons.join('\n'), /registry\.yaml:\d+:\d+: there is no column "nam"/)
  t.match(reasons.join('\n'), /registry\.yaml:\d+:\d+: aliases gone\.csv/)
})
