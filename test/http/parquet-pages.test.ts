import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InjectOptions } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import { holdsNoSecret, isError } from '../support/answers.js'
import { filesIn, pageFolders } from '../support/page-files.js'
import { readBytes } from '../support/parquet.js'
import { startThings } from '../support/things.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'

const mediaType = 'application/vnd.apache.parquet'
const sheetType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const page = '/v1/things?year=gte.2022&select=id,2110,note,year'

/** An answer that is a file: its bytes. */
async function fetchFile(world: World, token: string, request: InjectOptions) {
  const headers = { authorization: `Bearer ${token}`, ...request.headers }
  const {
    statusCode,
    headers: sent,
    rawPayload,
  } = await world.app.server.inject({
    ...request,
    headers,
  })
  return { status: statusCode, headers: sent, bytes: rawPayload }
}

/** The rows of a page in Parquet, as JSON of JavaScript's own. */
async function readRows(t: Test, bytes: Uint8Array): Promise<readonly unknown[]> {
  const json = 'SELECT CAST(to_json(page) AS VARCHAR) FROM read_parquet($1) AS page'
  const { rows } = await readBytes(t, bytes, json)
  return rows.map(([text]) => JSON.parse(String(text)) as unknown)
}

/** What is left of a quota, and what lies where pages are written. */
async function traces(world: World, token: string) {
  const { headers } = await world.get('/v1/things/schema', token)
  const temp = join(world.folder, 'var', 'tmp')
  return { left: headers['x-quota-rows-remaining'], files: filesIn(temp) }
}

await t.test('a walk by X-Next-Cursor and by Link is the JSON walk', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const whole = (await world.get(page, token)).body.data
  const rows: unknown[] = []
  let url = `${page}&limit=4&format=parquet`
  for (let last = false; !last;) {
    const { status, headers, bytes } = await fetchFile(world, token, { url })
    t.equal(status, 200)
    t.equal(headers['content-type'], mediaType)
    t.equal(headers['content-length'], String(bytes.length))
    rows.push(...(await readRows(t, bytes)))
    const cursor = headers['x-next-cursor']
    last = cursor === undefined
    const next = `${page.slice('/v1/things'.length)}&limit=4&format=parquet&cursor=${cursor}`
    t.equal(headers['link'], last ? undefined : `<${next}>; rel="next"`)
    url = `/v1/things${next}`
  }
  t.strictSame(rows, whole)
  const { names, types } = await readBytes(
    t,
    (await fetchFile(world, token, { url: `${page}&format=parquet` })).bytes,
  )
  t.strictSame(
    [names, types],
    [
      ['id', '2110', 'note', 'year'],
      ['VARCHAR', 'BIGINT', 'VARCHAR', 'INTEGER'],
    ],
  )
})

await t.test('by Accept, for POST and HEAD too', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:tiny'])
  const headers = { accept: `${mediaType}, application/json;q=0.5` }
  const posted = await fetchFile(world, token, {
    method: 'POST',
    url: '/v1/things/query',
    headers: { ...headers, 'content-type': 'application/json' },
    payload: '{"select": ["id"], "limit": 2}',
  })
  t.strictSame(await readRows(t, posted.bytes), [{ id: 'a0' }, { id: 'a1' }])
  t.type(posted.headers['x-next-cursor'], 'string')
  t.equal(posted.headers['link'], undefined)
  const head = await fetchFile(world, token, { method: 'HEAD', url: page, headers })
  t.equal(head.status, 200)
  t.equal(head.headers['content-type'], mediaType)
  t.equal(head.headers['content-length'], undefined)
  t.equal(head.headers['x-next-cursor'], undefined)
  t.equal(head.bytes.length, 0)
  t.strictSame(await traces(world, token), { left: '5', files: [] }, 'HEAD costs nothing')
  const none = await world.get('/v1/things', token, { headers: { accept: 'image/png' } })
  const formats = `application/json, application/x-ndjson, text/csv, ${mediaType}, ${sheetType}`
  isError(t, none, 'not_acceptable')
  t.equal(none.body.detail, `Accept must allow one of ${formats}.`)
})

await t.test('the same rows cost the same; a known tag is free', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:tiny'])
  const url = '/v1/things?year=eq.2024&limit=2&format=parquet'
  const first = await fetchFile(world, token, { url })
  t.equal(first.headers['x-quota-rows-remaining'], '5')
  const tag = String(first.headers['etag'])
  const json = await world.get('/v1/things?year=eq.2024&limit=2', token, { method: 'HEAD' })
  t.match(tag, /^W\/"[\w-]{27}"$/)
  t.not(tag, json.headers['etag'])
  const again = await fetchFile(world, token, { url, headers: { 'if-none-match': tag } })
  t.equal(again.status, 304)
  t.equal(again.bytes.length, 0)
  const empty = await fetchFile(world, token, { url: '/v1/things?id=eq.none&format=parquet' })
  t.strictSame(await readRows(t, empty.bytes), [])
  t.strictSame(await traces(world, token), { left: '5', files: [] })
})

await t.test('rows that a quota cuts are not in the file', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:tiny'])
  const url = `${page}&limit=5&format=parquet`
  const whole = (await world.get(page, (await world.subscribe(['things:pro'])).token)).body.data
  const first = await fetchFile(world, token, { url })
  t.strictSame(await readRows(t, first.bytes), whole.slice(0, 5))
  const next = `${url}&cursor=${String(first.headers['x-next-cursor'])}`
  const cut = await fetchFile(world, token, { url: next })
  t.strictSame(await readRows(t, cut.bytes), whole.slice(5, 7))
  t.strictSame((await readBytes(t, cut.bytes)).rowGroups, [2], 'nor in an unread part')
  t.equal(cut.headers['etag'], undefined)
  t.equal(cut.headers['x-quota-rows-remaining'], '0')
  const cursor = String(cut.headers['x-next-cursor'])
  isError(t, await world.get(`${url}&cursor=${cursor}`, token), 'row_quota_exceeded')
  world.clock.ms = Date.UTC(2026, 11, 1)
  const later = await fetchFile(world, token, { url: `${url}&cursor=${cursor}` })
  t.strictSame(await readRows(t, later.bytes), whole.slice(7, 12))
  t.strictSame((await traces(world, token)).files, [])
})

await t.test('pages at the same time share what is left of a quota', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:tiny'])
  const url = `${page}&limit=5&format=parquet`
  const answers = await Promise.all([1, 2, 3].map(() => fetchFile(world, token, { url })))
  const statuses = answers.map(({ status }) => status)
  t.strictSame(statuses.sort(), [200, 200, 429])
  const sent = answers.filter(({ status }) => status === 200)
  const counts = await Promise.all(sent.map(async ({ bytes }) => (await readRows(t, bytes)).length))
  t.strictSame(counts.sort(), [2, 5])
  t.strictSame(await traces(world, token), { left: '0', files: [] })
})

await t.test("a page that can't be written is 503 and is not charged", async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:tiny'])
  const temp = join(world.folder, 'var', 'tmp')
  for (const folder of pageFolders(temp)) writeFileSync(folder, 'in the way')
  const failed = await world.get(`${page}&limit=2&format=parquet`, token)
  isError(t, failed, 'service_unavailable', /can't be written now/)
  t.equal(failed.headers['retry-after'], '5')
  t.equal(failed.headers['x-quota-rows-remaining'], '7')
  const reported = world.log.filter((line) => line.includes('EEXIST'))
  t.equal(reported.length, 1, 'the owner learns why')
  t.notMatch(reported.join(), temp)
  for (const folder of pageFolders(temp)) rmSync(folder)
  const { headers } = await fetchFile(world, token, { url: `${page}&limit=2&format=parquet` })
  t.equal(headers['x-quota-rows-remaining'], '5')
})

await t.test(
  'a file holds the columns that the caller may see, and no metadata of the server',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['days:last'])
    const { bytes } = await fetchFile(world, token, { url: '/v1/days?format=parquet' })
    const { names, types, notes } = await readBytes(t, bytes)
    t.strictSame(names, ['id', 'day', 'half'])
    t.strictSame(types, ['BIGINT', 'DATE', 'BIGINT'])
    t.strictSame(notes, [])
    const text = bytes.toString('latin1')
    holdsNoSecret(t, text.replaceAll('DuckDB', '').replaceAll('duckdb_schema', ''), 'the file')
    t.notMatch(text, 'internal_note')
    t.notMatch(text, 'note 1')
  },
)

await t.test('what a crash left is gone at the next start', async (t) => {
  const at = t.testdir({})
  const temp = join(at, 'var', 'tmp')
  const folder = join(temp, 'of the last run', 'pages')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'left.parquet'), 'rows')
  const registry = `datasets: {rows: {title: T, files: rows.parquet,
    plans: {all: {rows_per_month: 9, history: all, price_rub: 0}}}}`
  const world = await startWorld(t, { at, files: { 'rows.parquet': 'SELECT 1 AS id' }, registry })
  const { token } = await world.subscribe(['rows:all'])
  const { status } = await fetchFile(world, token, { url: '/v1/rows?format=parquet' })
  t.equal(status, 200)
  t.strictSame(filesIn(temp), [])
})
