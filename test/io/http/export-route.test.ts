import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { revokeToken } from '../../../src/control/tokens/tokens.js'
import { isError, listen, sendOne } from '../../support/answers.js'
import { openControl } from '../../support/control.js'
import { filesOnly } from '../../support/tables.js'
import { demoToken, startThings } from '../../support/things.js'
import { startWorld, writeParquet } from '../../support/world.js'
import type { Answer, World } from '../../support/world.js'

const registryOf = (hidden = 'internal') => `
datasets:
  notes:
    title: Notes
    files: data/notes.parquet
    limit: {default: 2, max: 3}
    columns: {${hidden}: {hidden: true}}
    plans:
      pro: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 5}
      tiny: {rows_per_month: 7, history: all, price_rub: 0}
  wide:
    title: Wide
    files: data/wide.parquet
    limit: {default: 1, max: 3}
    plans:
      pro: {rows_per_month: 10000, history: all, price_rub: 0, rate_per_minute: 1000}
`

const wideRows = 120
/** 12 MB: more than the network's buffers hold while the client reads nothing. */
const wideOf = (generation: number) =>
  `SELECT i AS id, ${generation} AS generation, repeat('x', 100000) AS text
   FROM range(${wideRows}) t(i)`

/** Ten rows in four pages, with columns that are called as keys of control lines are. */
const notes = `SELECT i AS id, 'n, ' || i AS name, true AS complete, NULL AS error, 's' AS internal
   FROM range(10) t(i)`

const start = (t: Test) =>
  startWorld(t, {
    files: { 'data/notes.parquet': notes, 'data/wide.parquet': wideOf(1) },
    registry: registryOf(),
    storedOrder: { notes: ['id'], wide: ['id'] },
  })

type Line = Readonly<Record<string, unknown>>

const linesOf = (text: string) => {
  const lines = text.split('\n')
  if (lines.pop() !== '') throw new Error('the last line has no end')
  return lines
}

/** As docs/rest.md tells clients to distinguish them. */
const isControl = (line: string) => line.startsWith('{"cursor":')
const rowsIn = (text: string) => linesOf(text).filter((line) => !isControl(line))
const controlIn = (text: string) =>
  linesOf(text)
    .filter(isControl)
    .map((line) => JSON.parse(line) as Line)

/** The rows of every page of a walk, as they are written in JSON. */
async function walk(world: World, url: string, token: string): Promise<readonly string[]> {
  const texts: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const answer: Answer = await world.get(`${url}${cursor && `&cursor=${cursor}`}`, token)
    texts.push(answer.text.slice('{"data":['.length, answer.text.lastIndexOf('],"next_cursor"')))
    cursor = answer.body.next_cursor
  }
  return texts
}

async function used(world: World, token: string): Promise<unknown> {
  const { body } = await world.get('/v1/account', token)
  const datasets = body['datasets'] as readonly { rows: { used: number } }[]
  return datasets[0]?.rows.used
}

await t.test('an export is the walk of all pages, and says where each ends', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['notes:pro'])
  const whole = await walk(world, '/v1/notes?limit=3', token)
  const other = await world.subscribe(['notes:pro'])
  const answer = await world.get('/v1/notes/export', other.token)
  t.equal(answer.status, 200)
  t.equal(rowsIn(answer.text).join(','), whole.join(','))
  const control = controlIn(answer.text)
  const version = answer.headers['x-dataset-version']
  t.match(control.slice(0, -1), [{ cursor: String }, { cursor: String }, { cursor: String }])
  t.strictSame(control.at(-1), { cursor: null, complete: true, rows: 10, version })
  t.strictSame(
    linesOf(answer.text).flatMap((line, index) => (isControl(line) ? [index] : [])),
    [3, 7, 11, 13],
  )
  t.match(answer.headers, {
    'content-type': 'application/x-ndjson; charset=utf-8',
    'content-disposition': `attachment; filename="notes-${String(version)}.ndjson"`,
    'cache-control': 'no-store',
    vary: 'Authorization, Accept',
    'last-modified': / GMT$/,
    'x-ratelimit-remaining': '4',
    'x-quota-rows-remaining': '997',
  })
  t.equal(answer.headers['etag'], undefined)
  t.equal(await used(world, other.token), 10)
  t.notMatch(answer.text, 'internal', 'a hidden column is an unknown one')
  const hidden = await world.get('/v1/notes/export?select=internal', other.token)
  isError(t, hidden, 'bad_request', /no column or parameter "internal"/)
})

// Guarantee: a line is a control line exactly when its first key is `cursor`, a reserved name.
await t.test('rows of columns called complete and error are rows', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['notes:pro'])
  const { text } = await world.get('/v1/notes/export?select=complete,error&id=lt.2', token)
  t.strictSame(rowsIn(text), Array(2).fill('{"complete":true,"error":null}'))
  t.match(controlIn(text), [{ cursor: null, complete: true, rows: 2 }])
})

await t.test('CSV has one header, then the lines of all pages', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['notes:pro'])
  const answer = await world.get('/v1/notes/export?format=csv&select=name,id', token)
  const lines = Array.from({ length: 10 }, (_, id) => `"n, ${id}",${id}`)
  t.equal(answer.text, ['name,id', ...lines, ''].join('\r\n'))
  t.match(answer.headers, {
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': /^attachment; filename="notes-[0-9a-f]{16}\.csv"$/,
    trailer: 'x-rows',
  })
  const accept = { headers: { accept: 'text/csv' } }
  const accepted = await world.get('/v1/notes/export?select=name,id', token, accept)
  t.equal(accepted.text, answer.text)
})

await t.test('an export of no rows is whole', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['notes:pro'])
  const none = '/v1/notes/export?id=gt.10&select=id'
  t.match(linesOf((await world.get(none, token)).text), [
    /^{"cursor":null,"complete":true,"rows":0,/,
  ])
  t.equal((await world.get(`${none}&format=csv`, token)).text, 'id\r\n')
  t.equal(await used(world, token), 0)
})

await t.test('each cursor, of a control line or a page, continues with the next row', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['notes:pro'])
  const { text } = await world.get('/v1/notes/export?select=id', token)
  const rows = rowsIn(text)
  for (const [index, { cursor }] of controlIn(text).slice(0, -1).entries()) {
    const url = `/v1/notes/export?select=id&cursor=${String(cursor)}`
    const rest = await world.get(url, token)
    const left = rows.slice((index + 1) * 3)
    t.strictSame(rowsIn(rest.text), left)
    t.match(controlIn(rest.text).at(-1), { complete: true, rows: left.length })
  }
  const another = (await world.subscribe(['notes:pro'])).token
  const page = await world.get('/v1/notes?select=id&limit=1', another)
  const url = `/v1/notes/export?select=id&format=csv&cursor=${String(page.body.next_cursor)}`
  const csv = await world.get(url, another)
  t.match(csv.text, /^id\r\n1\r\n2\r\n/, 'with the header of any CSV')
  isError(t, await world.get('/v1/notes/export?cursor=x', another), 'bad_request', /cursor/)
})

await t.test('what is wrong before the first page is an ordinary error', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro', 'big:pro'])
  const ask = (url: string, accept = '*/*') => world.get(url, token, { headers: { accept } })
  isError(
    t,
    await ask('/v1/things/export?limit=5'),
    'bad_request',
    /^An export has no limit\. Leave limit out/,
  )
  isError(t, await ask('/v1/things/export?format=json'), 'not_acceptable', /ndjson or csv/)
  const json = await ask('/v1/things/export', 'application/json')
  isError(t, json, 'not_acceptable', /application\/x-ndjson, text\/csv/)
  isError(t, await ask('/v1/things/export?idd=eq.a1'), 'bad_request', /Did you mean "id"/)
  isError(t, await ask('/v1/big/export'), 'bad_request', /needs at least one filter/)
  isError(t, await ask('/v1/days/export'), 'not_found')
  isError(t, await world.get('/v1/things/export'), 'unauthorized')
  const posted = await world.get('/v1/things/export', token, { method: 'POST' })
  isError(
    t,
    posted,
    'method_not_allowed',
    /^Only GET and HEAD are allowed here\. The question goes in the URL\.$/,
  )
  t.equal(await used(world, token), 0)
  const demo = await world.get('/v1/things/export?select=id', demoToken)
  t.strictSame(rowsIn(demo.text), Array(3).fill(['{"id":"a1"}', '{"id":"a2"}']).flat())
})

await t.test('HEAD makes every check, reads no row and is free', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['notes:pro'])
  const head = await world.get('/v1/notes/export?format=csv', token, { method: 'HEAD' })
  t.equal(head.text, '')
  t.match(head, {
    status: 200,
    headers: {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': /\.csv"$/,
      'x-dataset-version': /^[0-9a-f]{16}$/,
    },
  })
  const wrong = await world.get('/v1/notes/export?limit=1', token, { method: 'HEAD' })
  t.equal(wrong.status, 400)
  t.equal(await used(world, token), 0)
})

await t.test('an export counts as one request, for any number of pages', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['notes:pro'])
  for (const left of ['4', '3', '2', '1', '0']) {
    const { headers } = await world.get('/v1/notes/export', token)
    t.equal(headers['x-ratelimit-remaining'], left)
  }
  isError(t, await world.get('/v1/notes/export', token), 'rate_limit_exceeded')
})

await t.test('an export that a quota ends reports it with the cursor to resume', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['notes:tiny'])
  const { status, text } = await world.get('/v1/notes/export?select=id', token)
  t.equal(status, 200)
  t.equal(rowsIn(text).length, 7)
  const [last, end] = controlIn(text).slice(-2)
  t.match(end, { error: 'row_quota_exceeded', detail: /^This month's 7 rows/ })
  t.equal(end?.['cursor'], last?.['cursor'])
  const rest = `/v1/notes/export?select=id&cursor=${String(end?.['cursor'])}`
  isError(t, await world.get(rest, token), 'row_quota_exceeded')
  world.clock.ms = Date.UTC(2026, 11, 1)
  t.strictSame(rowsIn((await world.get(rest, token)).text), ['{"id":7}', '{"id":8}', '{"id":9}'])
})

interface Received {
  readonly text: string
  readonly trailers: NodeJS.Dict<string>
  /** Its end arrived. */
  readonly isWhole: boolean
}

/** Asks over a socket of its own; resolves with the head, the body still to be read. */
async function ask(port: number, path: string, token: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}` }
  const request = get({ port, path, headers, agent: false })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  return answer
}

/** Reads the rest of an answer, also of one that breaks off. */
async function readAll(answer: IncomingMessage): Promise<Received> {
  const parts: string[] = []
  answer.setEncoding('utf8').on('data', (text: string) => parts.push(text))
  answer.on('error', () => undefined)
  await new Promise((resolve) => answer.once('close', resolve))
  return { text: parts.join(''), trailers: answer.trailers, isWhole: answer.complete }
}

await t.test('the trailer X-Rows proves CSV; an early end breaks the connection', async (t) => {
  const world = await start(t)
  const port = await listen(world)
  const path = '/v1/notes/export?format=csv&select=id'
  const whole = await readAll(await ask(port, path, (await world.subscribe(['notes:pro'])).token))
  t.match(whole, { isWhole: true, trailers: { 'x-rows': '10' } })
  t.equal(whole.text, `${['id', 0, 1, 2, 3, 4, 5, 6, 7, 8, 9].join('\r\n')}\r\n`)
  const early = await readAll(await ask(port, path, (await world.subscribe(['notes:tiny'])).token))
  t.strictSame(
    { ...early, trailers: { ...early.trailers } },
    {
      isWhole: false,
      trailers: {},
      text: `${['id', 0, 1, 2, 3, 4, 5, 6].join('\r\n')}\r\n`,
    },
  )
})

await t.test('HTTP/1.0 has no trailer, so it has no CSV', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['notes:pro'])
  const port = await listen(world)
  const ask = (format: string) =>
    sendOne(
      port,
      `GET /v1/notes/export?format=${format} HTTP/1.0\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    )
  isError(t, await ask('csv'), 'not_acceptable', /CSV needs HTTP\/1\.1 .+ format=ndjson/)
  const ndjson = await ask('ndjson')
  t.equal(ndjson.headers['transfer-encoding'], undefined)
  t.match(controlIn(ndjson.text).at(-1), { complete: true, rows: 10 })
})

/** Begins an export of 12 MB and does something while the client reads nothing; then the rest. */
async function interrupted(
  world: World,
  token: string,
  path: string,
  meanwhile: () => Promise<unknown>,
): Promise<Received> {
  const answer = await ask(await listen(world), path, token)
  await await meanwhile()
  return readAll(answer)
}

await t.test('a token that is revoked midway ends the export with a line', async (t) => {
  const world = await start(t)
  const { token, tokenId } = await world.subscribe(['wide:pro'])
  const control = openControl(t, world)
  const { text, isWhole } = await interrupted(world, token, '/v1/wide/export', () =>
    revokeToken(control, tokenId, () => world.clock.ms),
  )
  t.ok(isWhole, 'the stream ends properly')
  const rows = rowsIn(text).length
  t.ok(rows > 0 && rows < wideRows, String(rows))
  const [last, end] = controlIn(text).slice(-2)
  t.match(end, {
    error: 'unauthorized',
    detail: /^This token is unknown or has ended/,
    cursor: last?.['cursor'],
  })
})

await t.test(
  'a new version during an export is served to the next one',
  filesOnly('replaces'),
  async (t) => {
    const world = await start(t)
    const { token } = await world.subscribe(['wide:pro'])
    const path = '/v1/wide/export?select=text,generation'
    const { text } = await interrupted(world, token, path, async () => {
      await writeParquet(world.folder, { 'data/wide.parquet': wideOf(2) })
      await world.app.reload()
    })
    t.equal(rowsIn(text).filter((row) => row.endsWith('"generation":1}')).length, wideRows)
    t.match(controlIn(text).at(-1), { complete: true, rows: wideRows })
    const next = await world.get('/v1/wide/export?select=generation&id=eq.0', token)
    t.strictSame(rowsIn(next.text), ['{"generation":2}'])
  },
)

await t.test(
  'a column that is hidden midway is not sent any more',
  filesOnly('replaces'),
  async (t) => {
    const world = await start(t)
    const { token } = await world.subscribe(['wide:pro'])
    const { text } = await interrupted(world, token, '/v1/wide/export?format=ndjson', async () => {
      const hidden = registryOf().replace(
        '{default: 1, max: 3}',
        '$&\n    columns: {text: {hidden: true}}',
      )
      writeFileSync(join(world.folder, 'registry.yaml'), hidden)
      await world.app.reload()
    })
    t.ok(rowsIn(text).length < wideRows)
    t.match(controlIn(text).at(-1), {
      error: 'bad_request',
      detail: /no column or parameter "text"/,
    })
  },
)

await t.test(
  'a client that disconnects pays for no further page and frees its place',
  async (t) => {
    const world = await start(t)
    const { token } = await world.subscribe(['wide:pro'])
    const port = await listen(world)
    const answers: IncomingMessage[] = []
    for (let opened = 0; opened < 4; opened++) {
      answers.push(await ask(port, '/v1/wide/export', token))
    }
    const fifth = await world.get('/v1/wide/export', token)
    isError(t, fifth, 'service_unavailable', /^4 of your exports are open already\./)
    t.equal(fifth.headers['retry-after'], '30')
    const other = (await world.subscribe(['wide:pro'])).token
    t.equal(
      (await world.get('/v1/wide/export?id=eq.0', other)).status,
      200,
      'others have their own',
    )
    for (const answer of answers) {
      answer.on('error', () => undefined)
      answer.destroy()
    }
    const gone = () => world.log.filter((line) => line.includes('"status":499')).length
    while (gone() < 4) await sleep(5)
    const paid = Number(await used(world, token))
    t.ok(paid > 0 && paid < 4 * wideRows, String(paid))
    const again = await world.get('/v1/wide/export?id=eq.0&select=id', token)
    t.match(controlIn(again.text), [{ complete: true, rows: 1 }])
    t.equal(await used(world, token), paid + 1, 'not one page more')
    t.equal(world.log.filter((line) => line.includes('"level":50')).length, 0)
  },
)
