import type { CodeNames, UpperCodes } from '../columns/codes.js'
import type { Column } from '../columns/column.js'
import type { ColumnAt, Quotient } from '../columns/formula.js'
import type { Predicate } from '../columns/predicate.js'
import type { DefinedMeasure } from '../registry/measures.js'
import type { Version } from '../versions/version.js'
import type { RowFormat } from './page-format.js'

/** The parts of a date or timestamp that rows can be grouped by. */
type DatePart = 'year' | 'quarter' | 'month' | 'day'

/** What rows are grouped by. Rows in which it is empty are a group of their own. */
export interface GroupBy {
  /** As written in the request: the key of the answer. */
  readonly name: string
  readonly column: Column
  /** Names for its values, to be answered beside them as `<name>:label`; null if not asked. */
  readonly labels: CodeNames | null
  /** `prefix`: a text's first characters, or the whole text if it is shorter. */
  readonly by:
    | { readonly kind: 'value' }
    | { readonly kind: 'prefix'; readonly length: number }
    /** The upper code of a code in a list; empty for a code without one. */
    | { readonly kind: 'level'; readonly uppers: UpperCodes }
    | { readonly kind: DatePart }
    /** True for the rows whose value of this group is not among its `kept`; else empty. */
    | { readonly kind: 'rest'; readonly of: GroupBy }
  /** The served texts that keep their group; all other rows are one group, with an empty value. */
  readonly kept?: readonly ServedValue[]
}

/** The text of a value as it is served; null for an empty one. */
export type ServedValue = string | null

/** The group whose values are columns: a measure of each looks at the rows with its value. */
interface Pivot {
  readonly group: GroupBy
  readonly values: readonly ServedValue[]
}

/** One value for each group, made of plain columns. Empty values do not count. */
export type Aggregate =
  /** Rows, or rows in which the column has a value. */
  | { readonly kind: 'count'; readonly of: ColumnAt | null; readonly place?: number }
  | { readonly kind: 'distinct' | 'sum' | 'min' | 'max'; readonly of: ColumnAt }
  | { readonly kind: 'avg'; readonly of: ColumnAt | Quotient }
  /** Interpolated like SQL's `percentile_cont`; the median is percent 50. */
  | { readonly kind: 'percentile'; readonly percent: number; readonly of: ColumnAt | Quotient }
  /**
   * The sum of the dividends by the sum of the divisors, over the rows that have both; over its own
   * rows each, if they look at different values of the history.
   */
  | { readonly kind: 'ratio'; readonly of: Quotient }
  /** The sum of the divisor by that of the dividend, minus 1: one column at two values. */
  | { readonly kind: 'growth'; readonly of: Quotient }

export interface Measure {
  /** As written in the request or as renamed there: the key of the answer. */
  readonly name: string
  readonly aggregate: Aggregate
  /** The unit and the meaning that the registry gives it; null for a caller's own measure. */
  readonly defined: Pick<DefinedMeasure, 'label' | 'unit' | 'description' | 'russian'> | null
  /** Only the order looks at it: the answer does not have it. */
  readonly isHidden?: true
}

/** A condition on a measure: groups that do not meet it are left out. */
export interface HavingCondition {
  /** Index into the measures. */
  readonly measure: number
  /** On the measure's `resultColumn`, compared exactly like a column of that type. */
  readonly predicate: Predicate
}

/** Empty values come last in both directions. */
export interface SummaryOrder {
  readonly by: { readonly group: number } | { readonly measure: number }
  readonly isDescending: boolean
}

/** A request for groups of rows, after every check: no later stage can refuse it. */
export interface Summary {
  readonly version: Version
  /** The plan's window, the demo subset and the caller's filters, all ANDed. */
  readonly predicates: readonly Predicate[]
  /** None = one group of all rows, also of no row. */
  readonly groups: readonly GroupBy[]
  /** At least one. */
  readonly measures: readonly Measure[]
  readonly pivot?: Pivot
  readonly having: readonly HavingCondition[]
  /** Ties, and everything without an order, follow the groups, ascending. */
  readonly order: readonly SummaryOrder[]
  /** The most groups to return. */
  readonly limit: number
  /** The format of a group; JSON if omitted. */
  readonly format?: RowFormat
}
