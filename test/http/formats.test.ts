import { parse } from 'csv-parse/sync'
import t from 'tap'
import { isError } from '../support/answers.js'
import { filesOnly } from '../support/tables.js'
import { startThings } from '../support/things.js'
import { startWorld } from '../support/world.js'
import type { Answer, World } from '../support/world.js'

const page = '/v1/things?year=gte.2022&select=id,2110,note,year'

/** Every page of a walk, by what names the next one. */
async function walk(
  world: World,
  token: string,
  url: string,
  next: (answer: Answer) => string | null,
): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  for (let at: string | null = url; at !== null; at = next(answers.at(-1) as Answer)) {
    answers.push(await world.get(at, token))
  }
  return answers
}

const readCsv = (text: string): readonly (readonly string[])[] => parse(text)
const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

await t.test('the same rows in every format, digits and order as they are', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const json = await world.get(page, token)
  const ndjson = await world.get(`${page}&format=ndjson`, token)
  t.equal(ndjson.headers['content-type'], 'application/x-ndjson; charset=utf-8')
  t.equal(`{"data":[${linesOf(ndjson.text).join(',')}],"next_cursor":null}`, json.text)
  const csv = await world.get(`${page}&format=csv`, token)
  t.equal(csv.headers['content-type'], 'text/csv; charset=utf-8; header=present')
  const [header, ...rows] = readCsv(csv.text)
  t.strictSame(header, ['id', '2110', 'note', 'year'])
  const cells = json.body.data.map((row) => header?.map((name) => String(row[name] ?? '')))
  t.strictSame(rows, cells)
  t.ok(csv.text.endsWith('\r\n'))
  for (const answer of [json, ndjson, csv]) {
    t.equal(answer.headers['x-next-cursor'], undefined, 'the last page')
    t.equal(answer.headers['link'], undefined)
  }
})

await t.test('a page of no rows', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const none = '/v1/things?id=eq.none&select=id,2110'
  t.equal((await world.get(`${none}&format=ndjson`, token)).text, '')
  t.equal((await world.get(`${none}&format=csv`, token)).text, 'id,2110\r\n')
})

await t.test('a walk by X-Next-Cursor, and by Link in any format, is the whole', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const whole = (await world.get(page, token)).body.data
  const byHeader = ({ headers }: Answer) => {
    const cursor = headers['x-next-cursor']
    return cursor === undefined ? null : `${page}&limit=4&format=ndjson&cursor=${String(cursor)}`
  }
  const byLink = ({ headers }: Answer) => {
    const found = /^<(\?[^>]*)>; rel="next"$/.exec(String(headers['link'] ?? ''))
    return found ? `/v1/things${found[1]}` : null
  }
  const ndjson = await walk(world, token, `${page}&limit=4&format=ndjson`, byHeader)
  t.equal(ndjson.length, 4)
  t.strictSame(
    ndjson.flatMap(({ text }) => linesOf(text)).map((line) => JSON.parse(line) as unknown),
    whole,
  )
  for (const format of ['json', 'ndjson', 'csv']) {
    const answers = await walk(world, token, `${page}&limit=4&format=${format}`, byLink)
    t.strictSame(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
      format,
    )
    const ids = answers.flatMap(({ text, body }) =>
      format === 'json'
        ? body.data.map(({ id, year }) => `${String(id)} ${String(year)}`)
        : format === 'csv'
          ? readCsv(text)
              .slice(1)
              .map(([id, , , year]) => `${id} ${year}`)
          : linesOf(text).map((line) => {
              const { id, year } = JSON.parse(line) as { id: string; year: number }
              return `${id} ${year}`
            }),
    )
    t.strictSame(
      ids,
      whole.map(({ id, year }) => `${String(id)} ${String(year)}`),
      format,
    )
  }
})

await t.test('a link that would be too long for a header is left out', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const many = Array.from({ length: 900 }, (_, index) => `a${index}`).join()
  const { status, headers, body } = await world.get(`/v1/things?id=in.${many}&limit=1`, token)
  t.equal(status, 200)
  t.type(body.next_cursor, 'string')
  t.equal(headers['link'], undefined)
})

await t.test(
  'format in the URL, else what the caller accepts, also for POST and HEAD',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['things:pro'])
    const typeOf = async (accept: string, query = '', method: 'GET' | 'HEAD' = 'GET') => {
      const answer = await world.get(`${page}${query}`, token, { method, headers: { accept } })
      return String(answer.headers['content-type']).split(';', 1)[0]
    }
    const [json, ndjson, csv] = ['application/json', 'application/x-ndjson', 'text/csv']
    for (const [accept, type] of [
      ['*/*', json],
      ['text/csv', csv],
      ['text/*', csv],
      ['application/x-ndjson', ndjson],
      ['application/*', json],
      ['text/html, text/csv;q=0.9, */*;q=0.8', csv],
      ['application/json;q=0.2, application/x-ndjson;q=0.3', ndjson],
      ['text/csv, application/json', json],
      ['*/*, application/json;q=0', ndjson],
    ] as const) {
      t.equal(await typeOf(accept), type, accept)
      t.equal(await typeOf(accept, '', 'HEAD'), type, accept)
      t.equal(await typeOf(accept, '&format=csv'), csv, 'the URL counts')
    }
    const posted = await world.app.server.inject({
      method: 'POST',
      url: '/v1/things/query',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'text/csv',
      },
      payload: '{"select": ["id"], "limit": 2}',
    })
    t.equal(posted.body, 'id\r\na0\r\na1\r\n')
    t.type(posted.headers['x-next-cursor'], 'string')
    t.equal(posted.headers['link'], undefined, 'a POST has no address')
  },
)

await t.test(
  'charges and tags: the same rows cost the same, other bytes are another tag',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['things:tiny'])
    const ask = (format: string, tag = '') =>
      world.get(`/v1/things?year=eq.2024&limit=2&format=${format}`, token, {
        headers: { 'if-none-match': tag },
      })
    const json = await ask('json')
    const csv = await ask('csv')
    t.not(json.headers['etag'], csv.headers['etag'])
    t.equal(csv.headers['x-quota-rows-remaining'], '3')
    t.equal((await ask('csv', String(csv.headers['etag']))).status, 304)
    t.equal((await ask('ndjson', String(csv.headers['etag']))).status, 200)
    const cut = await ask('csv')
    t.equal(readCsv(cut.text).length, 2, 'a header and the one row that was left')
    t.type(cut.headers['x-next-cursor'], 'string')
    isError(t, await ask('csv'), 'row_quota_exceeded', /./)
  },
)

await t.test('texts that CSV must quote, and names that it must', filesOnly('names'), async (t) => {
  const texts = ['a,b', 'say "no"', 'line\nbreak', 'cr\rlf', ' led', 'trailed ', '', '=1+1', 'Имя']
  const list = texts.map((text) => `'${text.replaceAll("'", "''")}'`).join()
  const world = await startWorld(t, {
    files: {
      'data/texts.parquet': `SELECT i AS id, ([${list}, NULL])[i] AS "odd, ""name""",
        {'k': i, 'v': [i]} AS nested FROM range(1, ${texts.length + 2}) r(i)`,
    },
    registry: `datasets: {texts: {title: T, files: data/texts.parquet,
      plans: {all: {rows_per_month: 1000, history: all, price_rub: 0}}}}`,
  })
  const { token } = await world.subscribe(['texts:all'])
  const { text } = await world.get('/v1/texts?format=csv', token)
  const [header, ...rows] = readCsv(text)
  t.strictSame(header, ['id', 'odd, "name"', 'nested'])
  t.strictSame(
    rows,
    [...texts, ''].map((each, index) => {
      const id = index + 1
      return [String(id), each, `{"k":${id},"v":[${id}]}`]
    }),
  )
  t.match(text, '\r\n7,"",')
  t.match(text, '\r\n10,,', 'null is nothing at all')
})
