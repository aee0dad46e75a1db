import t from 'tap'
import { groupFilter } from '../../src/portal/browser/analyse/group-filter.js'
import type { DatasetColumn } from '../../src/portal/browser/question/page-column.js'

const okved: DatasetColumn = {
  ...{ name: 'okved', label: '', section: '', type: 'string', unit: '', description: '' },
  ...{ operators: ['eq', 'like', 'is_null'], isKey: false, isQuantity: false },
  ...{ measures: [], groups: ['okved', 'prefix(okved,2)'], levels: { class: 'prefix(okved,2)' } },
  levelLabels: {},
}
/** It has the name of a level. */
const named: DatasetColumn = { ...okved, name: 'class', levels: {} }
const columns = [okved, named]

function filterOf(group: string, text: string, kind: 'text' | 'empty' = 'text') {
  return groupFilter(columns, group, { kind, text })
}

await t.test('a group opens the rows that it is made of, and no others', (t) => {
  const eq = (value: string) => ({ column: 'okved', operator: 'eq', values: [value] })
  t.same(filterOf('okved', '62.01'), eq('62.01'))
  t.same(filterOf('prefix(okved,2)', '62'), { column: 'okved', operator: 'like', values: ['62*'] })
  t.same(filterOf('prefix(okved,4)', '62'), eq('62'), 'a shorter code is a group of its own')
  t.same(filterOf('prefix(okved,2)', ''), eq(''))
  t.same(filterOf('prefix(okved,2)', '', 'empty'), {
    ...{ column: 'okved', operator: 'is_null', values: [] },
  })
  t.same(filterOf('class', 'A'), { column: 'class', operator: 'eq', values: ['A'] })
  t.end()
})

await t.test('a group that no filter can say opens nothing', (t) => {
  t.equal(filterOf('prefix(okved,2)', 'A*'), undefined)
  t.equal(filterOf('okved:class', '62'), undefined)
  t.equal(filterOf('year(okved)', '2024'), undefined)
  t.equal(filterOf('unknown', '1'), undefined)
  t.end()
})
