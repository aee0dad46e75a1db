import fc from 'fast-check'
import t from 'tap'
import { parseJsonText } from '../../src/query/parse-json.js'

function refusal(body: unknown): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  try {
    parseJsonText(text)
  } catch (cause) {
    const { code, detail } = cause as { code?: string; detail?: string }
    if (code === 'bad_request') return detail ?? ''
    throw cause
  }
  return ''
}

await t.test('a body asks what a URL asks', (t) => {
  t.same(parseJsonText('{}'), {
    filters: [],
    select: null,
    limit: null,
    cursor: null,
    format: null,
  })
  t.same(
    parseJsonText(
      JSON.stringify({
        filters: [
          { column: 'inn', op: 'eq', value: '7708004767' },
          { column: 'year', op: 'in', value: [2023, '2024', true] },
          { column: 'kpp', op: 'is_null' },
          { column: 'x', op: 'in', value: [] },
        ],
        select: ['year', '2110'],
        limit: 10,
        cursor: 'abc',
      }),
    ),
    {
      filters: [
        { column: 'inn', operator: 'eq', values: ['7708004767'], isList: false },
        { column: 'year', operator: 'in', values: [2023, '2024', true], isList: true },
        { column: 'kpp', operator: 'is_null', values: [], isList: false },
        { column: 'x', operator: 'in', values: [], isList: true },
      ],
      select: ['year', '2110'],
      limit: 10,
      cursor: 'abc',
      format: null,
    },
  )
  t.end()
})

await t.test('filters and select are understood as JSON in a string too', (t) => {
  const filters = [{ column: 'inn', op: 'eq', value: '"7,7"' }]
  const select = ['year', 'a "b"']
  const plain = parseJsonText(JSON.stringify({ filters, select, limit: 5 }))
  const textual = { filters: JSON.stringify(filters), select: JSON.stringify(select), limit: 5 }
  t.same(parseJsonText(JSON.stringify(textual)), plain)
  t.same(parseJsonText(JSON.stringify({ ...textual, filters })), plain, 'one of them alone')
  t.same(parseJsonText('{"filters":" [] "}'), {
    filters: [],
    select: null,
    limit: null,
    cursor: null,
    format: null,
  })
  const notList = 'select, sent as a string, is not valid JSON. Send a list of names.'
  t.equal(refusal({ select: 'year,2110' }), notList)
  t.equal(refusal({ select: '2110,2400' }), notList, 'names of digits')
  t.equal(refusal({ filters: 'x' }), 'filters, sent as a string, is not valid JSON.')
  t.equal(refusal({ select: '"year"' }), 'select: must be a list of column names, got "year".')
  t.equal(refusal({ filters: '{"a":1}' }), 'filters: must be a list of {column, op, value}.')
  t.equal(
    refusal({ filters: '[{"column":"a","op":"eq","value":12345678901234567890}]' }),
    "The number 12345678901234567890 can't be kept exactly in JSON: send it as a string.",
  )
  t.equal(
    refusal({ filters: JSON.stringify([{ column: 'a', op: 'in', value: Array(1001).fill(1) }]) }),
    'filters.0.value has 1001 elements, but at most 1000 are allowed.',
  )
  t.equal(refusal({ limit: '5.5' }), 'limit: must be a whole number of rows, got "5.5".')
  t.end()
})

await t.test('the error for a malformed question names the place and the right form', (t) => {
  const filter = { column: 'a', op: 'eq', value: 1 }
  const cases: readonly (readonly [unknown, string])[] = [
    ['', 'The body is not valid JSON.'],
    ['{', 'The body is not valid JSON.'],
    ["{'limit': 1}", 'The body is not valid JSON.'],
    ['NaN', 'The body is not valid JSON.'],
    ['[]', 'the body: must be an object {filters, select, limit, cursor}.'],
    ['null', 'the body: must be an object {filters, select, limit, cursor}, got null.'],
    ['5', 'the body: must be an object {filters, select, limit, cursor}, got 5.'],
    [{ limits: 5 }, 'limits: unknown key. Did you mean "limit"?'],
    ['{"__proto__": 1}', '__proto__: unknown key. It takes filters, select, limit, cursor.'],
    [{ filters: filter }, 'filters: must be a list of {column, op, value}.'],
    [{ filters: [5] }, 'filters.0: must be an object {column, op, value}, got 5.'],
    [{ filters: [{ op: 'eq' }] }, 'filters.0.column: is missing.'],
    [{ filters: [filter, { column: 'a' }] }, 'filters.1.op: is missing.'],
    [{ filters: [{ ...filter, column: 5 }] }, 'filters.0.column: must be a column name, got 5.'],
    [{ filters: [{ ...filter, op: null }] }, 'filters.0.op: must be an operator, got null.'],
    [
      { filters: [{ ...filter, operator: 'eq' }] },
      'filters.0.operator: unknown key. Did you mean "op"?',
    ],
    [
      { filters: [{ ...filter, value: [1, [2]] }] },
      'filters.0.value.1: must be a text, a number, true, false, or a list of them.',
    ],
    [{ select: [5.5] }, 'select.0: must be a column name, got 5.5.'],
    [{ select: { a: 1 } }, 'select: must be a list of column names.'],
    [{ limit: -1 }, 'limit: must be a whole number of rows, got -1.'],
    [{ limit: 1.5 }, 'limit: must be a whole number of rows, got 1.5.'],
    [{ cursor: 5 }, 'cursor: must be the next_cursor of the page before, got 5.'],
  ]
  for (const [body, detail] of cases) t.equal(refusal(body), detail)
  t.end()
})

await t.test('any number of unknown keys is refused', (t) => {
  for (const count of [1, 7, 8, 9, 499, 500]) {
    const entries = Array.from({ length: count }, (_, index) => [`key_${index}`, index])
    t.equal(
      refusal(Object.fromEntries(entries)),
      'key_0: unknown key. It takes filters, select, limit, cursor.',
      String(count),
    )
  }
  t.end()
})

await t.test('a number that JSON readers round is refused, an exact one is kept', (t) => {
  const value = (token: string) =>
    parseJsonText(`{"filters":[{"column":"a","op":"eq","value":${token}}]}`).filters[0]?.values[0]
  const exact = [
    '0',
    '-0',
    '5',
    '-5',
    '0.1',
    '1.50',
    '900719925474099',
    '-999999999999999',
    '1e3',
    '1E+3',
    '1.5e-7',
    '123456789012345',
    '0.000000123456789012345',
    '1000000000000000',
    '100000000000000.000',
    '9007199254740000',
    '0.0',
    '2.225073858507e-300',
  ]
  for (const token of exact) t.equal(value(token), Number(token), token)
  const rounded = [
    '9007199254740992',
    '-9007199254740992',
    '9007199254740991',
    '1234567890123456',
    '0.1234567890123456',
    '12345678901234567890',
    '1e16',
    '1e400',
    '-1e400',
    '1e-400',
    '5e-324',
    '1.2345e-310',
    '0.1000000000000000055511151231257827',
  ]
  for (const token of rounded) {
    t.throws(() => value(token), {
      code: 'bad_request',
      detail: `The number ${token} can't be kept exactly in JSON: send it as a string.`,
    })
  }
  t.equal(
    value('"12345678901234567890"'),
    '12345678901234567890',
    'a string is as long as it likes',
  )
  t.equal(value('"\\"1e400\\" 5e-324"'), '"1e400" 5e-324', 'digits in a string are no number')
  t.end()
})

await t.test('a number that is accepted is the number that was written', (t) => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 18 })
  fc.assert(
    fc.property(
      digits,
      digits,
      fc.integer({ min: -330, max: 320 }),
      (whole, fraction, exponent) => {
        const token = `${whole.replace(/^0+(?=\d)/, '')}.${fraction}e${exponent}`
        const body = `{"filters":[{"column":"a","op":"eq","value":${token}}]}`
        const significant = (whole + fraction).replace(/^0+|0+$/g, '')
        let value: unknown
        try {
          value = parseJsonText(body).filters[0]?.values[0]
        } catch {
          return true
        }
        // The shortest digits of the double must be the digits that were written.
        const [mantissa = ''] = Number(value).toExponential().split('e')
        return mantissa.replace('.', '').replace(/0+$/, '') === significant || significant === ''
      },
    ),
    { numRuns: 2000 },
  )
  t.end()
})

await t.test('a body of the largest size is refused or read, without a pause', (t) => {
  const mebibyte = 2 ** 20
  const withValue = (value: unknown) => ({ filters: [{ column: 'a', op: 'eq', value }] })
  const long = 'x'.repeat(mebibyte)
  t.equal(parseJsonText(JSON.stringify(withValue(long))).filters[0]?.values[0], long)
  const quotes = '"'.repeat(mebibyte / 2)
  t.equal(parseJsonText(JSON.stringify(withValue(quotes))).filters[0]?.values[0], quotes)
  const many = Array(54_000).fill(1)
  t.equal(
    refusal(withValue(many)),
    `filters.0.value has ${many.length} elements, but at most 1000 are allowed.`,
  )
  t.equal(
    refusal({ select: many }),
    `select has ${many.length} elements, but at most 1000 are allowed.`,
  )
  t.equal(
    refusal({ filters: Array(51).fill({ column: 'a', op: 'eq', value: 1 }) }),
    'filters has 51 elements, but at most 50 are allowed.',
  )
  const most = Array(mebibyte / 2).fill(1)
  for (const body of [withValue(most), { select: most }, { filters: most }, most]) {
    t.match(refusal(body), /^The body has more than 55000 values: /)
  }
  t.match(refusal('['.repeat(mebibyte / 2) + ']'.repeat(mebibyte / 2)), /^[Tt]he body/)
  const largest = {
    filters: Array(50).fill({ column: 'a', op: 'in', value: Array(1000).fill('1') }),
  }
  t.equal(parseJsonText(JSON.stringify(largest)).filters.length, 50)
  t.end()
})
