import t from 'tap'
import type { Test } from 'tap'
import { column, isError } from '../support/answers.js'
import { askBoth, urlQuery } from '../support/carriers.js'
import type { TestValue } from '../support/carriers.js'
import { startTyped } from '../support/typed.js'

type Case = readonly [
  column: string,
  op: string,
  value: TestValue | undefined,
  ids: readonly number[],
]

/** Each filter through both carriers, against the ids of the rows that it should find. */
async function findsRows(t: Test, cases: readonly Case[]): Promise<void> {
  const world = await startTyped(t)
  const { token } = await world.subscribe(['typed:pro'])
  for (const [name, op, value, ids] of cases) {
    const filters = [value === undefined ? ([name, op] as const) : ([name, op, value] as const)]
    const question = { filters, select: ['id'], limit: 50 }
    const answer = await askBoth(t, world, token, 'typed', question)
    t.same(answer.status === 200 && column(answer, 'id'), ids, urlQuery(question))
  }
}

await t.test('integers are compared as arithmetic says, beyond their range too', (t) =>
  findsRows(t, [
    ['int', 'eq', 2, [4]],
    ['int', 'eq', '2.0', [4]],
    ['int', 'eq', '002', [4]],
    ['int', 'eq', '-0', [2]],
    ['int', 'eq', '1.5', []],
    ['int', 'gt', '1.5', [4, 5]],
    ['int', 'gte', '1.5', [4, 5]],
    ['int', 'lt', '1.5', [1, 2, 3]],
    ['int', 'lt', '-0.5', [1]],
    ['int', 'gt', '-5.000000000000000000001', [1, 2, 3, 4, 5]],
    ['int', 'lt', '99999999999999999999', [1, 2, 3, 4, 5]],
    ['int', 'gt', '99999999999999999999', []],
    ['int', 'lte', '-99999999999999999999', []],
    ['int', 'eq', '99999999999999999999', []],
    ['int', 'ne', '99999999999999999999', [1, 2, 3, 4, 5]],
    ['int', 'isdistinct', '99999999999999999999', [1, 2, 3, 4, 5, 6]],
    ['int', 'ne', 2, [1, 2, 3, 5]],
    ['int', 'isdistinct', 2, [1, 2, 3, 5, 6]],
    ['int', 'in', [2, '2', '2.0', '-5', '99999999999999999999'], [1, 4]],
    ['int', 'in', ['1.5', '99999999999999999999'], []],
    ['int', 'not_in', [2, '1.5'], [1, 2, 3, 5]],
    ['int', 'not_in', ['1.5'], [1, 2, 3, 4, 5]],
    ['int', 'is_null', undefined, [6]],
    ['int', 'not_null', undefined, [1, 2, 3, 4, 5]],
    ['int', 'eq', '2e0', [4]],
    ['int', 'eq', '20E-1', [4]],
    ['int', 'eq', '2.147483647e+9', [5]],
    ['int', 'eq', '15e-1', []],
    ['int', 'gt', '15e-1', [4, 5]],
    ['int', 'lt', '1e999999999', [1, 2, 3, 4, 5]],
    ['int', 'gte', '1e999999999', []],
    ['int', 'gt', '-1e999999999', [1, 2, 3, 4, 5]],
    ['int', 'gt', '1e-999999999', [3, 4, 5]],
    ['int', 'lte', '1e-999999999', [1, 2]],
    ['int', 'gt', '-1e-999999999', [2, 3, 4, 5]],
    ['int', 'eq', '0e999999999', [2]],
    ['int', 'in', [2, '1E0', '1e99'], [3, 4]],
    ['big', 'eq', 1e6, [5]],
    ['big', 'eq', '9007199254740993', [2]],
    ['big', 'eq', '9007199254740992', []],
    ['big', 'lte', '-9007199254740993', [1]],
    ['big', 'gt', '9223372036854775806', [4]],
    ['big', 'gt', '9223372036854775807', []],
    ['big', 'lt', '9223372036854775807.1', [1, 2, 3, 4, 5]],
  ]),
)

await t.test('decimals are exact to the last digit, exponents included', (t) =>
  findsRows(t, [
    ['dec', 'eq', '10.00', [1]],
    ['dec', 'eq', '10', [1]],
    ['dec', 'eq', 10.01, [2]],
    ['dec', 'eq', '10.010', [2]],
    ['dec', 'eq', '10.005', []],
    ['dec', 'gt', '10.005', [2, 4]],
    ['dec', 'lt', '-0.005', [3]],
    ['dec', 'gte', '9999999999999999.99', [4]],
    ['dec', 'gte', '9999999999999999.991', []],
    ['dec', 'eq', '1.0e1', [1]],
    ['dec', 'eq', '-1e-2', [3]],
    ['dec', 'eq', '1e-3', []],
    ['dec', 'gt', '1e-3', [1, 2, 4]],
    ['dec', 'lt', 1e-7, [3, 5]],
    ['dec', 'lt', '1e400', [1, 2, 3, 4, 5]],
    ['dbl', 'eq', 0.1, [1]],
    ['dbl', 'eq', '1e-1', [1]],
    ['dbl', 'eq', '-1E+300', [2]],
    ['dbl', 'lt', '-1e300', []],
    ['dbl', 'gt', '0', [1, 3, 4]],
    ['dbl', 'eq', '5e-324', [4]],
    ['dbl', 'lt', '1e999', [1, 2, 3, 4]],
    ['dbl', 'gt', '1e999', []],
    ['dbl', 'is_null', undefined, [5, 6]],
    ['dbl', 'ne', 0.1, [2, 3, 4]],
    ['dbl', 'isdistinct', 0.1, [2, 3, 4, 5, 6]],
    ['flt', 'eq', 0.1, [1]],
    ['flt', 'eq', '16777217', [2]],
    ['flt', 'eq', '3.4028235e38', [4]],
    ['flt', 'gt', '3.5e38', []],
    ['flt', 'is_null', undefined, [5, 6]],
    ['flt', 'in', [0.1, -0.5], [1, 3]],
  ]),
)

await t.test('truth values, dates and times are ISO 8601, a + may arrive as a space', (t) =>
  findsRows(t, [
    ['flag', 'eq', true, [1, 3, 5]],
    ['flag', 'eq', 'true', [1, 3, 5]],
    ['flag', 'ne', true, [2, 4]],
    ['flag', 'isdistinct', true, [2, 4, 6]],
    ['day', 'eq', '2024-02-29', [2]],
    ['day', 'lt', '1970-01-01', [3]],
    ['day', 'gte', '2024-02-01', [2, 4]],
    ['day', 'in', ['2000-01-01', '2024-01-31'], [1, 5]],
    ['day', 'eq', '9999-12-31', [4]],
    ['moment', 'eq', '2024-01-31T09:30:00.5', [1]],
    ['moment', 'eq', '2024-01-31 09:30:00.500000', [1]],
    ['moment', 'eq', '2024-02-29', [2]],
    ['moment', 'gt', '1969-12-31T23:59:59.9999985', [1, 2, 3, 4, 5]],
    ['moment', 'lt', '1969-12-31T23:59:59.9999995', [3]],
    ['zoned', 'eq', '2024-01-31T09:30:00+03:00', [1]],
    ['zoned', 'eq', '2024-01-31T09:30:00 03:00', [1]],
    ['zoned', 'eq', '2024-01-31T06:30:00Z', [1]],
    ['zoned', 'eq', '2024-01-31T06:30:00', [1]],
    ['zoned', 'lt', '2000-01-01T00:00:00+00:01', [3]],
    ['clock', 'gte', '12:00', [3, 4]],
    ['clock', 'eq', '12:00:00.000001', [4]],
    ['clock', 'lt', '24:00:00', [1, 2, 3, 4, 5]],
    ['uuid', 'eq', '00000000-0000-0000-0000-00000000000A', [1]],
    ['uuid', 'in', ['123e4567-e89b-12d3-a456-426614174000', 'nobody'], [2]],
    ['list', 'is_null', undefined, [3, 4, 5, 6]],
    ['bytes', 'not_null', undefined, [1, 2]],
  ]),
)

await t.test('text is compared exactly: not trimmed, without special letters', (t) =>
  findsRows(t, [
    ['text', 'eq', 'plain', [1]],
    ['text', 'eq', 'plain ', []],
    ['text', 'eq', ' plain', []],
    ['text', 'eq', 'Plain', []],
    ['text', 'eq', '', [4]],
    ['text', 'eq', 'a,b', [2]],
    ['text', 'eq', 'say "hi" \\', [3]],
    ['text', 'in', ['a,b', 'say "hi" \\', ''], [2, 3, 4]],
    ['text', 'not_in', ['a,b', 'a,b', 'plain'], [3, 4, 5]],
    ['text', 'like', 'plain*', [1, 5]],
    ['text', 'like', 'plain', [1]],
    ['text', 'like', '*', [1, 2, 3, 4, 5]],
    ['text', 'like', '', [4]],
    ['2110', 'eq', '(x)', [2]],
    ['2110', 'in', ['(x)', 'A'], [1, 2]],
    ['2110', 'like', '1%*', []],
    ['2110', 'like', '100%*', [3]],
    ['2110', 'like', 'a_*', [4]],
    ['2110', 'like', '__*', []],
    ['2110', 'eq', 'Ж*', [5]],
    ['2110', 'like', 'Ж*', [5]],
    ['uuid', 'like', '123E*', [2]],
    ['uuid', 'contains', '123E', [2]],
  ]),
)

await t.test('a malformed value is 400 with type and example', async (t) => {
  const world = await startTyped(t)
  const { token } = await world.subscribe(['typed:pro'])
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['int', 'eq.', /takes an integer, got ""\. Example: int=eq\.2024/],
    ['int', 'eq.1e', /"1e"/],
    ['dec', 'lt.1e5.5', /"1e5\.5"/],
    ['int', 'eq.+1', /" 1"/],
    ['int', 'eq.0x10', /"0x10"/],
    ['int', 'eq.1_000', /"1_000"/],
    ['int', 'eq.1.', /"1\."/],
    ['int', 'eq..5', /"\.5"/],
    ['int', 'eq.nil', /takes an integer, got "nil"/],
    ['int', 'eq.NaN', /"NaN"/],
    ['int', 'eq.١', /takes an integer, got "١"/],
    ['int', 'in.1,x', /"x"/],
    ['dec', 'eq.1,5', /"1,5".+Example: dec=eq\.1500\.25/],
    ['dbl', 'eq.Infinity', /"Infinity"/],
    ['flag', 'eq.1', /takes a boolean, got "1".+Example: flag=eq\.true/],
    ['flag', 'eq.TRUE', /"TRUE"/],
    ['flag', 'gt.true', /has no operator "gt"\. It has: eq, ne, isdistinct/],
    ['day', 'eq.2023-02-29', /takes a date, got "2023-02-29".+Example: day=eq\.2024-12-31/],
    ['day', 'eq.31.01.2024', /"31\.01\.2024"/],
    ['day', 'eq.2024-1-1', /"2024-1-1"/],
    ['day', 'eq.2024-01-31T00:00:00', /takes a date, got/],
    ['moment', 'eq.2024-01-31T25:00:00', /takes a timestamp/],
    ['moment', 'eq.2024-01-31T09:30:00Z', /takes a timestamp, got/],
    ['zoned', 'eq.2024-01-31T09:30:00%2B99:00', /takes a timestamp, got/],
    ['clock', 'eq.9:30', /takes a time.+09:30:00/],
    ['list', 'eq.1', /\(json\) has no operator "eq"\. It has: is_null, not_null/],
    ['text', 'like.a*b', /one \* at the end/],
    ['text', 'like.**', /one \* at the end/],
    ['text', 'gt.a', /\(string\) has no operator "gt"/],
  ]
  for (const [name, filter, detail] of cases) {
    const answer = await world.get(`/v1/typed?${name}=${filter}`, token)
    isError(t, answer, 'bad_request', detail, `${name}=${filter}`)
    t.match(answer.body.detail, `"${name}"`, 'it names the column')
  }
})

await t.test(
  'a JSON number that JSON readers round is refused; as a string it is exact',
  async (t) => {
    const world = await startTyped(t)
    const { token } = await world.subscribe(['typed:pro'])
    const ask = (value: string) =>
      world.post(
        '/v1/typed/query',
        token,
        `{"filters":[{"column":"big","op":"eq","value":${value}}]}`,
      )
    const rounded = ['9007199254740993', '-9007199254740992', '0.1234567890123456', '1e16', '1e400']
    for (const number of [...rounded, '12345678901234567890', '[1,9007199254740993]']) {
      isError(t, await ask(number), 'bad_request', /send it as a string/, number)
    }
    t.same(column(await ask('"9007199254740993"'), 'id'), [2])
    t.same(column(await ask('1e6'), 'id'), [5])
    t.same(column(await ask('1000000.0'), 'id'), [5])
    const limit = await world.post('/v1/typed/query', token, '{"limit":1.00000000000000001}')
    isError(t, limit, 'bad_request', /send it as a string/)
    for (const value of ['{}', '[[1]]', '[null]']) {
      isError(
        t,
        await ask(value),
        'bad_request',
        /must be a text, a number, true, false, or a list/,
      )
    }
    isError(t, await ask('true'), 'bad_request', /is an? integer|send the value as a string/)
  },
)

await t.test('a served value fed back as a filter finds its row, for every type', async (t) => {
  const world = await startTyped(t)
  const { token } = await world.subscribe(['typed:pro'])
  const { text } = await world.get('/v1/typed?limit=50', token)
  const exact = text.replace(/("\w+":)(-?\d[^,}]*)/g, '$1"$2"')
  const { data } = JSON.parse(exact) as { data: Record<string, unknown>[] }
  let fedBack = 0
  for (const row of data) {
    for (const [name, value] of Object.entries(row)) {
      if (typeof value !== 'string' && typeof value !== 'boolean') continue
      if (name === 'bytes') continue
      const found = await askBoth(t, world, token, 'typed', { filters: [[name, 'eq', value]] })
      t.ok(column(found, 'id').includes(Number(row['id'])), `${name}=eq.${String(value)}`)
      fedBack += 1
    }
  }
  t.ok(fedBack > 60)
})
