import { correctable } from '../../src/columns/correction.js'
import type { Correction } from '../../src/columns/correction.js'
import t from 'tap'
import { badRequest } from '../../src/errors.js'
import { correct, correctedCall, keepsMeaning } from '../../src/mcp/corrected-call.js'

type Arguments = Readonly<Record<string, unknown>>

/** The arguments of the corrected call, as they are sent. */
function corrected(args: Arguments, correction: Correction): unknown {
  return JSON.parse(JSON.stringify(correct(args, correction)))
}

/** The call that is offered where nothing else is wrong. */
function offeredCall(tool: string, args: Arguments, correction: Correction) {
  return correctedCall(tool, args, correctable('wrong', correction), async () => undefined)
}

await t.test('a name is corrected in filters and select, and nowhere else', (t) => {
  const wrong = {
    resource: 'yaer',
    filters: [
      { column: 'yaer', op: 'eq', value: 'yaer' },
      { column: 'name', op: 'in', value: ['yaer', 'x'] },
    ],
    select: ['yaer', 'name', 'yaers'],
    cursor: 'yaer',
    limit: 3,
  }
  t.strictSame(corrected(wrong, { kind: 'column', written: 'yaer', meant: 'year' }), {
    ...wrong,
    filters: [
      { column: 'year', op: 'eq', value: 'yaer' },
      { column: 'name', op: 'in', value: ['yaer', 'x'] },
    ],
    select: ['year', 'name', 'yaers'],
  })
  const digits = { resource: '2111', select: ['2111'], limit: 2111 }
  t.strictSame(corrected(digits, { kind: 'column', written: '2111', meant: '2110' }), {
    ...digits,
    select: ['2110'],
  })
  t.end()
})

await t.test('an operator and a value are corrected in the filters on their column alone', (t) => {
  const operator = {
    kind: 'operator',
    column: 'year',
    written: 'like',
    meant: 'lte',
  } as const
  const like = {
    resource: 'like',
    filters: [
      { column: 'name', op: 'like', value: 'like' },
      { column: 'year', op: 'like', value: 'like' },
    ],
  }
  t.strictSame(corrected(like, operator), {
    resource: 'like',
    filters: [
      { column: 'name', op: 'like', value: 'like' },
      { column: 'year', op: 'lte', value: 'like' },
    ],
  })
  const meant = { column: 'name', op: 'contains', value: 'x' }
  const filter = { kind: 'filter', column: 'name', operator: 'like', meant } as const
  t.strictSame(corrected(like, filter), {
    resource: 'like',
    filters: [meant, { column: 'year', op: 'like', value: 'like' }],
  })
  const value = { kind: 'as-text', column: 'inn' } as const
  const numbers = {
    resource: 'x',
    filters: [
      { column: 'inn', op: 'in', value: [7708004767, 1, '7708004767'] },
      { column: 'inn', op: 'eq', value: 7708004767 },
      { column: 'sum', op: 'eq', value: 7708004767 },
      { column: 'inn', op: 'is_null' },
    ],
    limit: 7708004767,
  }
  t.match(corrected(numbers, value), {
    filters: [
      { column: 'inn', op: 'in', value: ['7708004767', '1', '7708004767'] },
      { column: 'inn', op: 'eq', value: '7708004767' },
      { column: 'sum', op: 'eq', value: 7708004767 },
      { column: 'inn', op: 'is_null' },
    ],
    limit: 7708004767,
  })
  t.end()
})

await t.test('a limit, a filter and a cursor are changed without touching the rest', (t) => {
  const args = {
    resource: 'x',
    filters: [{ column: 'sum', op: 'gt', value: 5000 }],
    cursor: 'old',
    limit: 5000,
  }
  t.strictSame(corrected(args, { kind: 'limit', meant: 1000 }), { ...args, limit: 1000 })
  const { cursor, ...fresh } = args
  t.strictSame(corrected(args, { kind: 'drop', key: 'cursor' }), fresh)
  const sorted = { resource: 'x', sort_by: '-a' }
  const rename = { kind: 'rename', key: 'sort_by', meant: 'order' } as const
  t.strictSame(corrected(sorted, rename), { resource: 'x', order: '-a' })
  t.notOk(keepsMeaning({ ...sorted, order: 'b' }, rename), 'it would drop one of the two')
  t.equal(cursor, 'old')
  const filter = { column: 'year', op: 'eq', value: 2024 }
  t.strictSame(corrected(args, { kind: 'add-filter', filter }), {
    ...args,
    filters: [...args.filters, filter],
  })
  t.strictSame(corrected({ resource: 'x' }, { kind: 'add-filter', filter }), {
    resource: 'x',
    filters: [filter],
  })
  t.end()
})

await t.test('a part of a list or of a text is replaced only as a whole word', (t) => {
  const part = (key: string, written: string, meant: string) =>
    ({ kind: 'part', key, written, meant, isSame: true }) as const
  const args = {
    resource: 'sum(a)',
    measures: ['rev:sum(a)', 'xsum(a)', 'count'],
    order: ['-sum(a)'],
    group: 'sum(a)',
  }
  t.strictSame(corrected(args, part('measures', 'sum(a)', 'sum(b)')), {
    ...args,
    measures: ['rev:sum(b)', 'xsum(a)', 'count'],
  })
  const text = { resource: 'x', group: 'yearly, year ,"год", year' }
  t.strictSame(corrected(text, part('group', 'year', 'day')), {
    ...text,
    group: 'yearly, day ,"год", year',
  })
  t.strictSame(corrected(text, part('group', 'год', '$&')), {
    ...text,
    group: 'yearly, year ,"$&", year',
  })
  t.strictSame(corrected(text, part('measures', 'year', 'day')), text, 'an absent one stays so')
  const odd = { resource: 'x', order: ['-a.b*', 5], having: 'avg(a/b).gt.1' }
  t.strictSame(corrected(odd, part('order', 'a.b*', 'c')), { ...odd, order: ['-c', 5] })
  t.strictSame(corrected(odd, part('having', 'avg(a/b).gt', 'avg(a/b).gte')), {
    ...odd,
    having: 'avg(a/b).gte.1',
  })
  t.end()
})

await t.test('a part is added to a list, to a text or to an absent argument', (t) => {
  const count = { kind: 'add-part', key: 'measures', meant: 'count' } as const
  const added = (measures: unknown) => corrected({ resource: 'x', measures, limit: 3 }, count)
  const result = (measures: unknown) => ({ resource: 'x', measures, limit: 3 })
  t.strictSame(added(['sum(a)']), result(['sum(a)', 'count']))
  t.strictSame(added('sum(a),avg(a)'), result(['sum(a),avg(a)', 'count']))
  for (const none of [[], '', null]) t.strictSame(added(none), result(['count']))
  t.strictSame(corrected({ resource: 'x' }, count), { resource: 'x', measures: ['count'] })
  t.end()
})

await t.test('what can not be known is given as an example', async (t) => {
  const part = { kind: 'part', key: 'having', written: 'n.gt.x', meant: 'n.gt.5' } as const
  const args = { resource: 'x', having: 'n.gt.x' }
  t.equal(await offeredCall('aggregate', args, part), null)
  const example = await offeredCall('aggregate', args, { ...part, isExample: true })
  t.match(example, /^A call of the right form: aggregate .+"n\.gt\.5"/)
  t.end()
})

await t.test('the own call is left as it was, and a long one is not repeated', async (t) => {
  const args = Object.freeze({
    resource: 'x',
    filters: Object.freeze([Object.freeze({ column: 'amont', op: 'eq', value: 'x'.repeat(400) })]),
  })
  const correction = { kind: 'column', written: 'amont', meant: 'amount' } as const
  t.match(
    await offeredCall('query', args, correction),
    /^Corrected call: query \{"resource":"x",.+"column":"amount"/,
  )
  t.equal(args.filters[0]?.column, 'amont')
  const long = { resource: 'x', select: ['a'.repeat(480)] }
  t.equal(await offeredCall('query', long, correction), null)
  t.end()
})

await t.test('a correction that would lose a part of the meaning is not offered', (t) => {
  const offered = (written: string, meant: string, key = 'measures') =>
    keepsMeaning({ resource: 'x', [key]: [written] }, { kind: 'part', key, written, meant })
  const kept = [
    ['sum(revenu)', 'sum(revenue)'],
    ['SUM(a)', 'sum(a)'],
    ['average(a)', 'avg(a)'],
    ['sum(a)/sum(b)', 'ratio(a/b)'],
    ['sum(a) as total', 'total:sum(a)'],
    ['count(*)', 'count'],
    ['count(distinct inn)', 'distinct(inn)'],
    ['2400 desc', '-2400'],
    ['day.month', 'month(day)'],
    ['sum(2101)', 'sum(2110)'],
  ]
  const lost = [
    ['growth:ratio(2110@2024/2110@2023)', 'ratio(2110/2110)'],
    ['median(365*1230/2110)', 'median(1230/2110)'],
    ['ratio(1400+1500/1300)', 'ratio(1400/1300)'],
    ['sum(a-b)', 'sum(a)'],
    ['margin:sum(a)', 'sum(a)'],
    ['avg(a/b/c)', 'avg(a/b)'],
    ['quantile(a,0.25)', 'p20(a)'],
    ['sum(2110)', 'sum(amount)'],
    ['sum(a@2024)', 'sum(a)'],
  ]
  for (const [written = '', meant = ''] of kept) t.ok(offered(written, meant), written)
  for (const [written = '', meant = ''] of lost) t.notOk(offered(written, meant), written)
  const column = (written: string, meant: string) =>
    keepsMeaning({ resource: 'x', select: [written] }, { kind: 'column', written, meant })
  t.notOk(column('inn, year', 'inn'))
  t.ok(column('yaer', 'year'))
  t.end()
})

await t.test('a corrected call is offered only when all of it is valid', async (t) => {
  const args = { resource: 'x', limit: 5000, select: ['yaer'] }
  const column = { kind: 'column', written: 'yaer', meant: 'year' } as const
  const wrong = correctable('limit', { kind: 'limit', meant: 1000 })
  const check = async ({ select }: Arguments) => {
    if (String(select) === 'yaer') throw correctable('a column', column)
  }
  t.equal(
    await correctedCall('query', args, wrong, check),
    'Also: a column\nCorrected call: query {"resource":"x","limit":1000,"select":["year"]}',
  )
  const fails = (cause: Error) => correctedCall('query', args, wrong, () => Promise.reject(cause))
  t.equal(await fails(badRequest('nothing can be done')), null)
  t.equal(await fails(wrong), null, 'it does not go on for ever')
})
