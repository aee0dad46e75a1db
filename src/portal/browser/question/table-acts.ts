import type { Filter } from './filters.js'
import type { Cell } from './exact-rows.js'
import type { PageColumn } from './page-column.js'
import type { Order } from './rows-question.js'

/** What clicks in a table do. */
export interface TableActs {
  /** How the rows are sorted; null = in the order that they came in. */
  readonly order: Order | null
  /** Undefined for a column that rows can't be sorted by. */
  readonly sort: (column: PageColumn) => (() => void) | undefined
  /** Undefined for a value that can't be filtered by. */
  readonly filter: (column: PageColumn, cell: Cell) => (() => void) | undefined
}

/** For a table that does nothing. */
export const noActs: TableActs = { order: null, sort: () => undefined, filter: () => undefined }

/**
 * The order after a click on a heading: the greatest numbers first, or the least texts; then the
 * other way round; then none.
 */
export function nextOrder({ name, type }: PageColumn, order: Order | null): Order | null {
  const isNumber = type === 'number' || type === 'integer'
  if (order?.column !== name) return { column: name, isDescending: isNumber }
  return order.isDescending === isNumber ? { column: name, isDescending: !isNumber } : null
}

/** The filter that a value stands for; undefined where the column has none. */
export function filterOf({ name, operators }: PageColumn, cell: Cell): Filter | undefined {
  const operator = cell.kind === 'empty' ? 'is_null' : 'eq'
  if (cell.kind === 'json' || !operators.includes(operator)) return undefined
  return { column: name, operator, values: operator === 'eq' ? [cell.text] : [] }
}

/** The filters with one more, in place of another value of its column. */
export function withFilter(filters: readonly Filter[], added: Filter): readonly Filter[] {
  const isValue = ({ operator }: Filter) => operator === 'eq' || operator === 'is_null'
  const isReplaced = (each: Filter) =>
    each.column === added.column && isValue(each) && isValue(added)
  return [...filters.filter((each) => !isReplaced(each)), added]
}
