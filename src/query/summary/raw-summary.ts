import type { Call, DirectedCall } from '../../columns/call-text.js'
import type { RawHeadings } from '../headings.js'
import type { PageFormat } from '../page-format.js'
import type { RawFilter } from '../raw-question.js'

/** `<measure>.<operator>.<value>`. */
export interface RawHaving {
  readonly measure: Call
  readonly operator: string
  /** Everything after the operator's dot, unchanged. */
  readonly value: string
}

/**
 * A parsed summary that is not yet resolved: names, functions and values are unchecked. URL, POST
 * and MCP all produce this type.
 */
export interface RawSummary {
  readonly filters: readonly RawFilter[]
  readonly group: readonly Call[]
  readonly measures: readonly Call[]
  readonly having: readonly RawHaving[]
  readonly order: readonly DirectedCall[]
  /** The group whose values become columns; none, or one. */
  readonly pivot: readonly Call[]
  /** Whether the groups beyond the limit are added up as one. */
  readonly rest: boolean
  readonly limit: number | null
  /** Whether codes come with their names; `ru`: with the Russian ones. */
  readonly labels: boolean | 'ru'
  /** Null if the summary names no format: `Accept` then decides. */
  readonly format: PageFormat | null
  readonly headings?: RawHeadings
}

export const groupsMax = 4
export const measuresMax = 16
/** Each needs memory for every different value. */
export const distinctMax = 2
export const havingMax = 50
/** The most values of a pivot, each a column. */
export const pivotMax = 50
export const groupsLimit = { usual: 100, max: 10_000 } as const
