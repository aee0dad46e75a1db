import fc from 'fast-check'
import t from 'tap'
import { callName, parseDirectedCalls } from '../../src/columns/call-text.js'
import { operatorNames, operators } from '../../src/columns/operators.js'
import {
  readRowsQuestion,
  writeRowsQuestion,
} from '../../src/portal/browser/question/rows-question.js'
import type { RowsQuestion } from '../../src/portal/browser/question/rows-question.js'
import {
  readSummaryQuestion,
  summaryParameters,
  writeSummaryQuestion,
} from '../../src/portal/browser/question/summary-question.js'
import type { SummaryQuestion } from '../../src/portal/browser/question/summary-question.js'
import { aggregateNames } from '../../src/http/openapi/aggregates.js'
import { firstPlace, readFragment, writeFragment } from '../../src/portal/browser/question/view.js'
import type { View } from '../../src/portal/browser/question/view.js'
import { parseTopUrl } from '../../src/query/parse-top.js'
import { parseUrl } from '../../src/query/parse-url.js'
import { parseSummaryUrl } from '../../src/query/summary/parse-summary.js'

/** Text of every kind, with the characters that are special in lists, URLs and fragments. */
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(...'a,b"\\()#?&=%+ .:/-*Ы\''), minLength: 1, maxLength: 8 }),
  )
  .filter((each) => !/\p{Surrogate}/u.test(each))
const parameters = [...summaryParameters, 'select', 'cursor']
const columnName = text.filter((name) => !parameters.includes(name))

const filter = fc
  .record({
    column: columnName,
    operator: fc.constantFrom(...operatorNames),
    values: fc.array(text, { minLength: 1, maxLength: 3 }),
  })
  .map(({ column, operator, values: [first = '', ...more] }) => {
    const { form } = operators[operator]
    if (form === 'none') return { column, operator, values: [] }
    if (form === 'list') return { column, operator, values: [first, ...more] }
    return { column, operator, values: [form === 'pattern' ? `${first}*` : first] }
  })
const filters = fc.array(filter, { maxLength: 3 })
const limit = fc.option(fc.integer({ min: 1, max: 10_000 }))

const select = fc.uniqueArray(columnName, { maxLength: 4 })
const rowsView = fc
  .record({
    question: fc.record({ filters, select, limit, order: fc.constant(null) }),
    place: fc.option(
      fc.record({
        page: fc.integer({ min: 0, max: 99_999_999 }),
        cursor: fc.stringMatching(/^[\w-]{1,80}$/),
      }),
    ),
  })
  .map(({ question, place }): View => ({ tab: 'rows', question, place: place ?? firstPlace }))

const topView = fc
  .record({
    filters: filters.map((all) => all.filter(({ column }) => column !== 'by')),
    select,
    limit,
    order: fc.record({
      column: columnName.filter((name) => name.trim() !== ''),
      isDescending: fc.boolean(),
    }),
  })
  .map((question): View => ({ tab: 'rows', question, place: firstPlace }))

const name = columnName.filter((each) => each.trim() !== '').map(callName)
const group = fc.oneof(
  name,
  name.map((each) => `prefix(${each},2)`),
  name.map((each) => `year(${each})`),
)
const measure = fc.oneof(
  fc.constant('count'),
  name.map((each) => `sum(${each})`),
  fc.tuple(name, name).map(([a, b]) => `median(${a}/${b})`),
  fc.tuple(name, name).map(([alias, each]) => `${alias}:p90(${each})`),
)
const orderedBy = fc
  .oneof(
    name,
    name.map((each) => `sum(${each})`),
  )
  .map((each) => `-${each}`)
const summary: fc.Arbitrary<SummaryQuestion> = fc.record({
  filters,
  group: fc.array(group, { maxLength: 4 }),
  measures: fc.array(measure, { minLength: 1, maxLength: 4 }),
  order: fc.array(fc.oneof(name, orderedBy), { maxLength: 2 }).map((all) => all.join()),
  others: fc.subarray(['having=count.gte.5', 'having=sum(2110).gt.1', 'pivot=year', 'rest=true']),
  limit,
})

await t.test('a view is the same after its fragment was written and read', (t) => {
  const view = fc.oneof(
    rowsView,
    topView,
    summary.map((question): View => ({ tab: 'analyse', question })),
  )
  fc.assert(
    fc.property(view, (shown) => {
      const fragment = writeFragment(shown)
      t.same(readFragment(fragment), shown, fragment)
      // A browser changes none of these characters in an address.
      t.equal(new URL(fragment, 'https://example.org/').hash, fragment)
    }),
  )
  t.end()
})

await t.test('the server reads a question as the form means it', (t) => {
  fc.assert(
    fc.property(rowsView, ({ question }) => {
      const query = writeRowsQuestion(question as never)
      const read = parseUrl(query)
      const { select, limit: rows } = readRowsQuestion(query)
      t.match(read, { limit: rows, cursor: null, format: null })
      t.same(read.select ?? [], select)
      t.same(
        read.filters.map(({ column, operator, values }) => ({ column, operator, values })),
        question.filters,
      )
    }),
  )
  fc.assert(
    fc.property(topView, ({ question }) => {
      const { by, filters: read } = parseTopUrl(writeRowsQuestion(question as never))
      t.same(
        { column: by.call.name, isDescending: by.isDescending },
        (question as RowsQuestion).order,
      )
      t.equal(read.length, question.filters.length)
    }),
  )
  fc.assert(
    fc.property(summary, (question) => {
      const query = writeSummaryQuestion(question)
      const read = parseSummaryUrl(query)
      t.match(read, { limit: question.limit, labels: true })
      const { others } = question
      t.equal(read.having.length, others.filter((each) => each.startsWith('having=')).length)
      t.equal(read.pivot.length > 0, others.includes('pivot=year'))
      t.equal(read.rest, others.includes('rest=true'))
      t.equal(read.group.length, question.group.length)
      t.same(
        read.measures.map(({ alias, text: written }) =>
          alias === null ? written : `${callName(alias)}:${written}`,
        ),
        question.measures,
      )
      const orders = question.order === '' ? [] : parseDirectedCalls(question.order, 'order')
      t.equal(read.order.length, orders.length)
      t.same(readSummaryQuestion(query), question)
    }),
  )
  t.end()
})

await t.test('a text that is not a question is not a view', (t) => {
  for (const fragment of [
    ...['', '#', '#content', '#rows', '#plans?x=eq.1', '#rows?limit=x', '#rows?a=b%zz'],
    ...['#rows/0/abc?limit=1', '#rows/2?limit=1', '#rows/2/a b?limit=1', '#analyse?group=a,,b'],
  ]) {
    t.equal(readFragment(fragment), null, fragment)
  }
  t.match(readFragment('#rows?'), { tab: 'rows', question: { filters: [], limit: null } })
  t.match(readFragment('#analyse?measures=count&having=count.gt.1'), {
    question: { measures: ['count'], others: ['having=count.gt.1'] },
  })
  t.end()
})

await t.test('an address keeps every parameter of a question', (t) => {
  const ofSummary = {
    ...{ group: 'okved', measures: 'count', order: '-count,okved', having: 'count.gte.5' },
    ...{ pivot: 'year', rest: 'true', limit: '5', labels: 'true' },
  }
  t.same(Object.keys(ofSummary).sort(), [...aggregateNames, 'limit'].sort())
  for (const [path, given] of [
    ['analyse', ofSummary],
    ['rows', { inn: 'eq.1', select: 'inn,year', limit: '5' }],
    ['top', { by: '-2110', inn: 'eq.1', select: 'inn', limit: '5' }],
  ] as const) {
    const query = Object.entries(given).map(([name, value]) => `${name}=${value}`)
    const view = readFragment(`#${path}?${query.join('&')}`)
    const [, kept = ''] = (view === null ? '' : writeFragment(view)).split('?')
    t.same(kept.split('&').sort(), query.toSorted(), path)
  }
  t.equal(readFragment('#top?by=-2110,inn'), null, 'not the first of two')
  t.end()
})

await t.test('a request of groups is legible', (t) => {
  t.equal(
    writeSummaryQuestion({
      filters: [{ column: 'year', operator: 'gte', values: ['2021'] }],
      group: ['year', 'prefix(okved,2)'],
      measures: ['revenue:sum(2110)', 'median(2400/2110)', 'sum("a b, c")'],
      order: '-revenue',
      others: ['having=revenue.gt.5'],
      limit: 50,
    }),
    'year=gte.2021&group=year,prefix(okved,2)' +
      '&measures=revenue:sum(2110),median(2400/2110),sum(%22a%20b,%20c%22)' +
      '&order=-revenue&having=revenue.gt.5&limit=50&labels=true',
  )
  t.end()
})
