import { columnsOf } from '../../columns/formula.js'
import type { Summary } from '../summary.js'

/**
 * The cells that a group of the answer carries: its groups, and the columns that its measures are
 * made of, because the numbers of all can be computed from the digits. A count of rows is one. A
 * pivot has the measures `times`.
 */
export function groupCells(
  { groups, measures }: Pick<Summary, 'groups' | 'measures'>,
  times = 1,
): number {
  const cells = measures.map(({ aggregate: { of } }) => Math.max(1, columnsOf(of).length))
  return cells.reduce((sum, each) => sum + each * times, groups.length)
}

/**
 * The rows that one group is charged: at least as many as carry its cells. `columns` is the number
 * that the caller may see.
 */
export function groupCharge(
  cells: number,
  columns: number,
  { rowsPerGroup }: { readonly rowsPerGroup: number },
): number {
  return Math.ceil(cells / Math.max(1, columns)) * rowsPerGroup
}

/**
 * The rows charged for an answer. A request without groups is one group, also if `having` leaves it
 * out: the answer says how many rows met the filters.
 */
export function summaryCharge(
  groupsSent: number,
  { groups }: Pick<Summary, 'groups'>,
  chargePerGroup: number,
): number {
  return Math.max(groupsSent, groups.length === 0 ? 1 : 0) * chargePerGroup
}
