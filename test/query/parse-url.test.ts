import fc from 'fast-check'
import t from 'tap'
import { operators } from '../../src/columns/operators.js'
import { parseUrl } from '../../src/query/parse-url.js'
import type { RawFilter } from '../../src/query/raw-question.js'

function filter(column: string, operator: string, ...values: readonly string[]): RawFilter {
  return { column, operator, values, isList: operator === 'in' || operator === 'not_in' }
}

function refusal(query: string): { code?: string; detail?: string } {
  try {
    parseUrl(query)
  } catch (cause) {
    return cause as { code: string; detail: string }
  }
  return {}
}

await t.test('no query asks for everything', (t) => {
  const everything = { filters: [], select: null, limit: null, cursor: null, format: null }
  t.same(parseUrl(''), everything)
  t.same(parseUrl('&&'), everything)
  t.end()
})

await t.test('a question is filters, select, limit, cursor and format, in any order', (t) => {
  t.same(
    parseUrl('limit=10&inn=eq.7708004767&select=year,2110&cursor=abc&format=json&year=gte.2020'),
    {
      filters: [filter('inn', 'eq', '7708004767'), filter('year', 'gte', '2020')],
      select: ['year', '2110'],
      limit: 10,
      cursor: 'abc',
      format: 'json',
    },
  )
  t.end()
})

await t.test('a value is everything after the first dot, taken as it is', (t) => {
  const one = (query: string) => parseUrl(query).filters
  t.same(one('okved=eq.62.01'), [filter('okved', 'eq', '62.01')])
  t.same(one('x=eq.'), [filter('x', 'eq', '')], 'the empty text')
  t.same(one('x=eq.a=b'), [filter('x', 'eq', 'a=b')])
  t.same(one('x=eq.%20a+b%20'), [filter('x', 'eq', ' a b ')], 'a plus is a space, %20 too')
  t.same(one('x=eq.a%2Bb%26c%3Dd'), [filter('x', 'eq', 'a+b&c=d')])
  t.same(one('x=eq.%D0%AF'), [filter('x', 'eq', 'Я')])
  t.same(one('x=eq.a%00b'), [filter('x', 'eq', 'a\0b')])
  t.same(one('%D1%81%D1%83%D0%BC%D0%BC%D0%B0=eq.1'), [filter('сумма', 'eq', '1')])
  t.same(one('a.b=eq.1'), [filter('a.b', 'eq', '1')], 'a column may have a dot')
  t.same(one('select%3D=eq.1'), [filter('select=', 'eq', '1')])
  t.same(one('Select=eq.1'), [filter('Select', 'eq', '1')], 'parameters are in lower case')
  t.same(one('__proto__=eq.1&constructor=eq.2'), [
    filter('__proto__', 'eq', '1'),
    filter('constructor', 'eq', '2'),
  ])
  t.end()
})

await t.test('the same column may be filtered more than once', (t) => {
  t.same(parseUrl('year=gte.2020&year=lte.2022&year=gte.2020').filters, [
    filter('year', 'gte', '2020'),
    filter('year', 'lte', '2022'),
    filter('year', 'gte', '2020'),
  ])
  t.end()
})

await t.test('every operator takes one value, a list, or no value', (t) => {
  for (const [operator, { form }] of Object.entries(operators)) {
    const bare = `x=${operator}`
    if (form === 'none') {
      t.same(parseUrl(bare).filters, [filter('x', operator)])
      t.match(refusal(`${bare}.`).detail, `"x": ${operator} takes no value. Write x=${operator}`)
      t.match(refusal(`${bare}.true`).code, 'bad_request')
    } else {
      const values = form === 'list' ? ['a', 'b'] : ['a,b']
      t.same(parseUrl(`${bare}.a,b`).filters, [filter('x', operator, ...values)])
      t.equal(refusal(bare).detail, `"x": ${operator} needs a value. Write x=${operator}.value`)
    }
  }
  t.end()
})

await t.test('an unknown operator is kept unchanged for the message about its column', (t) => {
  t.same(parseUrl('x=equals.5').filters, [filter('x', 'equals', '5')])
  t.same(parseUrl('x=5').filters, [filter('x', '5')])
  t.same(parseUrl('x=').filters, [filter('x', '')])
  t.same(parseUrl('x=EQ.5').filters, [filter('x', 'EQ', '5')])
  t.same(parseUrl('x=toString.5').filters, [filter('x', 'toString', '5')])
  t.same(parseUrl('=eq.5').filters, [filter('', 'eq', '5')])
  t.end()
})

await t.test('lists in a URL are quoted as everywhere', (t) => {
  t.same(parseUrl('x=in.%22a,b%22,c').filters, [filter('x', 'in', 'a,b', 'c')])
  t.same(parseUrl('x=not_in.1').filters, [filter('x', 'not_in', '1')])
  t.same(parseUrl('select=%22a,b%22,c').select, ['a,b', 'c'])
  t.same(parseUrl('select=a,%22b,c%22&x=eq.1&select=d').select, ['a', 'b,c', 'd'])
  t.match(refusal('x=in.(1,2)').detail, /^"x": in takes a bare list/)
  t.match(refusal('x=in.').detail, /^"x": in needs at least one value/)
  t.match(refusal('select=').detail, /^select needs at least one value/)
  t.match(refusal('select=(a)').detail, /^select takes a bare list/)
  t.end()
})

await t.test('a limit is a whole number of rows', (t) => {
  t.equal(parseUrl('limit=1').limit, 1)
  t.equal(parseUrl('limit=0').limit, 0, 'what fits the dataset is decided later')
  t.equal(parseUrl('limit=000100').limit, 100)
  for (const text of ['', '-1', '1.0', '1e3', 'all', '%2B1', '+1', '1 ', '٣', '9'.repeat(16)]) {
    t.equal(refusal(`limit=${text}`).detail?.replace(/;.*; ?/, ''), refusal(`limit=${text}`).detail)
    t.match(refusal(`limit=${text}`), {
      code: 'bad_request',
      detail: /^limit must be a whole number, got ".*"\. Example: limit=100$/,
    })
  }
  t.match(refusal('limit').code, 'bad_request')
  t.end()
})

await t.test('a parameter that is given twice is refused, even with equal values', (t) => {
  for (const name of ['limit', 'cursor', 'format']) {
    t.match(refusal(`${name}=1&${name}=1`), {
      code: 'bad_request',
      detail: `"${name}" is given twice. Send it once.`,
    })
    t.match(refusal(`${name}=1&x=eq.1&%${name.charCodeAt(0).toString(16)}${name.slice(1)}=2`), {
      detail: `"${name}" is given twice. Send it once.`,
    })
  }
  t.end()
})

await t.test('the error for a parameter without a value shows how to write one', (t) => {
  t.match(refusal('inn'), {
    code: 'bad_request',
    detail: 'Parameter "inn" has no value. Example: inn=eq.value',
  })
  t.end()
})

await t.test('broken percent-encoding and bytes that are not UTF-8 are refused', (t) => {
  const texts = ['%', '%2', '%zz', '%C3', '%FF', '%C0%AF', '%ED%A0%80', '%F5%80%80%80', 'a%']
  for (const text of texts) {
    for (const query of [`x=eq.${text}`, `${text}=eq.1`, `cursor=${text}`]) {
      t.match(refusal(query), {
        code: 'bad_request',
        detail: 'The URL has a broken percent-encoding or is not UTF-8. Encode "%" as %25.',
      })
    }
  }
  t.end()
})

await t.test('a format that is not served is not acceptable', (t) => {
  t.match(refusal('format=xml'), {
    code: 'not_acceptable',
    detail: 'format must be one of json, ndjson, csv, parquet, xlsx, got "xml".',
  })
  t.equal(refusal('format=').code, 'not_acceptable')
  t.end()
})

await t.test('any column and value, encoded as a browser does, are read as themselves', (t) => {
  const anyText = fc.string({ unit: 'binary', maxLength: 12 })
  const encoders = fc.constantFrom(
    (column: string, value: string) =>
      `${encodeURIComponent(column)}=eq.${encodeURIComponent(value)}`,
    (column: string, value: string) => new URLSearchParams([[column, `eq.${value}`]]).toString(),
  )
  const isColumn = (name: string) => !['select', 'limit', 'cursor', 'format'].includes(name)
  fc.assert(
    fc.property(anyText.filter(isColumn), anyText, encoders, (column, value, encode) => {
      const [found, ...rest] = parseUrl(encode(column, value)).filters
      return rest.length === 0 && found?.column === column && found.values[0] === value
    }),
    { numRuns: 1000 },
  )
  t.end()
})
