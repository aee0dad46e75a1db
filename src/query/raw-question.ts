import type { PageFormat } from './page-format.js'

/** A value as it came: text from a URL; from JSON also a number or a truth value. */
export type RawValue = string | number | boolean

export interface RawFilter {
  readonly column: string
  readonly operator: string
  /** One value, several for a list, none for operators that take none. */
  readonly values: readonly RawValue[]
  /** JSON alone can give a list where one value is due, and one value where a list is. */
  readonly isList: boolean
}

/**
 * A request's question, read but not yet understood: column names, operators and values are still
 * the caller's. URL, POST and MCP all become this, and then take one road (`ask.ts`).
 */
export interface RawQuestion {
  readonly filters: readonly RawFilter[]
  readonly select: readonly string[] | null
  readonly limit: number | null
  readonly cursor: string | null
  /** Null where the question does not say: then what the caller accepts decides. */
  readonly format: PageFormat | null
}

export const filtersMax = 50
export const listValuesMax = 1000

/** Reading more at a time would keep other requests waiting for milliseconds. */
const valuesAtOnce = 5000

/** Whether each stage of the question is work enough to let others have a turn in between. */
export function isLong({ filters }: RawQuestion): boolean {
  return filters.reduce((sum, { values }) => sum + values.length, 0) > valuesAtOnce
}
