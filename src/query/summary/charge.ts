import type { Summary } from '../summary.js'

/**
 * The cells that a group of the answer carries: its groups and measures. A quotient counts two,
 * because both numbers can be computed from its digits.
 */
export function groupCells({ groups, measures }: Pick<Summary, 'groups' | 'measures'>): number {
  const quotients = measures.filter(
    ({ aggregate }) => 'of' in aggregate && 'dividend' in aggregate.of,
  )
  return groups.length + measures.length + quotients.length
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
