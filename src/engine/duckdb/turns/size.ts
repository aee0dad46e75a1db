import type { Predicate } from '../../../columns/predicate.js'
import type { Version } from '../../../versions/version.js'
import type { ProfileQuestion } from '../../engine.js'
import { costOf, isByKey, planCount, soloRowsMax } from '../read/pieces.js'
import type { QuerySize } from './turn.js'

/** Values that one row is compared with; a long list is looked up, which costs about as many. */
const comparisonsMax = 64
const listComparisonsMax = 16

/** A page starts as this; what is not by key grows once it has read many rows (`isMuch`). */
export function sizeOfPage(version: Version, predicates: readonly Predicate[]): QuerySize {
  if (!areFew(version, predicates)) return 'large'
  const hasKey = predicates.some((predicate) => isByKey(version, predicate))
  return hasKey && isMuch(rowsOf(version, predicates)) ? 'byKey' : 'small'
}

/** A count reads every row of the files chosen; without conditions, only what the files say. */
export function sizeOfCount(version: Version, predicates: readonly Predicate[]): QuerySize {
  if (predicates.length === 0) return 'small'
  const size = sizeOfPage(version, predicates)
  return size === 'small' && isMuch(rowsOf(version, predicates)) ? 'large' : size
}

/** A profile reads as many cells as its rows and columns have. */
export function sizeOfProfile({
  version,
  predicates,
  columns,
  rowsMax,
}: ProfileQuestion): QuerySize {
  const rows = Math.min(rowsOf(version, predicates), rowsMax ?? Infinity)
  return areFew(version, predicates) && !isMuch(rows * columns.length) ? 'small' : 'large'
}

/** More rows than small work reads. */
export function isMuch(rows: number): boolean {
  return rows > soloRowsMax
}

function rowsOf(version: Version, predicates: readonly Predicate[]): number {
  return planCount(version, predicates).reduce((sum, stretch) => sum + costOf(stretch), 0)
}

/** Whether comparisons cost little; those with the key choose files, or end soon. */
function areFew(version: Version, predicates: readonly Predicate[]): boolean {
  const others = predicates.filter((predicate) => !isByKey(version, predicate))
  return others.reduce((sum, each) => sum + comparisonsOf(each), 0) <= comparisonsMax
}

function comparisonsOf(predicate: Predicate): number {
  return 'values' in predicate ? Math.min(predicate.values.length, listComparisonsMax) : 1
}
