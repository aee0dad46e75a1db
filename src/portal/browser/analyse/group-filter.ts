import { parseCalls } from '../../../columns/call-text.js'
import type { Cell } from '../question/exact-rows.js'
import type { Filter } from '../question/filters.js'
import type { DatasetColumn } from '../question/page-column.js'
import { filterOf } from '../question/table-acts.js'

/**
 * The filter for the rows of a group by a column, or by the first characters of one: a shorter text
 * is a group of its own.
 */
export function groupFilter(
  columns: readonly DatasetColumn[],
  text: string,
  cell: Cell,
): Filter | undefined {
  const [call] = parseCalls(text, 'group')
  const name = call?.operands ? call.operands[0]?.[0]?.name : call?.name
  const column = columns.find((each) => each.name === name)
  if (cell.kind === 'json' || !call || !column || call.alias !== null) return undefined
  if (call.operands === null || cell.kind === 'empty') return filterOf(column, cell)
  const [, length] = call.operands.flat().map((each) => Number(each.name))
  if (call.name !== 'prefix' || length === undefined) return undefined
  if ([...cell.text].length < length) return filterOf(column, cell)
  if (!column.operators.includes('like') || cell.text.includes('*')) return undefined
  return { column: column.name, operator: 'like', values: [`${cell.text}*`] }
}
