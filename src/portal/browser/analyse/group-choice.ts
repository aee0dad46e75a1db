import { callName } from '../../../columns/call-text.js'
import { element } from '../element.js'
import { words } from '../page-words.js'
import { columnTitle } from '../../writers.js'
import { columnHint } from '../question/page-column.js'
import { columnOptions } from '../question/column-options.js'
import type { DatasetColumn } from '../question/page-column.js'
import { rowList } from '../question/row-list.js'
import type { FormPart } from '../question/row-list.js'
import { headingOf } from './summary-columns.js'

const groupsMax = 4
const wholeValue = 'column'
/** The groups that are levels of codes are offered by the levels' names. */
const prefix = 'prefix(column,n)'

/** What rows are grouped by: columns, levels of codes, parts of dates. */
export function groupChoice(
  columns: readonly DatasetColumn[],
  chosen: readonly string[],
): FormPart<readonly string[]> {
  const texts = { legend: words.groupBy, add: words.addGroup, remove: words.removeGroup }
  return rowList(texts, chosen, (group) => groupRow(columns, group), { max: groupsMax })
}

function groupRow(columns: readonly DatasetColumn[], chosen: string | null): FormPart<string> {
  const options = columnOptions(columns, groupOptions)
  const node = element('select', { 'aria-label': words.groupBy }, ...options)
  if (chosen !== null) {
    const isOther = ![...node.options].some(({ value }) => value === chosen)
    // A group of the address that the list has not, such as another prefix.
    const title = () => headingOf({ columns, measures: [] }, 'group', chosen, words)
    if (isOther) node.prepend(element('option', { value: chosen }, title()))
    node.value = chosen
  }
  return { node, read: () => node.value }
}

function groupOptions(column: DatasetColumn): readonly HTMLOptionElement[] {
  const { name, groups, levels, levelLabels } = column
  const parts = groups.filter((group) => group !== wholeValue && group !== prefix)
  return [
    ...(groups.includes(wholeValue)
      ? [element('option', { value: callName(name) }, columnHint(column))]
      : []),
    ...parts.map((part) => {
      const value = part.replace('column', () => callName(name))
      return element('option', { value }, `${columnTitle(column)} · ${partName(part)}`)
    }),
    ...Object.entries(levels).map(([level, value]) =>
      element(
        'option',
        { value },
        `${columnTitle(column)} · ${levelLabels[level] ?? words.level(level)}`,
      ),
    ),
  ]
}

function partName(part: string): string {
  const [name = ''] = part.split('(', 1)
  return words.dateParts[name] ?? part
}
