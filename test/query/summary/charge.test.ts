import fc from 'fast-check'
import t from 'tap'
import { groupCells, groupCharge, summaryCharge } from '../../../src/query/summary/charge.js'
import type { Column } from '../../../src/columns/column.js'
import type { Measure } from '../../../src/query/summary.js'
import { parseSummaryUrl } from '../../../src/query/summary/parse-summary.js'
import { resolveSummary } from '../../../src/query/summary/resolve-summary.js'
import { summaryAccess, summaryColumns } from '../fixtures/summary-access.js'

const { profit, revenue, year } = summaryColumns
const everywhere = (column: Column) => ({ column, at: null })
const side = (...columns: readonly Column[]) => ({
  factor: null,
  terms: columns.map((column) => ({ ...everywhere(column), isSubtracted: false })),
})
const quotient = { dividend: side(profit), divisor: side(revenue) }
const measures: readonly Measure[] = [
  { name: 'a', defined: null, aggregate: { kind: 'count', of: null } },
  { name: 'b', defined: null, aggregate: { kind: 'sum', of: everywhere(profit) } },
  { name: 'c', defined: null, aggregate: { kind: 'avg', of: everywhere(profit) } },
  {
    name: 'd',
    defined: null,
    aggregate: { kind: 'avg', of: quotient },
  },
  {
    name: 'e',
    defined: null,
    aggregate: { kind: 'ratio', of: quotient },
  },
]
const group = { name: 'year', column: year, labels: null, by: { kind: 'value' } } as const

/** Numbers that a group of the answer is made of. */
function numbersIn({ aggregate: { of } }: Measure): number {
  return of && 'dividend' in of ? of.dividend.terms.length + of.divisor.terms.length : 1
}

await t.test('a quotient counts two cells', (t) => {
  t.equal(groupCells({ groups: [], measures }), 7)
  t.equal(groupCells({ groups: [group, group], measures: measures.slice(0, 3) }), 5)
  t.end()
})

await t.test('a group costs the rows that carry its cells', (t) => {
  const once = { rowsPerGroup: 1 }
  t.equal(groupCharge(1, 131, once), 1)
  t.equal(groupCharge(20, 131, once), 1)
  t.equal(groupCharge(20, 20, once), 1)
  t.equal(groupCharge(21, 20, once), 2)
  t.equal(groupCharge(20, 1, once), 20)
  t.equal(groupCharge(20, 0, once), 20)
  t.equal(groupCharge(21, 20, { rowsPerGroup: 3 }), 6)
  t.end()
})

await t.test('an answer costs its groups, and at least one without groups', (t) => {
  t.equal(summaryCharge(352, { groups: [group] }, 1), 352)
  t.equal(summaryCharge(10, { groups: [group] }, 6), 60)
  t.equal(summaryCharge(0, { groups: [group] }, 1), 0, 'no groups cost nothing')
  t.equal(summaryCharge(1, { groups: [] }, 2), 2)
  t.equal(summaryCharge(0, { groups: [] }, 2), 2, 'left out by having')
  t.end()
})

await t.test('R charged rows never carry more cells than R rows', (t) => {
  fc.assert(
    fc.property(
      fc.record({
        groups: fc.array(fc.constant(group), { maxLength: 4 }),
        measures: fc.array(fc.constantFrom(...measures), { minLength: 1, maxLength: 16 }),
        columns: fc.integer({ min: 1, max: 200 }),
        rowsPerGroup: fc.integer({ min: 1, max: 1000 }),
        sent: fc.integer({ min: 0, max: 10_000 }),
      }),
      ({ groups, measures: asked, columns, rowsPerGroup, sent }) => {
        const perGroup = groupCharge(groupCells({ groups, measures: asked }), columns, {
          rowsPerGroup,
        })
        const rows = summaryCharge(sent, { groups }, perGroup)
        const carried = asked.reduce((sum, each) => sum + numbersIn(each), groups.length) * sent
        return carried <= rows * columns && Number.isSafeInteger(rows)
      },
    ),
    { numRuns: 10_000 },
  )
  t.end()
})

await t.test('a resolved summary knows its charge', async (t) => {
  const access = summaryAccess({ aggregates: { rowsPerGroup: 3 } })
  const raw = parseSummaryUrl('group=year,inn&measures=ratio(2400/2110),net_margin,count')
  const { cells, chargePerGroup } = await resolveSummary(access, () => raw)
  t.equal(cells, 7)
  t.equal(access.columns.length, 11)
  t.equal(chargePerGroup, 3)
  const narrow = { ...access, columns: access.columns.filter(({ name }) => /^(2|y|i)/.test(name)) }
  t.equal(
    (await resolveSummary(narrow, () => raw)).chargePerGroup,
    6,
    'hidden columns carry nothing',
  )
})
