import t from 'tap'
import { column, isError } from '../support/answers.js'
import { filesOnly, parquetFormat } from '../support/tables.js'
import { startThings } from '../support/things.js'
import { startWorld } from '../support/world.js'

const inherited = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
  'then',
  'toJSON',
  'length',
]

// Guarantee: names that every JavaScript object inherits mean nothing to the service.
await t.test(
  'inherited names are unknown columns, operators, parameters, keys, datasets',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['things:pro'])
    const post = (body: string) => world.post('/v1/things/query', token, body)
    for (const name of inherited) {
      const unknown = /There is no column or parameter/
      isError(t, await world.get(`/v1/things?${name}=eq.1`, token), 'bad_request', unknown, name)
      isError(t, await world.get(`/v1/things?${name}`, token), 'bad_request', /has no value/, name)
      isError(t, await world.get(`/v1/things?select=${name}`, token), 'bad_request', unknown, name)
      isError(
        t,
        await world.get(`/v1/things?id=${name}.1`, token),
        'bad_request',
        /no operator/,
        name,
      )
      isError(
        t,
        await world.get(`/v1/things?id=${name}`, token),
        'bad_request',
        /no operator/,
        name,
      )
      isError(
        t,
        await world.get(`/v1/${name}`, token),
        'not_found',
        /no dataset of this name/,
        name,
      )
      isError(
        t,
        await world.get(`/v1/${name}/schema`, token),
        'not_found',
        /no dataset of this name/,
        name,
      )
      isError(t, await post(`{"${name}":1}`), 'bad_request', /unknown key/, name)
      isError(
        t,
        await post(`{"${name}":{"limit":1},"limit":1}`),
        'bad_request',
        /unknown key/,
        name,
      )
      const filter = `{"column":"id","op":"eq","value":"a1","${name}":{"op":"ne"}}`
      isError(t, await post(`{"filters":[${filter}]}`), 'bad_request', /unknown key/, name)
      for (const [place, body] of Object.entries({
        column: `{"filters":[{"column":"${name}","op":"eq","value":1}]}`,
        op: `{"filters":[{"column":"id","op":"${name}","value":1}]}`,
        select: `{"select":["${name}"]}`,
      })) {
        isError(t, await post(body), 'bad_request', /There is no column|no operator/, place)
      }
      t.equal(
        (await world.get(`/v1/things?id=eq.${name}`, token)).text,
        '{"data":[],"next_cursor":null}',
      )
    }
    const { polluted } = {} as { polluted?: unknown }
    t.equal(polluted, undefined)
  },
)

await t.test(
  'a dataset may have such columns, and serves and filters them',
  filesOnly('names'),
  async (t) => {
    const names = ['__proto__', 'constructor', 'toString', 'a"b', "a'b", 'a.b', 'a,b', 'Ж', '1', '']
    const columns = names.filter((name) => name !== '')
    const list = columns.map((name, index) => `${index} AS "${name.replaceAll('"', '""')}"`)
    const world = await startWorld(t, {
      files: { 'data/odd.parquet': `SELECT ${list.join()}` },
      registry: `
datasets:
  odd:
    title: Odd
    files: data/odd.parquet
    plans: {p: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 10000}}
`,
    })
    const { token } = await world.subscribe(['odd:p'])
    const all = await world.get('/v1/odd', token)
    const pairs = columns.map((name, index) => `${JSON.stringify(name)}:${index}`)
    t.equal(all.text, `{"data":[{${pairs.join()}}],"next_cursor":null}`, 'in order, each once')
    for (const [index, name] of columns.entries()) {
      const encoded = encodeURIComponent(name)
      const found = await world.get(`/v1/odd?${encoded}=eq.${index}`, token)
      t.equal(found.text, all.text, name)
      const selected = await world.get(
        `/v1/odd?select=${encodeURIComponent(`"${name.replaceAll('"', '\\"')}"`)}`,
        token,
      )
      t.equal(
        selected.text,
        `{"data":[{${JSON.stringify(name)}:${index}}],"next_cursor":null}`,
        name,
      )
      const byBody = await world.post('/v1/odd/query', token, {
        filters: [{ column: name, op: 'eq', value: index + 1 }],
        select: [name],
      })
      t.equal(byBody.text, '{"data":[],"next_cursor":null}', name)
    }
    const schema = await world.get('/v1/odd/schema', token)
    t.same(
      (schema.body['columns'] as { name: string }[]).map(({ name }) => name),
      columns,
    )
  },
)

await t.test(
  'a parameter twice is both filters, or a mistake; never the last one only',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['things:pro'])
    const both = await world.get('/v1/things?id=eq.a1&id=eq.a2', token)
    t.same(both.body.data, [])
    for (const name of ['limit', 'cursor', 'format']) {
      for (const second of [name, `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`]) {
        const answer = await world.get(`/v1/things?${name}=1&${second}=1`, token)
        isError(t, answer, 'bad_request', new RegExp(`"${name}" is given twice`), second)
      }
    }
    for (const array of ['id[]=eq.a1', 'id[0]=eq.a1', 'id[eq]=a1', 'select[]=id']) {
      isError(t, await world.get(`/v1/things?${array}`, token), 'bad_request', /no column/, array)
    }
  },
)

// Guarantee: what is not UTF-8, or not Unicode, is refused, not guessed at.
await t.test('broken encodings are 400, NUL and every valid character are text', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const broken = ['%', '%2', '%zz', '%u0041', '%c0%af', '%e0%80%af', '%f8%a1%a1%a1%a1', '%ff']
  for (const text of [...broken, '%ed%a0%80', '%ed%b0%80', '%f4%90%80%80', '%c3', 'a%80b']) {
    for (const query of [`id=eq.${text}`, `${text}=eq.1`, `select=${text}`, `cursor=${text}`]) {
      const answer = await world.get(`/v1/things?${query}`, token)
      isError(t, answer, 'bad_request', /broken percent-encoding or is not UTF-8/, query)
    }
  }
  for (const text of [
    '%00',
    'a1%00',
    '%00a1',
    '%01',
    '%7f',
    '%ef%bf%bf',
    '%f0%9f%98%80',
    '%e2%80%ae',
  ]) {
    const answer = await world.get(`/v1/things?id=eq.${text}`, token)
    t.equal(answer.text, '{"data":[],"next_cursor":null}', text)
    const like = await world.get(`/v1/things?id=like.${text}*`, token)
    t.equal(like.text, '{"data":[],"next_cursor":null}', text)
    isError(t, await world.get(`/v1/things?${text}=eq.1`, token), 'bad_request', /no column/, text)
  }
  const lone = ['\\ud800', '\\udc00', 'a\\ud83d', '\\udc00\\ud800']
  for (const text of lone) {
    const places = {
      value: `{"filters":[{"column":"id","op":"eq","value":"${text}"}]}`,
      list: `{"filters":[{"column":"id","op":"in","value":["a1","${text}"]}]}`,
      column: `{"filters":[{"column":"${text}","op":"eq","value":"1"}]}`,
      select: `{"select":["${text}"]}`,
      cursor: `{"cursor":"${text}"}`,
      key: `{"${text}":1}`,
    }
    for (const [place, body] of Object.entries(places)) {
      isError(t, await world.post('/v1/things/query', token, body), 'bad_request', /./, place)
    }
  }
  for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0x80]]) {
    const body = Buffer.concat([Buffer.from('{"cursor":"'), Buffer.from(bytes), Buffer.from('"}')])
    const answer = await world.get('/v1/things/query', token, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    isError(t, answer, 'bad_request', /^The body is not UTF-8\.$/)
  }
})

await t.test('a text with NUL or half an emoji is found by exactly that text', async (t) => {
  const world = await startWorld(t, {
    storedOrder: { texts: ['id'] },
    files: {
      'data/a.parquet': `SELECT * FROM (VALUES (1, 'a' || chr(0) || 'b'), (2, 'a'), (3, 'ab'),
        (4, '😀'), (5, '😁'), (6, 'é'), (7, 'e' || chr(769)), (8, chr(0))) v(id, text)`,
    },
    registry: `
datasets:
  texts:
    title: Texts
    files: data/a.parquet
    plans: {p: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 10000}}
`,
  })
  const { token } = await world.subscribe(['texts:p'])
  const texts = ['a\0b', 'a', 'ab', '😀', '😁', 'é', 'e\u0301', '\0']
  for (const [index, text] of texts.entries()) {
    const byUrl = await world.get(`/v1/texts?text=eq.${encodeURIComponent(text)}`, token)
    t.same(column(byUrl, 'id'), [index + 1], JSON.stringify(text))
    t.same(column(byUrl, 'text'), [text])
    const filters = [{ column: 'text', op: 'in', value: [text, 'nothing'] }]
    const byBody = await world.post('/v1/texts/query', token, { filters })
    t.same(column(byBody, 'id'), [index + 1], JSON.stringify(text))
  }
  const like = await world.get('/v1/texts?text=like.a%00*', token)
  t.same(column(like, 'id'), [1])
})

// Guarantee: no text of a caller or of a cell ends a statement of ours where it has a NUL.
await t.test(
  'NUL in a name of an answer is refused, in a value that names one replaced',
  async (t) => {
    const world = await startWorld(t, {
      files: {
        'data/a.parquet': `SELECT * FROM (VALUES (1, 'a' || chr(0) || 'b'),
        (2, 'a' || chr(65533) || 'b'), (3, chr(0)), (4, 'c')) v(id, text)`,
      },
      registry: `
datasets:
  texts:
    title: Texts
    files: data/a.parquet
    plans: {p: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 10000}}
`,
    })
    const { token } = await world.subscribe(['texts:p'])
    const formats = ['json', 'ndjson', 'csv', 'xlsx', ...parquetFormat]
    const path = '/v1/texts/aggregate'
    for (const format of formats) {
      for (const name of ['\0', 'a\0', '"\0:"']) {
        const measures = encodeURIComponent(`${name}:count`)
        const refused = await world.get(`${path}?measures=${measures}&format=${format}`, token)
        isError(t, refused, 'bad_request', /a name has the character U\+0000/, format)
      }
      const query = `group=id&pivot=text&measures=count&limit=1&format=${format}`
      t.equal((await world.get(`${path}?${query}`, token)).status, 200, format)
    }
    const { body } = await world.get(`${path}?group=id&pivot=text&measures=count&limit=1`, token)
    t.same(body.data, [{ id: 1, '\ufffd': 0, 'a\ufffdb': 1, 'a\ufffdb (2)': 0, c: 0 }])
  },
)
