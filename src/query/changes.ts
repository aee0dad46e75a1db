import type { Column } from '../columns/column.js'
import type { Predicate } from '../columns/predicate.js'
import type { ReadySet } from '../versions/changes/change-set.js'
import type { Version } from '../versions/version.js'
import type { KeyPosition } from './question.js'

/** A request for what differs between two versions, after every check: none refuses it later. */
export interface Changes {
  /** The later one. */
  readonly version: Version
  /** What differs from each version to the next, up to this one; empty if nothing lies between. */
  readonly sets: readonly ReadySet[]
  /** Plan's window, demo subset, watch list and the caller's filters: of both versions. */
  readonly predicates: readonly Predicate[]
  /** In the requested order; at least one. */
  readonly columns: readonly Column[]
  /** A row of both versions counts only if one of these differs too; empty = it counts anyway. */
  readonly counted: readonly Column[]
  /** The last key that the caller received; null at the start. */
  readonly after: KeyPosition | null
  readonly limit: number
}
