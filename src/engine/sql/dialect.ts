import type { Column } from '../../columns/column.js'
import type { DataType, ScalarName } from '../../columns/data-type.js'
import type { Value } from '../../columns/filter-value.js'
import type { ListKind } from '../../columns/predicate.js'

/** SQL for a value's text (null if null is served), and how the text becomes JSON. */
export interface EncodedSql {
  readonly sql: string
  /** `json`: it is JSON; `plain`: it only needs quotes; `text`: it also needs escapes. */
  readonly form: 'json' | 'plain' | 'text'
}

/** A column and SQL for its value. */
export interface Cell {
  readonly column: Column
  readonly sql: string
}

/** A column under its name in a statement. */
export type NamedColumn = readonly [name: string, column: Column]

/**
 * The values of a statement. Each call binds one and returns its place in the text; where places
 * have no number, calls must come in the order of the text.
 */
export interface Parameters {
  readonly dialect: Dialect
  /** A filter's value, in its column's own type. */
  value(column: Column, value: Value): string
  text(text: string): string
  /** True to compare so many values one by one, false to look them up in a list. */
  comparesEach(column: Column, count: number): boolean
  /** The right side of IN. */
  list(kind: ListKind, column: Column, values: readonly Value[]): string
}

/** A percentile: what a group keeps of a value, and how the percentile is read from that. */
export interface PercentileSql {
  readonly kept: string
  readonly read: (kept: string) => string
}

/** What one engine's SQL says differently from the other's. Texts are SQL, also those returned. */
export interface Dialect {
  /** Names of functions that both have. */
  readonly functions: Readonly<
    Record<'distinctEstimate' | 'isFinite' | 'joinTexts' | 'matches' | 'truncate', string>
  >
  /** The arguments that a function takes. */
  readonly argumentsMax: number

  /** A scalar in the form that it has in rows. */
  scalar(name: ScalarName, value: string): EncodedSql
  decimalText(type: DataType & { readonly kind: 'decimal' }, value: string): string
  /** The text of a type without rules of its own. */
  otherText(name: string, value: string): string
  /** True for types that also have NaN or ±infinity, which are served as null. */
  mayBeInfinite(column: Column): boolean

  /** A text as a JSON string. */
  jsonString(text: string): string
  /** A list as JSON. */
  jsonList(list: string): string
  /** The engine's own JSON of a value; null for a type that it writes differently from ours. */
  ownJson(type: DataType, value: string): string | null
  /** The same of a whole row. */
  ownRow(cells: readonly Cell[]): string | null
  /** A map's key as a JSON string: `json` is null if the key is served as null. */
  mapKey(json: string, key: string): string
  /** A field of a struct by its place, from 1: SQL may misread its name. */
  field(struct: string, place: number): string
  /** The list of `body`, in which each member of the list has this name. */
  transform(list: string, member: string, body: string): string

  /** Where a value is that the column's type can't hold; null for one that it can. */
  outsideOf(column: Column, value: Value): 'below' | 'above' | null
  /** True for a text that has this word anywhere. */
  contains(text: string, word: string): string
  /** True for 0 and -0, which are equal but which files distinguish. */
  isZero(value: string, column: Column, parameters: Parameters): string

  /** The calendar day in UTC of a timestamp. */
  dayOf(name: ScalarName | null, value: string): string
  /** A whole number of at least this many digits. */
  padded(number: string, digits: number): string
  /** A FLOAT by the digits that are served, 0.1 and not 0.100000001. */
  floatText(value: string): string

  /** The type of the integers of 38 digits in which sums are exact. */
  readonly widestInteger: string
  integer(value: bigint): string
  /** The result of arithmetic with the widest integers as one of them. */
  wide(value: string): string
  /** The quotient of two positive integers, rounded down. */
  quotient(dividend: string, divisor: string): string
  /** The table of the pairs of a JSON text, as the columns `code` and `upper_code`. */
  pairs(json: string): string
  /** A row of values, which are read by their places from 1. */
  row(values: readonly string[]): string
  /** A DOUBLE as text with this many digits. */
  digits(double: string, count: number): string

  /** A number as a term of an exact sum. */
  summand(column: Column, value: string): string
  /** A part of a DOUBLE, which fits in a BIGINT, as a term of an exact sum. */
  partSummand(value: string): string
  /** The sum of a group's DOUBLEs of any size: slower, because it keeps them. */
  sumOfAnySize(value: string): string
  /** A percentile of a group's values; the percentiles of the same value are given too. */
  percentile(value: string, percent: number, percents: readonly number[]): PercentileSql
  /** The smallest or largest value of a group. */
  extreme(kind: 'min' | 'max', column: Column, value: string): string

  /** True where a profile lists values without an order of their own by their texts. */
  readonly profilesTexts: boolean
  /** Milliseconds since 1970. */
  epochMs(column: Column, value: string): string
  /** The rows in each bin, as JSON; `edges` are one more than the bins. */
  binCounts(size: string, edges: readonly number[]): string
}
