import t from 'tap'
import type { Test } from 'tap'
import { isError, listen, requestText, sendOne } from '../support/answers.js'
import { audienceFiles, audienceRegistry } from '../support/audiences.js'
import { everyEntry, everySelect, everyType } from '../support/every-type.js'
import { readDocument } from '../support/openapi.js'
import type { Document, Json } from '../support/openapi.js'
import { startShipped } from '../support/shipped.js'
import { startWorld } from '../support/world.js'

// Guarantee: generated clients read every value of an answer as it was sent, and the answers of
// later versions.

const startEvery = (t: Test) =>
  startWorld(t, {
    files: { 'data/every.parquet': everySelect },
    registry: `datasets:\n${everyEntry('data/every.parquet')}`,
  })

/** Every object in a part of a document, with those that it references. */
function nodesIn(document: Document, part: unknown, seen = new Set<unknown>()): readonly Json[] {
  if (typeof part !== 'object' || part === null || seen.has(part)) return []
  seen.add(part)
  const [, , kind = '', name = ''] = '$ref' in part ? String(part.$ref).split('/') : []
  const below = [...Object.values(part), document.components[kind]?.[name]]
  return [part as Json, ...below.flatMap((each) => nodesIn(document, each, seen))]
}

await t.test('a column of each type has the schema of its JSON', async (t) => {
  const world = await startEvery(t)
  const { components } = await readDocument(world, (await world.subscribe(['every:pro'])).token)
  const { properties } = components['schemas']?.['every.Row'] as { properties: Json }
  for (const { name, schema, isWide } of everyType) {
    const { type, ...rest } = schema
    const nullable = { ...(type !== undefined && { type: [type, 'null'] }), ...rest }
    t.match(properties[name], nullable, name)
    t.equal((properties[name] as Json)['format'], rest['format'], name)
    if (isWide) t.same(properties[`${name}_text`], { type: ['string', 'null'] })
  }
  const words = ({ name }: { readonly name: string }) => (properties[name] as Json)['description']
  t.same(
    everyType.filter((column) => words(column) !== undefined).map(({ name }) => name),
    ['sum', 'wide'],
    'decimals of more than 15 digits say how they are exact',
  )
  t.match((properties['sum'] as Json)['description'], 'exact with `json: string`')
})

await t.test('every number in a document has a format', async (t) => {
  const shipped = await startShipped(t)
  const { token } = await shipped.subscribe(['financials:business', 'procurement:pro'])
  const document = await readDocument(shipped, token)
  const formats = { integer: ['int32', 'int64'], number: ['float', 'double'] }
  let found = 0
  for (const { type, format } of nodesIn(document, [document.paths, document.components])) {
    const kind = (['integer', 'number'] as const).find((each) => [type].flat().includes(each))
    if (kind === undefined) continue
    found++
    t.ok(formats[kind].includes(String(format)), `${kind} ${String(format)}`)
  }
  t.ok(found > 100)
})

await t.test('answers take members and codes of later versions, requests do not', async (t) => {
  const world = await startEvery(t)
  const document = await readDocument(world, (await world.subscribe(['every:pro'])).token)
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  const answers = nodesIn(
    document,
    operations.map(({ responses }) => responses),
  )
  t.ok(answers.length > 100)
  for (const node of answers) {
    const isOpen = node['additionalProperties'] !== false && !('enum' in node || 'const' in node)
    t.ok(isOpen, JSON.stringify(node))
  }
  const bodies = operations.flatMap(({ requestBody }) => (requestBody ? [requestBody] : []))
  const objects = nodesIn(document, bodies).filter(({ type }) => type === 'object')
  t.ok(objects.length > 2)
  for (const node of objects) t.equal(node['additionalProperties'], false)
})

await t.test('JSON comes first, and only an export is a stream', async (t) => {
  const world = await startEvery(t)
  const { paths } = await readDocument(world, (await world.subscribe(['every:pro'])).token)
  for (const [path, operations] of Object.entries(paths)) {
    for (const { responses } of Object.values(operations)) {
      const { content = {} } = (responses?.['200'] ?? {}) as { content?: Json }
      const [first = 'none'] = Object.keys(content)
      const isStream = path.endsWith('/export') && first !== 'none'
      if (first !== 'none') t.equal(first, isStream ? 'application/x-ndjson' : 'application/json')
      t.equal('application/x-ndjson' in content, isStream, path)
    }
  }
})

/** The address in a document that is asked for with these settings, at a host. */
async function addressIn(t: Test, settings: Readonly<Record<string, string>>) {
  const world = await startWorld(t, { files: audienceFiles, registry: audienceRegistry, settings })
  const port = await listen(world)
  return async (host: string) => {
    const { text } = await sendOne(port, requestText('GET /openapi.json', { Host: host }))
    return (JSON.parse(text) as Document).servers.map(({ url }) => url)
  }
}

await t.test('the address is the public one, or else that of the request', async (t) => {
  const own = await addressIn(t, {})
  for (const host of ['one.example:8080', 'two.example', 'one.example:8080']) {
    t.same(await own(host), [`http://${host}`])
  }
  const behind = await addressIn(t, { publicUrl: 'https://data.example.org/das' })
  t.same(await behind('one.example'), ['https://data.example.org/das'])
})

await t.test('a document of some datasets has these alone', async (t) => {
  const world = await startWorld(t, { files: audienceFiles, registry: audienceRegistry })
  const { token } = await world.subscribe(['open:p', 'closed:p'])
  const datasetsOf = async (query: string, bearer?: string) => {
    const { status, text } = await world.get(`/openapi.json${query}`, bearer)
    t.equal(status, 200, text.slice(0, 100))
    const { paths } = JSON.parse(text) as Document
    return Object.keys(paths).filter((path) => /^\/v1\/(?!account|watch|webhooks)\w+$/.test(path))
  }
  t.same(await datasetsOf('', token), ['/v1/open', '/v1/closed'])
  t.same(await datasetsOf('?dataset=closed', token), ['/v1/closed'])
  t.same(await datasetsOf('?dataset=closed,open', token), ['/v1/open', '/v1/closed'])
  t.same(await datasetsOf('?dataset=closed&dataset=closed', token), ['/v1/closed'])
  t.same(await datasetsOf('', token), ['/v1/open', '/v1/closed'], 'the whole one is as before')
  t.same(await datasetsOf('?dataset=plain'), ['/v1/plain'])
  t.same(await datasetsOf('?dataset='), [], 'what belongs to none')
})

// Guarantee: a document that can't be had does not say whether there is such a dataset.
await t.test('a dataset that the caller may not see is one that is not there', async (t) => {
  const world = await startWorld(t, { files: audienceFiles, registry: audienceRegistry })
  const { token } = await world.subscribe(['open:p'])
  const elsewhere = await world.get('/v1/absent', token)
  for (const name of ['closed', 'absent', 'open,absent', 'open,']) {
    const url = `/openapi.json?dataset=${name}`
    const answer = await world.get(url, token)
    isError(t, answer, 'not_found')
    t.equal(answer.text, elsewhere.text, url)
  }
  for (const name of ['closed', 'absent']) {
    isError(t, await world.get(`/openapi.json?dataset=${name}`), 'not_found')
  }
  const unknown = await world.get('/openapi.json?datasets=open', token)
  isError(t, unknown, 'bad_request')
  t.match(unknown.body.detail, 'There is no parameter "datasets".')
  isError(t, await world.get('/openapi.json?x=1', 'das_live_wrong'), 'unauthorized')
})
