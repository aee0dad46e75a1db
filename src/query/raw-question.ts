import type { RawHeadings } from './headings.js'
import type { PageFormat } from './page-format.js'

/** A value from the request: a string from a URL; from JSON also a number or a boolean. */
export type RawValue = string | number | boolean

export interface RawFilter {
  readonly column: string
  readonly operator: string
  /** One value, several for a list, none for operators that take no value. */
  readonly values: readonly RawValue[]
  /** Only JSON can give a list to an operator that takes one value, or the reverse. */
  readonly isList: boolean
}

/**
 * A parsed question that is not yet resolved: column names, operators and values are unchecked.
 * URL, POST and MCP all produce this type, and `ask.ts` handles it.
 */
export interface RawQuestion {
  readonly filters: readonly RawFilter[]
  readonly select: readonly string[] | null
  readonly limit: number | null
  readonly cursor: string | null
  /** Null if the question names no format: `Accept` then decides. */
  readonly format: PageFormat | null
  readonly headings?: RawHeadings
  /** Whether an empty answer says why, which costs a row; left out = the door decides. */
  readonly explain?: boolean
}

export const filtersMax = 50
export const listValuesMax = 1000
/** Of all searches of a request: each word is a condition, and planning one takes 0.2 ms. */
export const searchWordsMax = 500

/** More values in one turn would delay other requests by milliseconds. */
const valuesAtOnce = 5000

/** Reports whether a question with these filters needs turns of the event loop. */
export function isLong(filters: readonly RawFilter[]): boolean {
  return filters.reduce((sum, { values }) => sum + values.length, 0) > valuesAtOnce
}
