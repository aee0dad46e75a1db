import t from 'tap'
import { bring, forms } from '../../support/brought-files.js'

// Guarantee: types that a reader of other tools meets every day, such as a column that was empty
// for a year, are united by what the files hold; a value is never changed for it.

await t.test('a column without a type fits the type of the other files', async (t) => {
  const { check, ask } = await bring(t, { field: 'pandas_all_null', lines: '    key: [inn, year]' })
  t.match(check, /^things: (ok|warning)/)
  for (const form of forms) {
    t.equal(
      await ask(form, 'year=in.2023,2024'),
      '{"data":[{"inn":"7700000001","year":2023,"s":"Альфа","day":"2023-05-06"},' +
        '{"inn":"7700000001","year":2024,"s":null,"day":null}],"next_cursor":null}',
      form,
    )
    t.match(await ask(form, 's=contains.альфа'), '"year":2023')
    t.match(await ask(form, 'day=gt.2023-01-01&select=year'), '{"data":[{"year":2023}],')
    t.match(await ask(form, 'day=is_null&select=year'), '{"data":[{"year":2024}],')
  }
})

await t.test('whole numbers with a gap stay whole', async (t) => {
  const { ask } = await bring(t, { field: 'pandas_int_gap', lines: '    key: id' })
  for (const form of forms) {
    t.equal(
      await ask(form, 'limit=10'),
      '{"data":[{"id":1,"x":5},{"id":2,"x":6},{"id":3,"x":7},{"id":4,"x":null}],"next_cursor":null}',
      form,
    )
    t.match(await ask(form, 'x=eq.7&select=id'), '{"data":[{"id":3}]')
    t.match(await ask(form, 'x=is_null&select=id'), '{"data":[{"id":4}]')
  }
})

await t.test('days that became moments stay days', async (t) => {
  const lines = '    key: [inn, day]\n    history: day'
  const { ask } = await bring(t, { field: 'pandas_date_drift', lines })
  for (const form of forms) {
    t.match(
      await ask(form, 'inn=eq.7700000000&select=day'),
      '[{"day":"2023-01-02"},{"day":"2024-01-02"}]',
    )
    t.match(await ask(form, 'day=eq.2024-01-02&limit=1&select=v'), '"v":2024000')
  }
})

/** A column that differs in two files: its value in the first, those in the second, the cells served. */
const united = {
  'a DOUBLE without a value beside texts': ["'a'", ['NULL::DOUBLE'], ['"a"', 'null']],
  'NaN for what is missing': [
    '9007199254740993',
    ["'nan'::DOUBLE", '4::DOUBLE'],
    ['9007199254740993', 'null', '4'],
  ],
  'large whole numbers': [
    '18446744073709551615::UBIGINT',
    ['1e19::DOUBLE'],
    ['"18446744073709551615"', '"10000000000000000000"'],
  ],
  'FLOAT beside BIGINT': ['5::BIGINT', ['7::FLOAT'], ['5', '7']],
  'negative zero': ['5::BIGINT', ['-0.0::DOUBLE'], ['5', '0']],
  'moments of two units': [
    "TIMESTAMP_NS '2024-01-02 03:04:05.123456'",
    ["TIMESTAMP '9999-01-02 03:04:05'"],
    ['"2024-01-02T03:04:05.123456"', '"9999-01-02T03:04:05"'],
  ],
  'a list without a value': ["['a']", ['NULL::INTEGER[]'], ['["a"]', 'null']],
  'a struct whose fields moved, widened and became more': [
    "{'a': 1, 'b': 'x'}",
    ["{'b': 'y', 'c': true, 'a': 5000000000}", "{'b': NULL, 'c': NULL, 'a': NULL}"],
    [
      '{"a":1,"b":"x","c":null}',
      '{"a":5000000000,"b":"y","c":true}',
      '{"a":null,"b":null,"c":null}',
    ],
  ],
  'structs in lists and maps': [
    "MAP {'k': [{'a': 1}]}",
    ["MAP {'k': [{'b': {'c': DATE '2024-01-02'}}]}", 'NULL'],
    ['{"k":[{"a":1,"b":null}]}', '{"k":[{"a":null,"b":{"c":"2024-01-02"}}]}', 'null'],
  ],
  'a boolean without a value': ['true', ['NULL::VARCHAR'], ['true', 'null']],
} as const

await t.test('columns that differ are united without loss', async (t) => {
  const cases = Object.entries(united)
  const first = cases.map(([, [value]], at) => `${value} AS x${at}`)
  const second = cases.map(
    ([, [, [value, next = value]]], at) => `CASE i WHEN 0 THEN ${value} ELSE ${next} END AS x${at}`,
  )
  const files = {
    'data/1.parquet': `SELECT 1 AS id, ${first.join(', ')}`,
    'data/2.parquet': `SELECT i + 2 AS id, ${second.join(', ')} FROM range(2) t(i)`,
  }
  const { ask, reason } = await bring(t, { files, lines: '    key: id' })
  t.equal(reason, null)
  for (const [at, [name, [, , [cell, next, last = next]]]] of cases.entries()) {
    const rows = [cell, next, last].map((each, row) => `{"id":${row + 1},"x${at}":${each}}`)
    for (const form of forms) {
      const answer = await ask(form, `select=id,x${at}&limit=10`)
      t.match(answer, `{"data":[${rows.join(',')}],`, `${name}, ${form}`)
    }
  }
})

await t.test('fields of structs that differ only in case have no common type', async (t) => {
  const files = {
    'data/1.parquet': "SELECT 1 AS id, {'a': 1} AS x",
    'data/2.parquet': "SELECT 2 AS id, {'b': 1, 'A': 2} AS x",
  }
  t.match((await bring(t, { files })).reason, /column "x" is STRUCT.* no type holds both/)
})

const gap = {
  'data/1.parquet': 'SELECT i AS id, i AS x FROM range(3000) t(i)',
  'data/2.parquet': `SELECT 3000 + i AS id, CASE i WHEN 2500 THEN 7.5 ELSE i END::DOUBLE AS x
    FROM range(3000) t(i)`,
}

await t.test('a value that does not fit is named with its row and the way on', async (t) => {
  const refused = await bring(t, { files: gap })
  const reason =
    'column "x" is BIGINT in data/1.parquet and DOUBLE in data/2.parquet, where row 2500 ' +
    '(counted from 0) has "7.5", which BIGINT can\'t hold; correct it, or serve all as numbers: ' +
    'columns: {"x": {type: number}}'
  t.match(refused.reason, reason)
  t.match(refused.check, reason)
  const { ask } = await bring(t, {
    files: gap,
    lines: '    key: id\n    columns: {x: {type: number}}',
  })
  for (const form of forms) {
    t.match(await ask(form, 'id=in.7,5500&select=x'), '[{"x":7.0},{"x":7.5}]', form)
    t.match(await ask(form, 'x=eq.7.5&select=id'), '[{"id":5500}]')
  }
})

await t.test(
  'days with an hour are named, and served as moments if the owner says so',
  async (t) => {
    const files = {
      'data/1.parquet': "SELECT 1 AS id, DATE '2024-01-02' AS x",
      'data/2.parquet': "SELECT 2 AS id, TIMESTAMP '2024-01-02 05:00:00' AS x",
    }
    t.match((await bring(t, { files })).reason, /row 0 .* "2024-01-02T05:00:00", .*type: timestamp/)
    const lines = '    key: x\n    history: x\n    columns: {x: {type: timestamp}}'
    const { ask } = await bring(t, { files, lines })
    for (const form of forms) {
      t.match(
        await ask(form, 'select=x'),
        '[{"x":"2024-01-02T00:00:00"},{"x":"2024-01-02T05:00:00"}]',
      )
      t.match(await ask(form, 'x=gt.2024-01-02T01:00:00&select=id'), '[{"id":2}]', form)
    }
  },
)

await t.test('a stated type must hold every value', async (t) => {
  const files = {
    'data/1.parquet': 'SELECT 1 AS id, 77 AS x',
    'data/2.parquet': "SELECT 2 AS id, '078' AS x",
  }
  t.match(
    (await bring(t, { files })).reason,
    /no type holds both .* columns: \{"x": \{type: string\}\}/,
  )
  const stated = (type: string) =>
    bring(t, { files, lines: `    key: x\n    columns: {x: {type: ${type}}}` })
  t.match((await stated('integer')).reason, /"x" can't be integer: .* row 0 .* has "078"/)
  const { ask } = await stated('string')
  for (const form of forms) {
    t.match(await ask(form, 'x=eq.77&select=x'), '[{"x":"77"}]', form)
    t.match(await ask(form, 'x=eq.078&select=id'), '[{"id":2}]')
  }
  await t.rejects(stated('text'), { message: /type: must be one of integer, number, string/ })
})

await t.test('one of many files is found, whatever its place', async (t) => {
  for (const place of [0, 7, 13]) {
    const files = Object.fromEntries(
      Array.from({ length: 14 }, (_, index) => [
        `data/${String(index).padStart(2, '0')}.parquet`,
        index === place
          ? `SELECT 100 + i AS id, i * 0.5 AS x FROM range(2) t(i)`
          : `SELECT ${index} AS id, ${index}::BIGINT AS x`,
      ]),
    )
    const name = `data/${String(place).padStart(2, '0')}.parquet`
    const { reason } = await bring(t, { files, lines: '    columns: {x: {type: integer}}' })
    t.match(reason, new RegExp(`in ${name}, where row 1 .* has "0\\.5"`))
  }
})
