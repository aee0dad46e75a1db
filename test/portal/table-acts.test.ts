import t from 'tap'
import type { PageColumn } from '../../src/portal/browser/question/page-column.js'
import { filterOf, nextOrder, withFilter } from '../../src/portal/browser/question/table-acts.js'

const revenue: PageColumn = {
  ...{ name: '2110', label: 'Revenue', section: '', type: 'number', unit: '', description: '' },
  ...{ operators: ['eq', 'lt', 'is_null'], isKey: false, isQuantity: true },
}
const name: PageColumn = { ...revenue, name: 'name', type: 'string', isQuantity: false }

await t.test('clicks on a heading go round: one way, the other way, as stored', (t) => {
  const down = { column: '2110', isDescending: true }
  const up = { column: '2110', isDescending: false }
  t.same(
    [null, down, up].map((order) => nextOrder(revenue, order)),
    [down, up, null],
  )
  const first = { column: 'name', isDescending: false }
  t.same(nextOrder(name, down), first, 'texts begin with the least')
  t.same(nextOrder(name, first), { column: 'name', isDescending: true })
  t.end()
})

await t.test('a value is a filter with all its digits, an empty one that it is empty', (t) => {
  const exact = { kind: 'number', text: '9007199254740993' } as const
  t.same(filterOf(revenue, exact), { column: '2110', operator: 'eq', values: [exact.text] })
  const empty = { kind: 'empty', text: '' } as const
  t.same(filterOf(revenue, empty), { column: '2110', operator: 'is_null', values: [] })
  t.equal(filterOf({ ...revenue, operators: ['not_null'] }, exact), undefined)
  t.end()
})

await t.test('a filter by a value takes the place of another value, and of nothing else', (t) => {
  const range = { column: '2110', operator: 'gt', values: ['1'] } as const
  const other = { column: 'name', operator: 'eq', values: ['a'] } as const
  const old = { column: '2110', operator: 'eq', values: ['2'] } as const
  const added = { column: '2110', operator: 'eq', values: ['3'] } as const
  t.same(withFilter([range, old, other], added), [range, other, added])
  const like = { column: '2110', operator: 'like', values: ['3*'] } as const
  t.same(withFilter([old], like), [old, like])
  t.end()
})
