import t from 'tap'
import { command } from '../../scripts/check-charges/charges-options.js'
import { openLedger } from '../../scripts/check-charges/ledger.js'
import type { Outcome } from '../../scripts/check-charges/outcome.js'
import type { Question } from '../../scripts/check-charges/question.js'
import { findViolation } from '../../scripts/check-charges/rule.js'
import type { Charged, Phase, Seen } from '../../scripts/check-charges/rule.js'
import { readOptions } from '../../scripts/harness/options.js'
import { randomOf } from '../../scripts/harness/random.js'

const period = '2026-11'
const where = { subscription: 'sub_1', dataset: 'left' }
const charged = (rows: number, other: Partial<Charged> = {}): Charged => ({
  ...where,
  period,
  rows,
  ...other,
})
const seen = (delivered: number, attempted: number, other: Partial<Seen> = {}): Seen => ({
  ...where,
  delivered,
  attempted,
  ...other,
})
/** 100 rows were charged before; in this phase 20 arrived, and 30 more may have been charged. */
const crash = (changes: Partial<Phase> = {}): Phase => ({
  isClean: false,
  periods: [period, period],
  seen: [seen(20, 50)],
  before: [charged(100)],
  after: [charged(130)],
  caps: [],
  ...changes,
})

/** The rule that a phase breaks, with the rows that it names. */
function broken(phase: Phase) {
  const violation = findViolation(phase)
  return violation && [violation.rule, violation.rows]
}

await t.test('anything from delivered to attempted may be charged when it crashed', (t) => {
  for (const after of [120, 121, 150]) {
    t.equal(findViolation(crash({ after: [charged(after)] })), null, `${after}`)
  }
  t.equal(findViolation(crash({ seen: [], after: [charged(100)] })), null, 'nobody asked')
  t.equal(findViolation(crash({ seen: [], before: [], after: [] })), null, 'the first of all')
  t.end()
})

await t.test('one row delivered and not charged is found, with its numbers', (t) => {
  t.same(findViolation(crash({ after: [charged(119)] })), {
    rule: 'delivered ≤ charged',
    ...where,
    period: null,
    rows: { delivered: 20, charged: 19, attempted: 50 },
  })
  t.same(
    broken(crash({ before: [], after: [] })),
    ['delivered ≤ charged', { delivered: 20, charged: 0, attempted: 50 }],
    'also where nothing is charged at all',
  )
  t.end()
})

await t.test('one row charged that nobody could have had is found', (t) => {
  t.same(broken(crash({ after: [charged(151)] })), [
    'charged ≤ attempted',
    { delivered: 20, charged: 51, attempted: 50 },
  ])
  t.same(
    broken(crash({ after: [charged(130), charged(1, { dataset: 'right' })] })),
    ['charged ≤ attempted', { delivered: 0, charged: 1, attempted: 0 }],
    'also of a dataset that nobody asked',
  )
  t.end()
})

await t.test('rows charged in vain by an earlier crash hide nothing of this one', (t) => {
  const before = [charged(1000)]
  t.same(broken(crash({ before, after: [charged(1010)] }))?.[0], 'delivered ≤ charged')
  t.end()
})

await t.test('where nothing crashed, charged is delivered, to the row', (t) => {
  const clean = (rows: number) => crash({ isClean: true, after: [charged(rows)] })
  t.equal(findViolation(clean(120)), null)
  t.same(broken(clean(119))?.[0], 'delivered ≤ charged')
  t.same(broken(clean(121)), [
    'delivered = charged where nothing crashed',
    { delivered: 20, charged: 21, attempted: 50 },
  ])
  t.end()
})

await t.test('the quota of a dataset holds in each month, and not over two', (t) => {
  const caps = [{ ...where, rows: 130 }]
  t.equal(findViolation(crash({ caps })), null, 'exactly the quota')
  t.same(broken(crash({ caps, after: [charged(131)] })), [
    'charged ≤ quota',
    { charged: 131, quota: 130 },
  ])
  const earlier = charged(130, { period: '2026-10' })
  const before = [earlier, charged(100)]
  t.equal(findViolation(crash({ caps, before, after: [earlier, charged(130)] })), null)
  const strangers = [{ subscription: 'sub_2', dataset: 'left', rows: 1 }]
  t.equal(findViolation(crash({ caps: strangers })), null, "not another's")
  t.end()
})

await t.test('the quota over all datasets counts them together', (t) => {
  const right = { dataset: 'right' }
  const both = crash({
    seen: [seen(20, 50), seen(10, 10, right)],
    after: [charged(120), charged(10, right)],
  })
  const cap = (rows: number) => [{ subscription: 'sub_1', dataset: null, rows }]
  t.equal(findViolation({ ...both, caps: cap(130) }), null)
  t.same(findViolation({ ...both, caps: cap(129) }), {
    rule: 'charged ≤ quota',
    subscription: 'sub_1',
    dataset: null,
    period,
    rows: { charged: 130, quota: 129 },
  })
  t.end()
})

await t.test('a charge that shrinks or goes is found', (t) => {
  const nothing = { seen: [seen(0, 50)] }
  const rule = 'what was charged stays charged'
  t.same(broken(crash({ ...nothing, after: [charged(99)] })), [rule, { lost: 1 }])
  t.same(broken(crash({ ...nothing, after: [] })), [rule, { lost: 100 }])
  const moved = [charged(100, { period: '2026-10' })]
  t.same(broken(crash({ ...nothing, after: moved })), [rule, { lost: 100 }])
  t.end()
})

await t.test('a month that is not the present one takes no charge', (t) => {
  const rule = 'a charge goes to the present month'
  const past = charged(30, { period: '2026-10' })
  t.same(broken(crash({ after: [past, charged(100)] })), [rule, { charged: 30 }])
  const future = charged(30, { period: '2026-12' })
  t.same(broken(crash({ after: [charged(100), future] })), [rule, { charged: 30 }])
  const atTheTurn = crash({ periods: ['2026-11', '2026-12'], after: [charged(110), future] })
  t.equal(findViolation(atTheTurn), null, 'at its turn both are present')
  const reopened = crash({
    periods: ['2026-11', '2026-12'],
    before: [charged(100), future],
    after: [charged(130), future],
  })
  t.same(broken(reopened), [rule, { charged: 30 }], 'but an older one is not opened again')
  t.end()
})

// Guarantee: what a request may have cost is never taken for more, or less, than it is.
await t.test('the ledger counts a request by what came of it', (t) => {
  const question: Question = {
    name: 'rows by get',
    subscriber: { id: 'sub_1', token: 'secret', caps: [] },
    dataset: 'short',
    message: { method: 'GET', path: '/v1/short?limit=100', body: '' },
    isTool: false,
    cost: { kind: 'each', most: 100 },
  }
  const outcomes: readonly [Outcome, number, number][] = [
    [{ kind: 'whole', rows: 7 }, 7, 7],
    [{ kind: 'broken', rows: 3 }, 3, 100],
    [{ kind: 'refused' }, 0, 0],
    [{ kind: 'unsent' }, 0, 0],
  ]
  const all = openLedger()
  for (const [outcome, delivered, attempted] of outcomes) {
    const ledger = openLedger()
    ledger.note(question, outcome)
    all.note(question, outcome)
    const expected = { subscription: 'sub_1', dataset: 'short', delivered, attempted }
    t.same(ledger.seen(), [expected], outcome.kind)
  }
  t.match(all.seen(), [{ delivered: 10, attempted: 107 }])
  t.same(all.counts(), { whole: 1, refused: 1, broken: 1, unsent: 1 })
  const aggregate: Question = { ...question, cost: { kind: 'whole', groups: 30, rows: 60 } }
  const ledger = openLedger()
  ledger.note(aggregate, { kind: 'broken', rows: 60 })
  ledger.note(aggregate, { kind: 'broken', rows: 0 })
  t.match(ledger.seen(), [{ delivered: 60, attempted: 120 }], 'an aggregate costs all or nothing')
  t.end()
})

await t.test('a seed repeats its numbers, and each client has some of its own', (t) => {
  const draw = (...numbers: [number, ...number[]]) => {
    const random = randomOf(...numbers)
    return Array.from({ length: 20 }, () => random.whole(5, 500))
  }
  t.same(draw(7, 1, 2), draw(7, 1, 2))
  for (const others of [draw(7, 1, 3), draw(7, 2, 2), draw(8, 1, 2), draw(7, 1)]) {
    t.notSame(draw(7, 1, 2), others)
  }
  t.ok(draw(7).every((number) => number >= 5 && number <= 500))
  const random = randomOf(7)
  const faces = new Set(Array.from({ length: 100 }, () => random.whole(1, 6)))
  t.equal(faces.size, 6, 'all of the range')
  t.end()
})

await t.test('options are read or refused', (t) => {
  t.match(readOptions(command.options, []), { cycles: 500, clients: 16, json: false })
  t.same(
    readOptions(command.options, ['--cycles', '3', '--clients', '2', '--seed', '0', '--json']),
    {
      cycles: 3,
      clients: 2,
      seed: 0,
      json: true,
    },
  )
  t.equal(readOptions(command.options, ['--help']), null)
  const wrong = [['--cycles', '0'], ['--cycles', '1e3'], ['--seed', '-1'], ['--speed'], ['more']]
  for (const argv of wrong) {
    t.throws(() => readOptions(command.options, argv), { name: 'UsageError' }, argv.join(' '))
  }
  t.end()
})
