import t from 'tap'
import type { Access } from '../../src/access/access.js'
import { parseJsonText } from '../../src/query/parse-json.js'
import { parseUrl } from '../../src/query/parse-url.js'
import { resolveQuestion } from '../../src/query/resolve-question.js'
import type { ResolvedQuestion } from '../../src/query/resolve-question.js'
import { accessTo, column, columns } from './fixtures/access.js'

const key = Buffer.alloc(32, 7)

function askUrl(
  query: string,
  access: Access = accessTo(),
  principal = 'sub_1',
): Promise<ResolvedQuestion> {
  return resolveQuestion(access, principal, key, parseUrl(query))
}

function askJson(body: unknown, access: Access = accessTo()): Promise<ResolvedQuestion> {
  return resolveQuestion(access, 'sub_1', key, parseJsonText(JSON.stringify(body)))
}

async function refusal(asking: () => Promise<ResolvedQuestion>): Promise<string> {
  try {
    await asking()
  } catch (cause) {
    const { code, detail } = cause as { code?: string; detail?: string }
    if (code === 'bad_request') return detail ?? ''
    throw cause
  }
  return ''
}

function urlRefusal(query: string, access?: Access): Promise<string> {
  return refusal(() => askUrl(query, access))
}

function filterRefusal(op: string, ...value: readonly unknown[]): Promise<string> {
  const [column, ...rest] = value
  const filter = rest.length === 0 ? { column, op } : { column, op, value: rest[0] }
  return refusal(() => askJson({ filters: [filter] }))
}

await t.test('a question has every visible column, the usual limit and no position', async (t) => {
  const { question } = await askUrl('')
  t.same(
    question.columns.map((each) => each.name),
    ['inn', 'year', 'price', 'share', 'day', 'flag', 'tags'],
  )
  t.equal(question.limit, 100)
  t.equal(question.after, null)
  t.same(question.predicates, [])
  t.ok(Object.isFrozen(question))
})

await t.test('what the access allows goes before what the caller asks', async (t) => {
  const window = { kind: 'gte', column: columns.year, value: 2024n } as const
  const { question } = await askUrl(
    'inn=eq.5&year=lte.2030',
    accessTo({}, {}, { predicates: [window] }),
  )
  t.same(
    question.predicates.map((each) => each.kind),
    ['gte', 'eq', 'lte'],
  )
  t.equal(question.predicates[0], window)
})

await t.test('select takes columns in the order wanted, each once', async (t) => {
  const names = async (query: string) =>
    (await askUrl(query)).question.columns.map((each) => each.name)
  t.same(await names('select=year,inn'), ['year', 'inn'])
  t.same(await names('select=tags'), ['tags'])
  t.equal(await urlRefusal('select=year,inn,year'), 'select names "year" twice. Name it once.')
  t.same(
    (await askJson({ select: [] })).question.columns,
    (await askJson({})).question.columns,
    'an empty list is as good as left out',
  )
  t.match(
    await urlRefusal('select=yaer'),
    /^There is no column or parameter "yaer"\. Did you mean "year"\?/,
  )
  t.match(
    await urlRefusal('select=Year'),
    /^There is no column or parameter "Year"\. Did you mean "year"\?/,
  )
})

await t.test('a limit is from 1 to the maximum of the dataset, and is never cut', async (t) => {
  const access = accessTo({ limit: { default: 10, max: 50 } })
  t.equal((await askUrl('', access)).question.limit, 10)
  t.equal((await askUrl('limit=1', access)).question.limit, 1)
  t.equal((await askUrl('limit=50', access)).question.limit, 50)
  for (const limit of [0, 51, 1000, 999_999_999_999_999]) {
    const detail = `limit must be from 1 to 50 for this dataset, got ${limit}.`
    t.equal(await urlRefusal(`limit=${limit}`, access), detail)
    t.equal(await refusal(() => askJson({ limit }, access)), detail)
  }
})

await t.test('the error for an unknown column or parameter names the nearest one', async (t) => {
  t.equal(
    await urlRefusal('innn=eq.5'),
    'There is no column or parameter "innn". Did you mean "inn"? GET /v1/things/schema lists the columns.',
  )
  t.match(await urlRefusal('=eq.5'), /^There is no column or parameter ""\./)
  t.match(await urlRefusal('__proto__=eq.5'), /^There is no column or parameter "__proto__"\./)
  t.match(
    await urlRefusal(`${'x'.repeat(5000)}=eq.5`),
    /^There is no column or parameter "x{40}…"\./,
  )
})

await t.test('a hidden column is an unknown one, to the last letter of the error', async (t) => {
  const visible = Object.values(columns).filter((each) => !each.hidden)
  const without = accessTo({}, { columns: visible })
  const queries = ['secret=eq.5', 'secre=eq.5', 'secret=nonsense', 'select=secret', 'secret=gt.x']
  for (const query of queries) {
    const detail = await urlRefusal(query)
    t.match(detail, /^There is no column or parameter "secret?"\./)
    t.equal(detail, await urlRefusal(query, without), query)
  }
})

await t.test(
  'the error for an unknown operator names the nearest one and all others',
  async (t) => {
    const has = 'It has: eq, ne, like, contains, in, not_in, isdistinct, is_null, not_null.'
    t.equal(
      await urlRefusal('inn=equals.5'),
      `Column "inn": there is no operator "equals". Did you mean "eq"? ${has}`,
    )
    t.equal(
      await urlRefusal('inn=is.5'),
      `Column "inn": there is no operator "is". Did you mean "in" or "isdistinct" or "is_null"? ${has}`,
    )
    t.equal(
      await urlRefusal('inn=7708004767'),
      `Column "inn": there is no operator "7708004767". Write inn=eq.value. ${has}`,
    )
    t.equal(
      await urlRefusal('inn='),
      `Column "inn": there is no operator "". Write inn=eq.value. ${has}`,
    )
    t.match(await urlRefusal('tags=5'), /Write tags=is_null\. It has: is_null, not_null\.$/)
    t.match(
      await urlRefusal('inn==is_null'),
      /there is no operator "=is_null"\. Did you mean "is_null"\?/,
    )
    t.match(await urlRefusal('inn=toString.5'), /there is no operator "toString"/)
    t.equal(
      await urlRefusal('inn=gt.5'),
      'Column "inn" (string) has no operator "gt". It has: eq, ne, like, contains, in, not_in, isdistinct, is_null, not_null.',
    )
  },
)

await t.test('JSON says the same as the URL, and one cursor fits both', async (t) => {
  const pairs: readonly (readonly [string, unknown])[] = [
    ['inn=eq.5', { column: 'inn', op: 'eq', value: '5' }],
    ['year=gte.2020', { column: 'year', op: 'gte', value: 2020 }],
    ['year=gte.2020', { column: 'year', op: 'gte', value: '2020' }],
    ['year=in.2020,2021', { column: 'year', op: 'in', value: [2021, '2020', 2020] }],
    ['price=lt.0.5', { column: 'price', op: 'lt', value: 0.5 }],
    ['price=lt.0.0000001', { column: 'price', op: 'lt', value: 1e-7 }],
    ['price=gt.-0.000000000125', { column: 'price', op: 'gt', value: -1.25e-10 }],
    ['share=eq.1e-7', { column: 'share', op: 'eq', value: 1e-7 }],
    ['flag=eq.true', { column: 'flag', op: 'eq', value: true }],
    ['day=eq.2024-02-29', { column: 'day', op: 'eq', value: '2024-02-29' }],
    ['inn=is_null', { column: 'inn', op: 'is_null' }],
    ['inn=like.77*', { column: 'inn', op: 'like', value: '77*' }],
    ['inn=in.%22a,b%22,c', { column: 'inn', op: 'in', value: ['a,b', 'c'] }],
  ]
  for (const [query, filter] of pairs) {
    const [url, json] = [await askUrl(query), await askJson({ filters: [filter] })]
    t.same(url.question.predicates.length > 0, true, query)
    t.equal(json.key, url.key, query)
    t.equal(json.cursorAfter({ file: 1, row: 2 }), url.cursorAfter({ file: 1, row: 2 }))
  }
})

await t.test('the error for a JSON value of the wrong kind says what it takes', async (t) => {
  t.equal(
    await filterRefusal('eq', 'inn', 5),
    'Column "inn" is a string: send the value as a string.',
  )
  t.equal(
    await filterRefusal('eq', 'inn', true),
    'Column "inn" is a string: send the value as a string.',
  )
  t.equal(
    await filterRefusal('eq', 'year', true),
    'Column "year" is an integer, got true. Example: 2024',
  )
  t.equal(await filterRefusal('eq', 'day', 5), 'Column "day" is a date, got 5. Example: 2024-12-31')
  t.equal(await filterRefusal('eq', 'flag', 1), 'Column "flag" is a boolean, got 1. Example: true')
  t.equal(
    await filterRefusal('in', 'inn', ['a', 5]),
    'Column "inn" is a string: send the value as a string.',
  )
  t.equal(
    await filterRefusal('eq', 'inn', 'a\ud800'),
    'Column "inn": the value is not valid Unicode.',
  )
})

await t.test('a JSON filter has the values that its operator takes', async (t) => {
  t.equal(
    await filterRefusal('eq', 'inn'),
    'Column "inn": eq needs a value. Empty values are found by is_null.',
  )
  t.equal(
    await filterRefusal('eq', 'inn', ['5']),
    'Column "inn": eq takes one value; for a list, use in.',
  )
  t.equal(await filterRefusal('in', 'inn', '5'), 'Column "inn": in takes a list of values.')
  t.equal(await filterRefusal('in', 'inn'), 'Column "inn": in takes a list of values.')
  t.equal(await filterRefusal('in', 'inn', []), 'Column "inn": in needs a value.')
  t.equal(await filterRefusal('is_null', 'inn', '5'), 'Column "inn": is_null takes no value.')
  t.equal(await filterRefusal('is_null', 'inn', ['5']), 'Column "inn": is_null takes no value.')
  t.match(await filterRefusal('EQ', 'inn', '5'), /there is no operator "EQ"/)
})

await t.test('a request has at most 50 filters and 1000 values in a list', async (t) => {
  const filters = (count: number) => Array(count).fill('year=gt.1').join('&')
  t.equal((await askUrl(filters(50))).question.predicates.length, 50)
  t.equal(await urlRefusal(filters(51)), 'A request has at most 50 filters; this one has 51.')
  const list = (count: number) => `year=in.${Array.from({ length: count }, (_, n) => n).join()}`
  t.match((await askUrl(list(1000))).question.predicates, [{ kind: 'in' }])
  t.equal(
    await urlRefusal(list(1001)),
    'Column "year": in takes at most 1000 values; there are 1001.',
  )
})

await t.test(
  'the first request to a large dataset needs a filter, and the hint is a good one',
  async (t) => {
    const large = { requireFilter: true }
    const hint = (version: Parameters<typeof accessTo>[1], access: Partial<Access> = {}) =>
      urlRefusal('', accessTo(large, version, access))
    const says = (example: string) =>
      `This dataset needs at least one filter. Add one to the first request, for example ${example}.`
    t.equal(
      await hint({ history: columns.year, newestHistory: 2025n, key: [columns.inn] }),
      says('year=eq.2025'),
    )
    t.equal(
      await hint({ history: columns.year, newestHistory: 2025n }, { plan: null }),
      says('year=eq.2024'),
      'a demo subset may not reach the newest year',
    )
    t.equal(await hint({ history: columns.day }), says('day=gte.2024-12-31'))
    t.equal(await hint({ key: [columns.inn] }), says('inn=eq.text'))
    t.equal(
      await hint({ history: columns.secret, key: [columns.secret, columns.inn] }),
      says('inn=eq.text'),
    )
    t.equal(
      await hint({ key: [columns.tags] }),
      says('inn=eq.text'),
      'no filter on what can not be compared',
    )
    t.equal(
      await hint({ columns: [columns.tags] }),
      'This dataset needs at least one filter. Add one to the first request.',
    )
  },
)

await t.test(
  'a large dataset answers a filter of any kind, and a walk that has begun',
  async (t) => {
    const access = accessTo({ requireFilter: true })
    t.equal(await urlRefusal('inn=eq.5', access), '')
    t.equal(await urlRefusal('year=isdistinct.1.5', access), '', 'even one that every row passes')
    t.match(
      await urlRefusal('limit=1&select=inn', access),
      /^This dataset needs at least one filter/,
    )
    const cursor = (await askUrl('')).cursorAfter({ file: 0, row: 5 })
    t.same((await askUrl(`cursor=${cursor}`, access)).question.after, { file: 0, row: 5 })
  },
)

await t.test('a cursor continues with the same filters in any spelling', async (t) => {
  const cursor = (await askUrl('year=gte.2020&inn=in.b,a')).cursorAfter({ file: 3, row: 70_000 })
  const same = [
    'inn=in.a,b&year=gte.2020',
    'year=gte.02020.0&inn=in.a,b,a&limit=5',
    'year=gte.2020&inn=in.b,a&select=price',
  ]
  for (const query of same) {
    t.same(
      (await askUrl(`${query}&cursor=${cursor}`)).question.after,
      { file: 3, row: 70_000 },
      query,
    )
  }
  const invalid =
    'The cursor is not valid for this request. Repeat the request that gave it with the same filters, or start again without a cursor.'
  for (const query of [
    '',
    'year=gte.2020',
    'year=gte.2021&inn=in.b,a',
    'year=gt.2020&inn=in.b,a',
  ]) {
    t.equal(await urlRefusal(`${query}&cursor=${cursor}`), invalid, query)
  }
  const question = `year=gte.2020&inn=in.b,a&cursor=${cursor}`
  t.equal(await urlRefusal(question, accessTo({ name: 'others' })), invalid)
  t.equal(await urlRefusal(question, accessTo({}, { id: 'fedcba9876543210' })), invalid)
  t.equal(await refusal(() => askUrl(question, accessTo(), 'sub_2')), invalid)
  const beyond = (await askUrl('')).cursorAfter({ file: 4, row: 0 })
  t.equal(await urlRefusal(`cursor=${beyond}`), invalid, 'no such file')
  t.equal(await urlRefusal('cursor='), invalid)
})

await t.test('the key of a question is equal for equal answers, and only for them', async (t) => {
  const keyOf = async (query: string) => (await askUrl(query)).key
  const cursor = async (row: number) => (await askUrl('')).cursorAfter({ file: 0, row })
  t.equal(await keyOf('year=eq.5&inn=eq.a'), await keyOf('inn=eq.a&year=eq.5.0&limit=100'))
  const different = [
    '',
    'limit=99',
    'select=inn',
    'select=inn,year',
    'select=year,inn',
    'inn=eq.a',
    'inn=ne.a',
    'inn=eq.a,b',
    'inn=in.a,b',
    `cursor=${await cursor(1)}`,
    `cursor=${await cursor(2)}`,
  ]
  t.equal(new Set(await Promise.all(different.map(keyOf))).size, different.length)
  t.notMatch(
    await keyOf(`cursor=${await cursor(77)}`),
    /77|row/,
    'an entity tag is no way to guess it',
  )
})

await t.test('a column with any name can be filtered by that name', async (t) => {
  const names = ['2110', 'a.b', 'a=b&c', 'сумма', 'eq', 'two words', '%']
  const access = accessTo({}, { columns: names.map((name) => column(name, 'INTEGER')) })
  for (const name of names) {
    const { question } = await askUrl(
      `${encodeURIComponent(name)}=eq.5&select=${encodeURIComponent(name)}`,
      access,
    )
    t.match(question.predicates, [{ kind: 'eq', column: { name }, value: 5n }])
    t.match(question.columns, [{ name }])
  }
})

// Guarantee: planning a request is bounded work, however its words are spread over its filters.
await t.test('all searches of a request have at most 500 words together', async (t) => {
  const search = (words: number) => ({
    column: 'inn',
    op: 'contains',
    value: Array.from({ length: words }, (_, index) => `w${index}`).join(' '),
  })
  const asked = (...counts: readonly number[]) =>
    refusal(() => askJson({ filters: counts.map(search) }))
  t.equal(await asked(200, 200, 100), '')
  t.match(await asked(200, 200, 101), /^A request searches for at most 500 words/)
  t.match(await asked(...Array<number>(50).fill(11)), /at most 500 words/)
})
