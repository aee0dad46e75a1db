import { Spectral } from '@stoplight/spectral-core'
import type { RulesetDefinition } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import t from 'tap'
import type { Test } from 'tap'
import { Compile } from 'typebox/schema'
import { parametersOf, readDocument, resolved, routesOf } from '../support/openapi.js'
import type { Document } from '../support/openapi.js'
import { startShipped } from '../support/shipped.js'
import { demoToken, startThings } from '../support/things.js'
import { startTyped } from '../support/typed.js'
import type { World } from '../support/world.js'

/** Every rule that Spectral recommends; the first of them is OpenAPI's own schema. */
async function isClean(t: Test, document: Document, name: string): Promise<void> {
  const spectral = new Spectral()
  // The package's types know its rules as a wider kind than its engine's do.
  spectral.setRuleset({ extends: [oas as RulesetDefinition] })
  const results = await spectral.run(JSON.stringify(document))
  const found = results.map(({ code, message, path }) => `${code} ${path.join('/')}: ${message}`)
  t.same(found, [], name)
}

await t.test('Spectral finds no problem in the OpenAPI 3.1 document', async (t) => {
  const shipped = await readDocument(await startShipped(t))
  t.match(shipped.openapi, /^3\.1\./)
  await isClean(t, shipped, 'the shipped datasets')
})

await t.test('it is as clean for a column of every type, and with no dataset', async (t) => {
  const world = await startTyped(t)
  await isClean(t, await readDocument(world), 'none')
  const { token } = await world.subscribe(['typed:pro'])
  await isClean(t, await readDocument(world, token), 'every type')
})

await t.test('the document is of the routes that the server has, and of all of them', async (t) => {
  const world = await startThings(t)
  const { paths } = await readDocument(world, (await world.subscribe(['things:pro'])).token)
  /** Pages for people, and other protocols' own addresses. */
  const others =
    /^\/($|(about|account|authorize|datasets|docs|guide|hooks|lost-token|mcp|order|owner|privacy|register|revoke|session|sign-(in|out)|terms|token|usage|\.well-known)(\/|\*|$)|(llms|robots)\.txt$|sitemap\.xml$|brand\.css$|logo\.svg$)/
  /** Only of datasets with an entity: test/io/app/find.test.ts. */
  const ofEntities = ['/v1/:dataset/find', '/v1/:dataset(^find$)']
  const own = routesOf(world).filter((path) => !others.test(path) && !ofEntities.includes(path))
  const routes = new Set(own.map((path) => path.replace(/:(id|name|n)\([^/]*\)/g, '{$1}')))
  const documented = Object.keys(paths).map((path) => path.replace('/things', '/:dataset'))
  t.same(documented.sort(), [...routes].sort())
  for (const [written, operations] of Object.entries(paths)) {
    const path = written.replace('{id}', 'whk_0').replace('{n}', '1').replace('{name}', 'mine')
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      const { status } = await world.get(path, undefined, { method })
      t.equal(status !== 405, operations[method.toLowerCase()] !== undefined, `${method} ${path}`)
    }
  }
})

await t.test('every refusal, and 304, is an answer that its operation has', async (t) => {
  const world = await startShipped(t)
  const document = await readDocument(world)
  const token = 'das_demo_opendata'
  const { etag = '' } = (await world.get('/v1', token)).headers
  const long = { values: ['x'.repeat(2 ** 20)] }
  const csv = { 'content-type': 'text/csv' }
  const asked = [
    [304, '/v1', { headers: { 'if-none-match': String(etag) } }],
    [406, '/v1/find', { query: { q: 'lukoil' }, headers: { accept: 'text/csv' } }],
    [406, '/v1/financials/find', { query: { q: 'lukoil' }, headers: { accept: 'text/csv' } }],
    [413, '/v1/webhooks', { method: 'POST', payload: long }],
    [413, '/v1/watch/{name}', { method: 'PUT', payload: long }],
    [415, '/v1/webhooks', { method: 'POST', headers: csv, payload: 'a' }],
    [415, '/v1/watch/{name}', { method: 'PUT', headers: csv, payload: 'a' }],
  ] as const
  for (const [status, path, options] of asked) {
    const answer = await world.get(path.replace('{name}', 'mine'), token, options)
    t.equal(answer.status, status, path)
    const method = 'method' in options ? options.method.toLowerCase() : 'get'
    t.ok(document.paths[path]?.[method]?.responses[status], `${status} of ${method} ${path}`)
  }
})

/** Asks with every example of a dataset's page and of its question as JSON. */
async function examplesWork(t: Test, world: World, token: string, name: string): Promise<void> {
  const document = await readDocument(world, token)
  const path = `/v1/${name}`
  const parameters = parametersOf(document, path)
  const asked = new Set<string>()
  const seen = new Set<unknown>()
  for (const { name: column, schema, example = [] } of parameters.values()) {
    const type = schema.items?.['$ref'] === undefined ? {} : resolved(document, schema.items)
    const ofType = seen.has(type) ? [] : ((type['examples'] ?? []) as readonly string[])
    seen.add(type)
    for (const texts of [...(schema.examples ?? []), example, ...ofType.map((text) => [text])]) {
      const query = texts.map((text) => `${encodeURIComponent(column)}=${encodeURIComponent(text)}`)
      if (query.length === 0) continue
      const { status, text } = await world.get(`${path}?${query.join('&')}`, token)
      t.equal(status, 200, `${query.join('&')} ${text.slice(0, 200)}`)
      asked.add(`${column} ${texts.join()}`)
    }
  }
  t.ok(asked.size > parameters.size, 'each column has an example, each type one of each operator')
  const body = document.paths[`${path}/query`]?.['post']?.requestBody?.content['application/json']
  const questions = Object.values(body?.examples ?? {})
  t.equal(questions.length, 1)
  for (const { value } of questions) {
    const { status, text, body } = await world.post(`${path}/query`, token, value)
    t.equal(status, 200, text.slice(0, 200))
    t.ok(body.data.length > 0, 'and it finds something')
  }
}

/** Asks for the first rows and for groups with every example, by URL and as JSON. */
async function summariesWork(
  t: Test,
  world: World,
  tokenFor: () => Promise<string>,
  name: string,
): Promise<void> {
  const document = await readDocument(world, await tokenFor())
  for (const path of [`/v1/${name}/top`, `/v1/${name}/aggregate`]) {
    const query = [...parametersOf(document, path).values()].flatMap(({ name: key, example }) =>
      example === undefined
        ? []
        : [`${encodeURIComponent(key)}=${encodeURIComponent(`${example}`)}`],
    )
    t.ok(query.length > 1, `${path} has examples`)
    const { status, text } = await world.get(`${path}?${query.join('&')}`, await tokenFor())
    t.equal(status, 200, `${query.join('&')} ${text.slice(0, 200)}`)
  }
  const path = `/v1/${name}/aggregate`
  const body = document.paths[path]?.['post']?.requestBody?.content['application/json']
  const groups = Compile({ ...document.components['schemas']?.['Groups'] })
  for (const { value } of Object.values(body?.examples ?? {})) {
    const answer = await world.post(path, await tokenFor(), value)
    t.ok(answer.body.data.length > 0, answer.text.slice(0, 200))
    t.same(groups.Errors(answer.body)[1], [])
  }
}

await t.test('every example is answered, with an operator of each kind', async (t) => {
  const things = await startThings(t)
  await examplesWork(t, things, demoToken, 'things')
  await examplesWork(t, things, (await things.subscribe(['days:last'])).token, 'days')
  await examplesWork(t, things, (await things.subscribe(['big:pro'])).token, 'big')
  await summariesWork(t, things, async () => demoToken, 'things')
  // A plan of 100 rows: an example may need all of them.
  const days = async () => (await things.subscribe(['days:last'])).token
  await summariesWork(t, things, days, 'days')
})

await t.test('every example is answered for a column of every type', async (t) => {
  const typed = await startTyped(t)
  await examplesWork(t, typed, (await typed.subscribe(['typed:pro'])).token, 'typed')
  const pro = async () => (await typed.subscribe(['typed:pro'])).token
  await summariesWork(t, typed, pro, 'typed')
})

await t.test('examples of summaries add up an amount by codes, and identify no row', async (t) => {
  const document = await readDocument(await startShipped(t))
  for (const [name, code, amount] of [
    ['financials', 'okved', '2110'],
    ['procurement', 'okpd2', 'price_rub'],
  ] as const) {
    const { post } = document.paths[`/v1/${name}/aggregate`] ?? {}
    const { examples = {} } = post?.requestBody?.content['application/json'] ?? {}
    t.match(Object.values(examples)[0]?.value, {
      group: [`prefix(${code},2)`],
      measures: ['count', `sum(${amount})`],
    })
    const by = parametersOf(document, `/v1/${name}/top`).get('by')
    t.equal(by?.example, `-${amount}`)
  }
})

await t.test('columns are parameters with type, unit, description and operators', async (t) => {
  const document = await readDocument(await startShipped(t))
  const parameters = parametersOf(document, '/v1/financials')
  t.equal(parameters.size, 131 + 8)
  t.match(parameters.get('limit')?.schema, { minimum: 1, maximum: 1000, default: 100 })
  const revenue = parameters.get('2110')
  t.match(revenue?.description, /Revenue; unit: thousand RUB; integer, may be empty/)
  t.match(revenue, { schema: { type: 'array', maxItems: 50, examples: [['eq.2024']] } })
  const filter = new RegExp(String(resolved(document, revenue?.schema.items ?? {})['pattern']))
  for (const right of ['eq.1', 'gte.-1.5', 'in.1,2', 'in."1",2', 'is_null']) t.match(right, filter)
  for (const wrong of ['1', 'eq', 'eq.', 'eq.one', 'like.1*', 'in.', 'is_null.1', 'gt.1,2']) {
    t.notMatch(wrong, filter)
  }
  const inn = parameters.get('inn')
  t.same(inn?.example, ['eq.0261012138'], 'one filter is filled in, with a value of the demo')
})

await t.test('a row is as its schema says, for a value of every type', async (t) => {
  const world = await startTyped(t)
  const { token } = await world.subscribe(['typed:pro'])
  const document = await readDocument(world, token)
  const schema = document.components['schemas']?.['typed.Row']
  const row = Compile({ ...schema })
  const { body } = await world.get('/v1/typed?limit=50', token)
  t.equal(body.data.length, 6)
  for (const each of body.data) t.same(row.Errors(each)[1], [], JSON.stringify(each))
  t.ok(row.Check({ unknown: 1 }), 'a later version may have more members')
  t.notOk(row.Check({ int: '1' }))
})
