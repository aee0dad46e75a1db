import t from 'tap'
import { inMcpWords } from '../../src/mcp/error-words.js'
import { isError } from '../support/answers.js'
import { callTool, postMcp } from '../support/mcp/mcp-messages.js'
import { startWorld } from '../support/world.js'

const registry = `
datasets:
  sales:
    title: Sales
    files: data/sales.parquet
    history: year
    columns:
      okved: {levels: {class: 2}}
      amount: {label: {en: Revenue (net), ru: Выручка}}
      cost: {label: {en: Cost of sales, ru: Себестоимость}}
      day: {label: {en: Amount, ru: Выручка (чистая)}}
    measures: {margin: {ratio: cost/amount}}
    plans: {pro: {rows_per_month: 100000, history: all, price_rub: 0, rate_per_minute: 100000}}
`
const files = {
  'data/sales.parquet': `SELECT 2021 + i % 4 AS year, CASE i % 2 WHEN 0 THEN '62.01' ELSE '01.11' END
    AS okved, i * 1000 AS amount, i AS cost, DATE '2021-01-01' + (i * 30)::INT AS day
    FROM range(40) t(i)`,
}

type Arguments = Readonly<Record<string, unknown>>

/** By tool: the call, what the error says in REST and MCP, and what the corrected call has instead. */
const mistakes: Readonly<
  Record<string, readonly (readonly [call: Arguments, detail: RegExp, corrected: Arguments])[]>
> = {
  aggregate: [
    [{ measures: [] }, /^measures is missing/, { measures: ['count'] }],
    [
      { measures: ['ratio(Себестоимость/amount)'], group: ['year'] },
      /there is no column "Себестоимость"\. Did you mean "cost"\?/,
      { measures: ['ratio(cost/amount)'] },
    ],
    [{ measures: ['sum(revenue)'] }, /Did you mean "amount"/, { measures: ['sum(amount)'] }],
    [
      { measures: ['sum(amount) as total'] },
      /write "sum\(amount\) as total" as total:sum\(amount\)$/,
      { measures: ['total:sum(amount)'] },
    ],
    [
      { measures: ['sum(amount):total', 'count'] },
      /as total:sum\(amount\)$/,
      { measures: ['total:sum(amount)', 'count'] },
    ],
    [{ measures: ['count as n'] }, /write "count as n" as n:count$/, { measures: ['n:count'] }],
    [{ measures: ['sum(amount'] }, /as sum\(amount\)$/, { measures: ['sum(amount)'] }],
    [{ measures: ['count', 'count'] }, /would have two columns "count"/, { measures: ['count'] }],
    [
      { measures: ['year(day)', 'n:count'] },
      /Move it to group\.$/,
      { measures: ['n:count'], group: ['year(day)'] },
    ],
    [
      { measures: ['count'], group: ['year', 'sum(amount)'] },
      /Move it to measures\.$/,
      { measures: ['count', 'sum(amount)'], group: ['year'] },
    ],
    [
      { measures: ['count'], group: ['year', 'okved', 'year'] },
      /^group names "year" twice/,
      { group: ['year', 'okved'] },
    ],
    [{ measures: ['count'], group: ['y:year'] }, /can't be renamed/, { group: ['year'] }],
    [
      { measures: ['count'], group: ['year(year)'] },
      /^group: year needs a date .+ Write year$/,
      { group: ['year'] },
    ],
    [
      { measures: ['count'], group: ['prefix(day,7)'] },
      /^group: prefix needs a text; .+ Write month\(day\)$/,
      { group: ['month(day)'] },
    ],
    [
      { measures: ['count'], having: ['count >= 10'] },
      /for example count\.gte\.10$/,
      { having: ['count.gte.10'] },
    ],
    [
      { measures: ['sum(amount)'], having: ['sum(amount)>5'] },
      /for example sum\(amount\)\.gt\.5$/,
      { having: ['sum(amount).gt.5'] },
    ],
    [
      {
        measures: ['count'],
        group: ['year'],
        having: ['count.gt.1', 'year.gte.2022'],
        filters: [{ column: 'okved', op: 'eq', value: '62.01' }],
      },
      /"year" is a group\. Use a filter instead\.$/,
      {
        having: ['count.gt.1'],
        filters: [
          { column: 'okved', op: 'eq', value: '62.01' },
          { column: 'year', op: 'gte', value: '2022' },
        ],
      },
    ],
    [
      { measures: ['sum(amount)', 'max(cost)'], order: ['-amount'] },
      /^order: "amount" is not asked for\. Did you mean "sum\(amount\)"\?$/,
      { order: ['-sum(amount)'] },
    ],
    [
      { measures: ['sum(amount)'], group: ['year'], order: ['-count'] },
      /^order: "count" is not asked for\. Add it to measures\.$/,
      { measures: ['sum(amount)', 'count'] },
    ],
    [
      { measures: ['sum(amount)'], order: ['sum(amount) desc'] },
      /write "sum\(amount\) desc" as -sum\(amount\)$/,
      { order: ['-sum(amount)'] },
    ],
    [
      { measures: ['n:sum(amount)'], group: ['year'], order: ['n:desc'] },
      /write "n:desc" as -n$/,
      { order: ['-n'] },
    ],
    [
      { measures: ['count'], group: ['year'], order: ['count desc nulls last'] },
      /as -count$/,
      { order: ['-count'] },
    ],
    [{ measures: ['quantile(amount,0.25)'] }, /"p25"/, { measures: ['p25(amount)'] }],
    [
      { measures: ['count'], group: ['substr(okved,1,2)'] },
      /no function "substr"/,
      { group: ['prefix(okved,2)'] },
    ],
    [
      { measures: ['count'], group: ['day.month'] },
      /^group: write "day\.month" as month\(day\)\.$/,
      { group: ['month(day)'] },
    ],
    [
      { measures: ['count'], group: ['year'], order: ['-count', 'year', 'count'] },
      /^order names "count" twice/,
      { order: ['-count', 'year'] },
    ],
  ],
  top: [
    [{ by: '-Выручка' }, /Did you mean "amount"\?/, { by: '-amount' }],
    [{ by: 'amount desc' }, /^by: write "amount desc" as -amount$/, { by: '-amount' }],
    [{ by: 'amount:desc' }, /^by: write "amount:desc" as -amount$/, { by: '-amount' }],
    [{ by: 'desc(amount)' }, /as -amount$/, { by: '-amount' }],
    [{ by: '\u2212amount' }, /as -amount$/, { by: '-amount' }],
    [{ by: '-amont' }, /no column "amont"/, { by: '-amount' }],
  ],
}

/** The same call as a URL. */
function pathOf(tool: string, { filters, having, ...parts }: Arguments): string {
  const list = (value: unknown) => encodeURIComponent([value].flat().join())
  const asked = [
    ...Object.entries(parts).map(([name, value]) => `${name}=${list(value)}`),
    ...[having ?? []].flat().map((condition) => `having=${list(condition)}`),
    ...(filters ? ['okved=eq.62.01'] : []),
  ]
  return `/v1/sales/${tool}?${asked.join('&')}`
}

await t.test('a mistake has the same words in REST and MCP, and a corrected call', async (t) => {
  const world = await startWorld(t, { files, registry, storedOrder: { sales: ['cost'] } })
  const { token } = await world.subscribe(['sales:pro'])
  for (const [tool, each] of Object.entries(mistakes)) {
    for (const [call, detail, corrected] of each) {
      const name = `${tool} ${JSON.stringify(call)}`
      const rest = await world.get(pathOf(tool, call), token)
      isError(t, rest, 'bad_request', detail, name)
      const args = { resource: 'sales', ...call }
      const mcp = await callTool(world, token, tool, args)
      const [first, second] = mcp.text.split('\n')
      t.equal(first, inMcpWords(`bad_request: ${rest.body.detail}`), name)
      const text = new RegExp(`^Corrected call: ${tool} (.+)$`).exec(second ?? '')?.[1] ?? 'null'
      t.same(JSON.parse(text), { ...args, ...corrected }, name)
      const answer = await callTool(world, token, tool, JSON.parse(text) as object)
      t.notOk(answer.isError, `${text}: ${answer.text}`)
    }
  }
})

await t.test('no corrected call is offered that would be refused', async (t) => {
  const world = await startWorld(t, { files, registry, storedOrder: { sales: ['cost'] } })
  const { token } = await world.subscribe(['sales:pro'])
  for (const measures of [
    ['avg(okved/amount)'],
    ['sum(okved)'],
    ['sum'],
    ['nothing'],
    ['p100(amount)'],
    ['quantile(amount)'],
    ['quantile(amount,0.255)'],
    ['year(day)'],
    ['avg(amount@2024/cost@2023)'],
    ['median(cost*365/amount)'],
    ['ratio(amount+cost*2/amount)'],
    ['growth(amount/cost)'],
    ['sum(amount)/sum(cost)*100'],
    ['sum(amount-cost)'],
  ]) {
    const { text, isError: isRefused } = await callTool(world, token, 'aggregate', {
      resource: 'sales',
      measures,
    })
    t.ok(isRefused)
    t.match(text, /\nCall describe_resource \{"resource":"sales"\} for columns/)
  }
})

await t.test('a corrected formula keeps every column, number and @', async (t) => {
  const world = await startWorld(t, { files, registry, storedOrder: { sales: ['cost'] } })
  const { token } = await world.subscribe(['sales:pro'])
  for (const [wrong, right] of [
    ['growth:ratio(amuont@2024/amount@2023)', 'growth:ratio(amount@2024/amount@2023)'],
    ['growth(amount@2024/amount@2023)', 'growth(amount@2023/amount@2024)'],
    ['average(365*cost/amount)', 'avg(365*cost/amount)'],
    ['ratio(amuont+cost/amount)', 'ratio(amount+cost/amount)'],
  ] as const) {
    const ask = (measures: readonly string[]) =>
      callTool(world, token, 'aggregate', { resource: 'sales', measures })
    const { text } = await ask([wrong])
    t.ok(text.includes(`Corrected call: aggregate {"resource":"sales","measures":["${right}"]}`))
    t.notOk((await ask([right])).isError, right)
  }
})

/** A wrong filter, what the error says, and the right one. */
const filterMistakes = [
  [{ op: 'in', value: [1, 2] }, /send the value as a string/, { op: 'in', value: ['1', '2'] }],
  [{ op: 'eq', value: ['a', 'b'] }, /for a list, use in/, { op: 'in', value: ['a', 'b'] }],
  [{ op: 'in', value: 'a' }, /takes a list/, { op: 'in', value: ['a'] }],
  [{ op: 'IS NOT NULL' }, /Did you mean "not_null"/, { op: 'not_null' }],
  [{ op: 'is null' }, /Did you mean "is_null"/, { op: 'is_null' }],
  [{ op: 'is_null', value: true }, /takes no value/, { op: 'is_null' }],
  [{ op: '$ne', value: 'a' }, /Did you mean "ne"/, { op: 'ne', value: 'a' }],
] as const

await t.test('one corrected call is enough for a filter', async (t) => {
  const world = await startWorld(t, { files, registry, storedOrder: { sales: ['cost'] } })
  const { token } = await world.subscribe(['sales:pro'])
  for (const [wrong, detail, right] of filterMistakes) {
    const filters = [{ column: 'okved', ...wrong }]
    const { text } = await callTool(world, token, 'query', { resource: 'sales', filters })
    t.match(text, detail)
    const call = JSON.parse(/Corrected call: query (.+)$/m.exec(text)?.[1] ?? 'null') as Arguments
    t.same(call, { resource: 'sales', filters: [{ column: 'okved', ...right }] })
    t.notOk((await callTool(world, token, 'query', call)).isError, text)
  }
})

await t.test('an argument that is not known is answered with those that are', async (t) => {
  const world = await startWorld(t, { files, registry, storedOrder: { sales: ['cost'] } })
  const { token } = await world.subscribe(['sales:pro'])
  const find = await callTool(world, token, 'find', { name: 'lukoil' })
  t.equal(find.text, 'bad_request: name: unknown key. It takes q, limit, explain, resource.')
  const list = await callTool(world, token, 'list_resources', { x: 1 })
  t.equal(list.text, 'bad_request: x: unknown key.')
})

await t.test('a label in the place of a name is corrected in filters and select', async (t) => {
  const world = await startWorld(t, { files, registry, storedOrder: { sales: ['cost'] } })
  const { token } = await world.subscribe(['sales:pro'])
  const { text } = await callTool(world, token, 'query', {
    resource: 'sales',
    filters: [{ column: 'выручка', op: 'gt', value: 5 }],
    select: ['Cost of sales'],
  })
  t.match(text, /^bad_request: There is no column "выручка"\. Did you mean "amount"\?/)
  t.ok(
    text.endsWith(
      'Corrected call: query {"resource":"sales","filters":[{"column":"amount","op":"gt",' +
        '"value":5}],"select":["cost"]}',
    ),
    text,
  )
  const rest = await world.get('/v1/sales?Revenue=gt.5', token)
  isError(t, rest, 'bad_request', /no column or parameter "Revenue"\. Did you mean "amount"\?/)
  // Written as other languages write names.
  for (const name of ['costOfSales', 'cost_of_sales', 'Cost-Of-Sales', 'co_st']) {
    const other = await callTool(world, token, 'query', { resource: 'sales', select: [name] })
    t.match(other.text, 'Corrected call: query {"resource":"sales","select":["cost"]}', name)
  }
  // A column's name in capitals, though it is the label of another one.
  const named = await world.get('/v1/sales?Amount=gt.5', token)
  isError(t, named, 'bad_request', /no column or parameter "Amount"\. Did you mean "amount"\?/)
})

await t.test('arguments by the names of other services are renamed', async (t) => {
  const world = await startWorld(t, { files, registry, storedOrder: { sales: ['cost'] } })
  const { token } = await world.subscribe(['sales:pro'])
  for (const [tool, wrong, right] of [
    ['aggregate', { measures: 'count', group_by: 'year' }, { measures: 'count', group: 'year' }],
    ['aggregate', { measures: 'count', sort: '-count' }, { measures: 'count', order: '-count' }],
    ['query', { columns: ['year'] }, { select: ['year'] }],
    ['query', { select: 'year, cost' }, { select: ['year', 'cost'] }],
  ] as const) {
    const { text } = await callTool(world, token, tool, { resource: 'sales', ...wrong })
    const call = JSON.parse(/Corrected call: \w+ (.+)$/m.exec(text)?.[1] ?? 'null') as Arguments
    t.same(call, { resource: 'sales', ...right }, text)
    t.notOk((await callTool(world, token, tool, call)).isError, text)
  }
  const top = { resource: 'sales', by: 'amount', order: 'desc' }
  const { text } = await callTool(world, token, 'top', top)
  t.match(text, /by: "-column" for the largest/)
  t.notMatch(text, 'Corrected call', 'the smallest are not meant')
})

await t.test('a key that is given twice is refused, in REST and MCP', async (t) => {
  const world = await startWorld(t, { files, registry, storedOrder: { sales: ['cost'] } })
  const { token } = await world.subscribe(['sales:pro'])
  const first = '"filters":[{"column":"cost","op":"eq","value":1}]'
  const second = '"filters" : [{"column":"cost","op":"gt","value":4}]'
  const inside = '"filters":[{"column":"cost","op":"eq","value":1,"value":7}]'
  for (const [body, key] of [
    [`{${first},${second}}`, 'filters'],
    [`{${inside}}`, 'value'],
  ] as const) {
    const answer = await world.post('/v1/sales/query', token, body)
    isError(t, answer, 'bad_request', new RegExp(`"${key}" is given twice`), body)
    const params = `{"name":"query","arguments":{"resource":"sales",${body.slice(1)}}`
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`
    t.ok((await postMcp(world, token, message)).text.includes(`\\"${key}\\" is given twice`))
  }
  const plain = await world.post('/v1/sales/query', token, `{${first},"select":["cost"]}`)
  t.same(plain.body.data, [{ cost: 1 }])
})

await t.test(
  'what the caller wrote is quoted as it is, in the words of tools around it',
  async (t) => {
    const world = await startWorld(t, { files, registry, storedOrder: { sales: ['cost'] } })
    const { token } = await world.subscribe(['sales:pro'])
    const filters = ['cost=eq.3']
    const { text } = await callTool(world, token, 'query', { resource: 'sales', filters })
    t.ok(text.includes('"cost=eq.3"'), text)
    t.equal(
      inMcpWords('got "a=eq.b"; write a=eq.c'),
      'got "a=eq.b"; write {"column": "a", "op": "eq", "value": "c"}',
    )
    const wrong = { resource: 'sales', filters: [{ column: 'COST', op: 'eq', value: 1 }] }
    const several = await callTool(world, token, 'query', { ...wrong, select: 'yeer, cost' })
    t.notMatch(several.text, /GET \/v1/, several.text)
  },
)

await t.test('an argument is never dropped, whatever its name', async (t) => {
  const world = await startWorld(t, { files, registry, storedOrder: { sales: ['cost'] } })
  const { token } = await world.subscribe(['sales:pro'])
  for (const name of ['__proto__', '\\u005f_proto__', 'constructor']) {
    const given = `{"resource":"sales","${name}":{"limit":1}}`
    const params = `{"name":"query","arguments":${given}}`
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`
    t.match((await postMcp(world, token, message)).text, /unknown key/, name)
  }
})
