import t from 'tap'
import { groupNames, readRequest } from '../../../src/cli/query/query-request.js'
import type { RequestFlags } from '../../../src/cli/query/query-request.js'
import { ServiceError } from '../../../src/errors.js'

await t.test('options are the parameters of one kind of request', (t) => {
  t.strictSame(readRequest(['year=eq.2024'], { select: 'inn,2110', limit: '7' }), {
    kind: 'rows',
    parameters: [
      ['year', 'eq.2024'],
      ['select', 'inn,2110'],
    ],
    rowsMax: 7,
    names: ['inn', '2110'],
  })
  t.strictSame(readRequest([], { top: '-2400', select: 'inn' }), {
    kind: 'top',
    parameters: [
      ['by', '-2400'],
      ['select', 'inn'],
    ],
    rowsMax: null,
    names: ['inn'],
  })
  const groups = {
    group: 'year,prefix(okved, 2),"a,b"',
    measures: 'revenue:sum(2110),count',
    having: ['count.gte.2', 'revenue.gt.5'],
    order: '-revenue',
    labels: true,
  }
  t.strictSame(readRequest(['2110=not_null'], groups), {
    kind: 'groups',
    parameters: [
      ['2110', 'not_null'],
      ['group', groups.group],
      ['measures', groups.measures],
      ['having', 'count.gte.2'],
      ['having', 'revenue.gt.5'],
      ['order', '-revenue'],
      ['labels', 'true'],
    ],
    rowsMax: null,
    names: ['year', 'prefix(okved, 2)', 'a,b', 'revenue', 'count'],
  })
  t.end()
})

await t.test('options that exclude each other are refused, and named', (t) => {
  const cases: readonly (readonly [RequestFlags, RegExp])[] = [
    [{ measures: 'count', top: '-a' }, /^--measures and --top exclude each other\. Leave one/],
    [{ group: 'a', measures: 'count', select: 'a' }, /^--group and --select exclude/],
    [{ measures: 'count', cursor: 'x' }, /^--measures and --cursor exclude/],
    [{ measures: 'count', export: true }, /^--measures and --export exclude/],
    [{ group: 'a' }, /^--group needs --measures\. Example: --measures count$/],
    [{ order: '-a' }, /^--order needs --measures/],
    [{ labels: true, measures: '' }, /^--measures needs|^--labels needs/],
    [{ top: '-a', cursor: 'x' }, /^--top and --cursor exclude/],
    [{ top: '-a', export: true }, /^--top and --export exclude/],
    [{ export: true, limit: '5' }, /^--export returns all rows/],
    [{ measures: 'count', limit: '0' }, /^--limit must be a whole number/],
    [{ measures: 'sum(a' }, /^--measures: write "sum\(a" as sum\(a\)/],
  ]
  for (const [flags, message] of cases) {
    t.throws(() => readRequest([], flags), { code: 'bad_request', detail: message })
  }
  t.end()
})

await t.test('a parameter of the request is not a filter', (t) => {
  const detailOf = (filter: string, flags: RequestFlags) => {
    try {
      readRequest([filter], flags)
      return null
    } catch (cause) {
      return cause instanceof ServiceError ? cause.detail : cause
    }
  }
  t.match(detailOf('limit=5', {}), /Use the option --limit/)
  t.equal(detailOf('group=eq.a', {}), null, 'rows may have a column of this name')
  t.match(detailOf('group=year', { measures: 'count' }), /Use the option --group/)
  t.match(detailOf('by=-a', { top: '-a' }), /Use the option --top/)
  t.match(detailOf('=5', {}), /is not a filter\. Write COLUMN=OPERATOR\.VALUE/)
  t.end()
})

await t.test('names of codes come after the groups that have them', (t) => {
  const flags = { group: 'okved,prefix(okved, 2),year,month(okpd2)', measures: 'n:count,sum(a)' }
  t.same(groupNames(flags, ['okved', 'okpd2']), [
    ...['okved', 'okved:label', 'prefix(okved, 2)', 'prefix(okved, 2):label'],
    ...['year', 'month(okpd2)', 'n', 'sum(a)'],
  ])
  t.same(groupNames({ measures: 'count' }, ['okved']), ['count'])
  t.match(readRequest([], { ...flags, labels: 'ru' }).parameters.at(-1), ['labels', 'ru'])
  t.end()
})
