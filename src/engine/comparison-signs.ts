import type { CompareKind } from '../columns/predicate.js'

/** The operators of comparisons in SQL. */
export const comparisonSigns: Readonly<Record<CompareKind, string>> = {
  eq: '=',
  ne: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  isdistinct: 'IS DISTINCT FROM',
}
