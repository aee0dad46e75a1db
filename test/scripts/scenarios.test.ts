import t from 'tap'
import { Fault } from '../../scripts/harness/fault.js'
import { readOptions } from '../../scripts/harness/options.js'
import { randomOf } from '../../scripts/harness/random.js'
import { charges } from '../../scripts/scenarios/charges.js'
import type { Answer, Page } from '../../scripts/scenarios/parts/ask.js'
import { Ledger } from '../../scripts/scenarios/parts/ledger.js'
import type { Charged, Cost, Seen } from '../../scripts/scenarios/parts/ledger.js'
import { checkFirst, rowsOf } from '../../scripts/scenarios/parts/rows.js'
import { requireRule } from '../../scripts/scenarios/parts/rule.js'
import type { Phase } from '../../scripts/scenarios/parts/rule.js'
import { readPage, walkThrough } from '../../scripts/scenarios/parts/walks.js'
import type { Question } from '../../scripts/scenarios/parts/walks.js'

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

/** What a phase breaks, in words; empty where it keeps to every rule. */
function broken(phase: Phase): string {
  try {
    requireRule(phase)
    return ''
  } catch (cause) {
    if (cause instanceof Fault) return cause.message
    throw cause
  }
}

const left = 'does not hold: sub_1, dataset left, month'

await t.test('anything from delivered to attempted may be charged when it crashed', (t) => {
  for (const after of [120, 121, 150]) {
    t.equal(broken(crash({ after: [charged(after)] })), '', `${after}`)
  }
  t.equal(broken(crash({ seen: [], after: [charged(100)] })), '', 'nobody asked')
  t.equal(broken(crash({ seen: [], before: [], after: [] })), '', 'the first of all')
  t.end()
})

await t.test('one row delivered and not charged is found, with its numbers', (t) => {
  const rule = `"delivered ≤ charged" ${left} (all): delivered 20, charged`
  t.equal(broken(crash({ after: [charged(119)] })), `${rule} 19, attempted 50`)
  const none = broken(crash({ before: [], after: [] }))
  t.equal(none, `${rule} 0, attempted 50`, 'also where nothing is charged at all')
  t.end()
})

await t.test('one row charged that nobody could have had is found', (t) => {
  const rule = '"charged ≤ attempted" does not hold: sub_1, dataset'
  t.equal(
    broken(crash({ after: [charged(151)] })),
    `${rule} left, month (all): delivered 20, charged 51, attempted 50`,
  )
  t.equal(
    broken(crash({ after: [charged(130), charged(1, { dataset: 'right' })] })),
    `${rule} right, month (all): delivered 0, charged 1, attempted 0`,
    'also of a dataset that nobody asked',
  )
  t.end()
})

await t.test('rows charged in vain by an earlier crash hide nothing of this one', (t) => {
  const before = [charged(1000)]
  t.match(broken(crash({ before, after: [charged(1010)] })), /^"delivered ≤ charged"/)
  t.end()
})

await t.test('where nothing crashed, charged is delivered, to the row', (t) => {
  const clean = (rows: number) => broken(crash({ isClean: true, after: [charged(rows)] }))
  t.equal(clean(120), '')
  t.match(clean(119), /^"delivered ≤ charged"/)
  t.equal(
    clean(121),
    `"delivered = charged where nothing crashed" ${left} (all): delivered 20, charged 21, attempted 50`,
  )
  t.end()
})

await t.test('the quota of a dataset holds in each month, and not over two', (t) => {
  const caps = [{ ...where, rows: 130 }]
  t.equal(broken(crash({ caps })), '', 'exactly the quota')
  t.equal(
    broken(crash({ caps, after: [charged(131)] })),
    `"charged ≤ quota" ${left} 2026-11: charged 131, quota 130`,
  )
  const earlier = charged(130, { period: '2026-10' })
  const before = [earlier, charged(100)]
  t.equal(broken(crash({ caps, before, after: [earlier, charged(130)] })), '')
  const strangers = [{ subscription: 'sub_2', dataset: 'left', rows: 1 }]
  t.equal(broken(crash({ caps: strangers })), '', "not another's")
  t.end()
})

await t.test('the quota over all datasets counts them together', (t) => {
  const right = { dataset: 'right' }
  const both = crash({
    seen: [seen(20, 50), seen(10, 10, right)],
    after: [charged(120), charged(10, right)],
  })
  const cap = (rows: number) => [{ subscription: 'sub_1', dataset: null, rows }]
  t.equal(broken({ ...both, caps: cap(130) }), '')
  t.equal(
    broken({ ...both, caps: cap(129) }),
    '"charged ≤ quota" does not hold: sub_1, dataset (all), month 2026-11: charged 130, quota 129',
  )
  t.end()
})

await t.test('a charge that shrinks or goes is found', (t) => {
  const after = (...list: readonly Charged[]) => broken(crash({ seen: [seen(0, 50)], after: list }))
  const lost = (rows: number) => `"what was charged stays charged" ${left} 2026-11: lost ${rows}`
  t.equal(after(charged(99)), lost(1))
  t.equal(after(), lost(100))
  t.equal(after(charged(100, { period: '2026-10' })), lost(100))
  t.end()
})

await t.test('a month that is not the present one takes no charge', (t) => {
  const misdated = (period: string) =>
    `"a charge goes to the present month" ${left} ${period}: charged 30`
  const past = charged(30, { period: '2026-10' })
  t.equal(broken(crash({ after: [past, charged(100)] })), misdated('2026-10'))
  const future = charged(30, { period: '2026-12' })
  t.equal(broken(crash({ after: [charged(100), future] })), misdated('2026-12'))
  const periods = ['2026-11', '2026-12']
  const atTheTurn = crash({ periods, after: [charged(110), future] })
  t.equal(broken(atTheTurn), '', 'at its turn both are present')
  const reopened = crash({ periods, before: [charged(100), future], after: [charged(130), future] })
  t.equal(broken(reopened), misdated('2026-11'), 'but an older one is not opened again')
  t.end()
})

const page = (rows: readonly unknown[], changes: Partial<Page> = {}): Page => ({
  kind: 'page',
  rows,
  version: 'v',
  cursor: null,
  isExplained: false,
  isWhole: true,
  isLast: false,
  ...changes,
})

// Guarantee: what a request may have cost is never taken for more, or less, than it is.
await t.test('the ledger counts a request by what came of it', (t) => {
  const seven = page([1, 2, 3, 4, 5, 6, 7])
  const each: Cost = { kind: 'each', most: 100 }
  const whole: Cost = { kind: 'whole', groups: 30, rows: 60 }
  const refused: Answer = { kind: 'refused', status: 429, words: '' }
  const outcomes: readonly [Cost, Answer, number, number][] = [
    [each, seven, 7, 7],
    [each, page([], { isExplained: true }), 1, 1],
    [each, { kind: 'broken', arrived: 3 }, 3, 100],
    [each, refused, 0, 0],
    [each, { kind: 'unsent' }, 0, 0],
    [whole, page(Array(30).fill({})), 60, 60],
    [whole, { kind: 'broken', arrived: 1 }, 60, 60],
    [whole, { kind: 'broken', arrived: 0 }, 0, 60],
    [{ kind: 'free' }, seven, 0, 0],
  ]
  const asked = { subscription: 'sub_1', dataset: 'short' }
  const all = new Ledger()
  for (const [cost, answer, delivered, attempted] of outcomes) {
    const ledger = new Ledger()
    ledger.note({ ...asked, cost }, answer)
    all.note({ ...asked, cost }, answer)
    t.same(ledger.seen(), [{ ...asked, delivered, attempted }], JSON.stringify([cost, answer]))
  }
  t.same([all.delivered, all.attempted], [131, 288])
  t.equal(all.ends, '4 × 200, 1 × 429, 3 × broken off, 1 × no answer')
  t.throws(() => all.note({ ...asked, cost: whole }, page([])), /0 of 30 groups/)
  const proxied = new Ledger({ isProxied: true })
  proxied.note({ ...asked, cost: each }, refused)
  t.equal(proxied.attempted, 100, 'a server behind the proxy may have charged and then gone')
  t.end()
})

const table = { name: 'things', years: [1, 2], rows: 10, letters: 0 }
const row = (id: number, year: number, generation = 0) => ({
  id,
  year,
  generation,
  value: (id * 7919 + year * 104_729 + generation * 1_299_709) % 1_000_000_007,
  label: `row ${String(id).padStart(6, '0')} of ${year}, g${generation}`,
})
const selection = { years: [1, 2], from: 3, to: 5 }
const right = [row(3, 1), row(4, 1), row(3, 2), row(4, 2)]

// Guarantee: a row that is wrong, missing, repeated or out of place is found.
await t.test('rows are compared with what they must be', (t) => {
  const found = (rows: readonly unknown[]) => () => checkFirst(rowsOf(rows), table, selection)
  t.equal(found(right)().generations.size, 2)
  t.same([...found([row(3, 1, 7)])().generations], [[1, 7]])
  const wrong: readonly (readonly [RegExp, readonly unknown[]])[] = [
    [/torn/, [{ ...row(3, 1), value: 1 }]],
    [/torn/, [{ ...row(3, 1), label: 'row 000003' }]],
    [/shape/, [{ id: 3 }]],
    [/generations 0 and 1/, [row(3, 1), row(4, 1, 1)]],
    [/missing, repeated or out of order at 0/, right.slice(1)],
    [/out of order at 1/, [row(3, 1), row(3, 1)]],
    [/out of order at 1/, [row(3, 1), row(3, 2), row(4, 1)]],
  ]
  for (const [words, rows] of wrong) t.throws(found(rows), words)
  t.end()
})

await t.test('a walk ends with every row once, or it is a fault', async (t) => {
  const question: Question = { door: 'get', table, selection, limit: 2, cursor: null }
  const pages = [page(right.slice(0, 2), { cursor: 'next' }), page(right.slice(2))]
  const readerOf = (given: readonly (Page | null)[]) => {
    const left = [...given]
    return { ask: () => Promise.resolve(left.shift() ?? null) }
  }
  const evidence = await walkThrough(readerOf(pages), question)
  t.strictSame(
    [...(evidence?.generations ?? [])],
    [
      [1, 0],
      [2, 0],
    ],
  )
  t.equal(await walkThrough(readerOf(pages.slice(0, 1)), question), null, 'it was refused')
  await readPage(readerOf(pages), question)
  const wrong: readonly (readonly [RegExp, readonly Page[]])[] = [
    [/1 rows, not 2/, [page(right.slice(0, 1), { cursor: 'next' })]],
    [/a cursor where none is due/, [page(right.slice(0, 2))]],
    [/version w in the walk/, [pages[0] ?? page([]), page(right.slice(2), { version: 'w' })]],
    [/out of order at 2/, [pages[0] ?? page([]), page(right.slice(0, 2))]],
  ]
  for (const [words, given] of wrong) {
    await t.rejects(walkThrough(readerOf(given), question), words)
  }
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
  const { options } = charges
  t.match(readOptions(options, []), { cycles: 500, clients: 16 })
  t.same(readOptions(options, ['--cycles', '3', '--clients', '2', '--seed', '0']), {
    cycles: 3,
    clients: 2,
    seed: 0,
  })
  t.equal(readOptions(options, ['--help']), null)
  const wrong = [['--cycles', '0'], ['--cycles', '1e3'], ['--seed', '-1'], ['--speed'], ['more']]
  for (const argv of wrong) {
    t.throws(() => readOptions(options, argv), { name: 'UsageError' }, argv.join(' '))
  }
  t.end()
})
