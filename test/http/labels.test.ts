import { strFromU8, unzipSync } from 'fflate'
import t from 'tap'
import type { Test } from 'tap'
import { isError } from '../support/answers.js'
import { callTool } from '../support/mcp/mcp-messages.js'
import { startWorld } from '../support/world.js'

/** A dataset with labels, one without a label, and names that are also those of parameters. */
async function startLabelled(t: Test) {
  const world = await startWorld(t, {
    files: {
      'data/a.parquet': `SELECT i AS id, 'ru' AS lang, 'x' AS header, 10 * i AS "2110", 5 AS "2400",
        3 AS a, 4 AS b, '62.0' || i AS okved FROM range(3) t(i)`,
    },
    registry: `
datasets:
  firms:
    title: Firms
    files: data/a.parquet
    key: id
    listed: true
    demo: {id: [0, 1, 2]}
    columns:
      '2110': {label: {en: Revenue, ru: Выручка}, section: {en: Income, ru: Доходы}, unit: RUB,
        description: {en: What was sold, ru: Всё проданное}}
      '2400': {label: {en: 'Profit, net', ru: Прибыль}}
      a: {label: Other}
      b: {label: Other}
      okved: {label: Activity, levels: {class: 2}}
    plans: {all: {rows_per_month: 1000, history: all, price_rub: 0}}
`,
  })
  const { token } = await world.subscribe(['firms:all'])
  return { world, token, get: (url: string) => world.get(`/v1/firms${url}`, token) }
}

/** The texts of the first line of a workbook. */
function headOf(bytes: Uint8Array): readonly string[] {
  const files = unzipSync(bytes)
  const text = (name: string) => strFromU8(files[name] ?? new Uint8Array())
  const shared = [...text('xl/sharedStrings.xml').matchAll(/<t[^>]*>([^<]*)<\/t>/g)].map(
    ([, each = '']) => each,
  )
  const [, first = ''] = /<row r="1"[^>]*>(.*?)<\/row>/.exec(text('xl/worksheets/sheet1.xml')) ?? []
  return [...first.matchAll(/<v>(\d+)<\/v>/g)].map(([, at]) => shared[Number(at)] ?? '')
}

const page = '?select=id,2110,2400&limit=1'

await t.test('CSV has names as headings, and labels in both languages on request', async (t) => {
  const { get } = await startLabelled(t)
  const headOfCsv = async (query: string) => {
    const answer = await get(`${page}&format=csv${query}`)
    t.equal(answer.status, 200, query)
    return answer.text.split('\r\n')[0]
  }
  t.equal(await headOfCsv(''), 'id,2110,2400')
  t.equal(await headOfCsv('&header=code'), 'id,2110,2400')
  t.equal(await headOfCsv('&lang=ru'), 'id,2110,2400')
  t.equal(await headOfCsv('&header=label'), 'id,Revenue,"Profit, net"')
  t.equal(await headOfCsv('&header=label&lang=ru'), 'id,Выручка,Прибыль')
  t.equal(await headOfCsv('&header=label&excel=true'), '\ufeffid,Revenue,"Profit, net"')
  const exported = await get('/export?format=csv&header=label&select=id,2110')
  t.equal(exported.text, 'id,Revenue\r\n0,0\r\n1,10\r\n2,20\r\n')
})

await t.test('XLSX has label and name, or one of them on request', async (t) => {
  const { world, token } = await startLabelled(t)
  const headOfXlsx = async (url: string) => {
    const answer = await world.app.server.inject({
      url: `/v1/firms${url}&format=xlsx`,
      headers: { authorization: `Bearer ${token}` },
    })
    t.equal(answer.statusCode, 200, url)
    return headOf(answer.rawPayload)
  }
  t.same(await headOfXlsx(page), ['id', 'Revenue (2110)', 'Profit, net (2400)'])
  t.same(await headOfXlsx(`${page}&lang=ru`), ['id', 'Выручка (2110)', 'Прибыль (2400)'])
  t.same(await headOfXlsx(`${page}&header=label`), ['id', 'Revenue', 'Profit, net'])
  t.same(await headOfXlsx(`${page}&header=code`), ['id', '2110', '2400'])
  t.same(await headOfXlsx('/top?by=-2110&select=2110&lang=ru'), ['Выручка (2110)'])
  t.same(
    await headOfXlsx('/aggregate?group=prefix(okved,2)&measures=sum(2110),count&header=label'),
    [...['Activity', 'Revenue, sum', 'Rows']],
  )
  t.same(await headOfXlsx('/aggregate?measures=ratio(2400/2110),p90(2110)&header=label&lang=ru'), [
    ...['Прибыль / Выручка, отношение', 'Выручка, p90'],
  ])
})

await t.test('a label that two columns share has the name beside it', async (t) => {
  const { get } = await startLabelled(t)
  const { text } = await get('?select=a,b,2110&limit=1&format=csv&header=label')
  t.equal(text.split('\r\n')[0], 'Other (a),Other (b),Revenue')
})

await t.test(
  'headings are refused for other formats and values, and are charged nothing',
  async (t) => {
    const { get } = await startLabelled(t)
    for (const format of ['json', 'ndjson', 'parquet']) {
      for (const choice of ['header=label', 'header=code', 'lang=ru']) {
        const answer = await get(`${page}&format=${format}&${choice}`)
        isError(t, answer, 'bad_request', /^(header|lang) needs format=csv or format=xlsx/)
        t.equal(answer.headers['x-rows-charged'], undefined)
      }
    }
    isError(t, await get(`${page}&header=label`), 'bad_request', /header needs format=csv/)
    isError(t, await get(`/export?header=label`), 'bad_request', /header needs format=csv/)
    const other = await get(`${page}&format=csv&header=both`)
    isError(t, other, 'bad_request', /header must be label or code, got "both"/)
    isError(t, await get(`${page}&format=csv&lang=de`), 'bad_request', /lang must be en or ru/)
  },
)

await t.test('columns that have the names of these parameters are still filtered', async (t) => {
  const { get } = await startLabelled(t)
  const { body } = await get('?lang=eq.ru&header=not_null&select=id,lang')
  t.equal(body.data.length, 3)
  t.equal((await get('?lang=eq.en&select=id')).body.data.length, 0)
})

await t.test(
  'every choice of headings has an entity tag of its own, and links keep it',
  async (t) => {
    const { get } = await startLabelled(t)
    const choices = ['', '&header=label', '&header=label&lang=ru']
    const answers = await Promise.all(choices.map((each) => get(`${page}&format=csv${each}`)))
    t.equal(new Set(answers.map(({ headers }) => headers['etag'])).size, choices.length)
    t.match(answers[2]?.headers['link'], /format=csv&header=label&lang=ru&cursor=/)
  },
)

await t.test('machines read labels in English', async (t) => {
  const { world, get } = await startLabelled(t)
  const { body } = await get('/schema')
  const columns = body['columns'] as readonly Readonly<Record<string, unknown>>[]
  t.match(
    columns.find(({ name }) => name === '2110'),
    { label: 'Revenue', section: 'Income' },
  )
  t.match(
    columns.find(({ name }) => name === 'id'),
    { label: null, section: null },
  )
  t.notMatch(JSON.stringify(columns), /Выручка/)
  const openapi = await world.get('/openapi.json')
  t.match(openapi.text, /"2110":\{[^{}]*"title":"Revenue"/)
  t.equal(openapi.text.split('"name":"lang"').length, 2, 'the parameter alone, not the column')
})

await t.test('an agent finds columns by what people read, in English and Russian', async (t) => {
  const { world, token } = await startLabelled(t)
  const found = async (search: string) => {
    const { text } = await callTool(world, token, 'describe_resource', {
      resource: 'firms',
      search,
    })
    const { columns } = JSON.parse(text) as { columns: readonly { name: string }[] }
    return columns.map(({ name }) => name)
  }
  for (const words of [
    'revenue',
    'выручка',
    'ДОХОДЫ',
    'sold',
    'проданное',
    '2110',
    'income sold',
  ]) {
    t.same(await found(words), ['2110'], words)
  }
  t.same(await found('class'), ['okved'], 'by a level')
  t.same(await found('nothing'), [])
  const whole = await callTool(world, token, 'describe_resource', { resource: 'firms' })
  t.match(whole.text, /"label":"Revenue","unit":"RUB"/)
  t.notMatch(whole.text, /What was sold|Всё проданное/, 'the label is shorter')
  const one = await callTool(world, token, 'describe_resource', {
    resource: 'firms',
    search: '2110',
  })
  t.match(one.text, /"section":"Income".*"description":"What was sold"/)
})
