import t from 'tap'
import { isError } from '../support/answers.js'
import { startThings } from '../support/things.js'
import { threadMs } from '../support/thread-time.js'
import type { Answer } from '../support/world.js'

/** No single request may hold the event loop's thread, and so all others, for more of its time. */
const patienceMs = 2000

async function quickly(
  t: Parameters<typeof isError>[0],
  asked: () => Promise<Answer>,
  name: string,
) {
  const start = threadMs()
  const answer = await asked()
  const spentMs = Math.round(threadMs() - start)
  t.ok(spentMs < patienceMs, `${name}: ${spentMs} ms`)
  return answer
}

// Guarantee: a megabyte of anything is answered soon, with a 400 or with rows, never a 500.
await t.test(
  'a body of a megabyte is refused or served without delaying other requests',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['things:pro'])
    const many = (text: string, count: number) => Array<string>(count).fill(text).join()
    const bodies: Readonly<Record<string, string>> = {
      'deep lists': `{"filters":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
      'deep objects': `{"filters":[${'{"column":'.repeat(90_000)}1${'}'.repeat(90_000)}]}`,
      'unclosed lists': '['.repeat(1_000_000),
      'unclosed text': `{"cursor":"${'\\"'.repeat(500_000)}`,
      'a long text': `{"cursor":"${'a'.repeat(1_000_000)}"}`,
      'a text of escapes': `{"cursor":"${'\\u0041'.repeat(170_000)}"}`,
      'a text of quotes': `{"cursor":"${'\\"'.repeat(500_000)}"}`,
      'a long number': `{"limit":${'1'.repeat(1_000_000)}}`,
      'a long exponent': `{"limit":1e${'9'.repeat(1_000_000)}}`,
      'many numbers': `{"filters":[${many('0', 500_000)}]}`,
      'many empty filters': `{"filters":[${many('{}', 340_000)}]}`,
      'many filters': `{"filters":[${many('{"column":"id","op":"eq","value":"a"}', 26_000)}]}`,
      'many names': `{"select":[${many('"id"', 200_000)}]}`,
      'many values': `{"filters":[{"column":"id","op":"in","value":[${many('"a"', 250_000)}]}]}`,
      'many keys': `{${Array.from({ length: 80_000 }, (_, key) => `"k${key}":1`).join()}}`,
      'the same key': `{${many('"limit":1', 100_000)},"limit":0}`,
      'a long key': `{"${'k'.repeat(1_000_000)}":1}`,
      'a long column': `{"filters":[{"column":"${'c'.repeat(1_000_000)}","op":"eq","value":"a"}]}`,
      'a long operator': `{"filters":[{"column":"id","op":"${'o'.repeat(1_000_000)}","value":"a"}]}`,
      'a long digit text': `{"filters":[{"column":"2110","op":"eq","value":"${'9'.repeat(1_000_000)}"}]}`,
      'a long name': `{"select":["${'😀'.repeat(250_000)}"]}`,
      spaces: ' '.repeat(1_000_000),
    }
    for (const [name, body] of Object.entries(bodies)) {
      const answer = await quickly(t, () => world.post('/v1/things/query', token, body), name)
      isError(t, answer, 'bad_request', /./, name)
    }
    const long = JSON.stringify({
      filters: [{ column: 'id', op: 'eq', value: 'a'.repeat(1_000_000) }],
    })
    const answer = await quickly(
      t,
      () => world.post('/v1/things/query', token, long),
      'a long value',
    )
    t.equal(answer.text, '{"data":[],"next_cursor":null}')
  },
)

await t.test('spaces and signs in a summary do not delay other requests', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  for (const filler of [' ', '=', ' as ', '0', '("', 'a.', '-']) {
    const long = filler.repeat(Math.floor(400_000 / filler.length))
    const short = filler.repeat(Math.floor(9900 / filler.length))
    for (const [name, part] of Object.entries({
      having: { having: [long] },
      'having after a name': { having: [`count${long}5!`] },
      measures: { measures: [`count(id) as${short}!`] },
      group: { group: [`a${short}!`] },
      order: { order: [`-${short}desc !`] },
    })) {
      const body = { measures: ['count'], ...part }
      const asked = () => world.post('/v1/things/aggregate', token, body)
      isError(t, await quickly(t, asked, `${name} "${filler}"`), 'bad_request')
    }
  }
})

// Work that grew with the square of the length would outlast the test's own time limit.
await t.test('a number of a million zeros is refused quickly', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const body = `{"limit":1.${'0'.repeat(1_000_000)}1}`
  isError(t, await world.post('/v1/things/query', token, body), 'bad_request')
})

// Guarantee: no answer repeats more of a request than a few words, so none can be blown up.
await t.test('an error repeats at most 40 characters of what was sent', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const long = 'x'.repeat(5000)
  const asked = [
    world.get(`/v1/things?${long}=eq.1`, token),
    world.get(`/v1/things?id=${long}`, token),
    world.get(`/v1/things?select=${long}`, token),
    world.get(`/v1/things?limit=${long}`, token),
    world.get(`/v1/things?2110=eq.${long}`, token),
    world.get(`/v1/things?format=${long}`, token),
    world.post('/v1/things/query', token, { [long]: 1 }),
    world.post('/v1/things/query', token, { filters: [{ column: long, op: 'eq', value: '1' }] }),
    world.post('/v1/things/query', token, { filters: [{ column: 'id', op: long, value: '1' }] }),
  ]
  for (const { text } of await Promise.all(asked)) t.ok(text.length < 500, text.slice(0, 60))
})

await t.test('a URL of 30 KB is refused or served without delaying other requests', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const queries: Readonly<Record<string, string>> = {
    'many filters': 'id=eq.a1&'.repeat(3000),
    'many empty parameters': '&'.repeat(30_000),
    'many names': `select=${'id,'.repeat(10_000)}id`,
    'many quotes': `id=in.${'"'.repeat(30_000)}`,
    'many backslashes': `id=in."${'\\'.repeat(29_999)}`,
    'many commas': `id=in.${','.repeat(30_000)}`,
    'a long quoted value': `id=in."${'a'.repeat(29_000)}`,
    'many percents': `id=eq.${'%25'.repeat(10_000)}%`,
    'many stars': `id=like.${'*'.repeat(30_000)}`,
    'many dots': `id=${'.'.repeat(30_000)}`,
    'many digits': `2110=eq.${'9'.repeat(30_000)}`,
    'a long operator': `id=${'a'.repeat(30_000)}.1`,
    'a long column': `${'a'.repeat(30_000)}=eq.1`,
    'a long cursor': `cursor=${'A'.repeat(30_000)}`,
  }
  for (const [name, query] of Object.entries(queries)) {
    const answer = await quickly(t, () => world.get(`/v1/things?${query}`, token), name)
    if (name === 'many empty parameters') t.equal(answer.status, 200)
    else isError(t, answer, 'bad_request', /./, name)
  }
})

await t.test('the largest question that is allowed is answered', async (t) => {
  // It may take longer than a query's time on a busy machine.
  const world = await startThings(t, {}, { isTimeStill: true })
  const { token } = await world.subscribe(['things:pro'])
  const list = Array.from({ length: 1000 }, (_, index) => `a${index}`)
  for (const op of ['in', 'not_in']) {
    const filters = Array.from({ length: 50 }, () => ({ column: 'id', op, value: list }))
    const answer = await quickly(
      t,
      () => world.post('/v1/things/query', token, { filters, limit: 1000 }),
      op,
    )
    t.equal(answer.status, 200)
    t.equal(answer.body.data.length, op === 'in' ? 15 : 0)
  }
  const numbers = Array.from({ length: 1000 }, (_, index) => `${index}.${'0'.repeat(5)}`)
  const filters = Array.from({ length: 50 }, () => ({ column: '2110', op: 'in', value: numbers }))
  const answer = await quickly(
    t,
    () => world.post('/v1/things/query', token, { filters }),
    'numbers',
  )
  t.equal(answer.body.data.length, 15)
})
