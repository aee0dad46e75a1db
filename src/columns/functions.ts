import { article, nearestNames } from '../text.js'
import type { ShownType } from './column-types.js'
import type { Column } from './column.js'
import { orderedTypes } from './ordered-types.js'

interface FunctionRules {
  readonly of: TypeSet
  readonly meaning: string
  /** What it computes a value from: one column, one side divided by another, or a column twice. */
  readonly takes: 'column' | 'column or quotient' | 'quotient' | 'two values'
  readonly result: ResultKind
}

/** Types of columns, and how messages call them. */
interface TypeSet {
  readonly types: readonly ShownType[]
  readonly needs: string
}

/**
 * The type of a function's value: `count` a whole number; `exact` the column's numbers with every
 * digit; `double` 15 significant digits; `column` the column's own type.
 */
type ResultKind = 'count' | 'exact' | 'double' | 'column'

const numbers: TypeSet = { types: ['integer', 'number'], needs: 'a number' }
const texts: TypeSet = { types: ['string'], needs: 'a text' }
const moments: TypeSet = { types: ['date', 'timestamp'], needs: 'a date or timestamp' }
const ordered: TypeSet = {
  types: orderedTypes,
  needs: 'a number, text, date or time',
}
const comparable: TypeSet = {
  types: [...ordered.types, 'boolean'],
  needs: 'a number, text, date, time or boolean',
}
const all: TypeSet = { types: [...comparable.types, 'json', 'binary'], needs: 'a column' }

/**
 * Every function that makes one value of a group of rows; `pN` is `p1` to `p99`. Empty values never
 * count. The source of schemas, documentation and errors. Each value is made of plain columns: a
 * function that packs several values into one would deliver rows at the price of a group.
 */
export const aggregateFunctions = {
  count: {
    of: all,
    meaning: 'rows in which the column has a value; count alone counts all rows',
    takes: 'column',
    result: 'count',
  },
  distinct: {
    of: comparable,
    meaning: 'different values',
    takes: 'column',
    result: 'count',
  },
  sum: { of: numbers, meaning: 'the sum', takes: 'column', result: 'exact' },
  avg: {
    of: numbers,
    meaning: 'the mean; avg(a/b) is the mean of the quotients of the rows',
    takes: 'column or quotient',
    result: 'double',
  },
  min: { of: ordered, meaning: 'the smallest value', takes: 'column', result: 'column' },
  max: { of: ordered, meaning: 'the largest value', takes: 'column', result: 'column' },
  median: {
    of: numbers,
    meaning: 'the median, interpolated; median(a/b) is that of the quotients of the rows',
    takes: 'column or quotient',
    result: 'double',
  },
  pN: {
    of: numbers,
    meaning: 'a percentile, p1 to p99, interpolated; p90(a/b) is that of the quotients of the rows',
    takes: 'column or quotient',
    result: 'double',
  },
  ratio: {
    of: numbers,
    meaning: 'the sum of a by the sum of b, over the rows that have both',
    takes: 'quotient',
    result: 'double',
  },
  growth: {
    of: numbers,
    meaning: 'the sum at the later value of the history by that at the earlier, minus 1',
    takes: 'two values',
    result: 'double',
  },
} as const satisfies Record<string, FunctionRules>

/** A function without its percent: `p90` is `pN`. */
export type AggregateFunction = keyof typeof aggregateFunctions

export const aggregateNames = Object.keys(aggregateFunctions) as readonly AggregateFunction[]

/** Every function that groups rows by a part of a value. */
export const groupFunctions = {
  prefix: { of: texts, meaning: 'the first n characters: prefix(column,n)' },
  year: { of: moments, meaning: 'the calendar year in UTC, 2024' },
  quarter: { of: moments, meaning: 'the quarter, "2024-Q1"' },
  month: { of: moments, meaning: 'the month, "2024-03"' },
  day: { of: moments, meaning: 'the day, "2024-03-05"' },
} as const satisfies Record<string, { readonly of: TypeSet; readonly meaning: string }>

export type GroupFunction = keyof typeof groupFunctions

export const groupNames = Object.keys(groupFunctions) as readonly GroupFunction[]

/** The function of a name, and the percent of `p1` to `p99`; undefined for other names. */
export function findAggregate(
  name: string,
): { readonly name: AggregateFunction; readonly percent: number | null } | undefined {
  const percent = /^p([1-9]\d?)$/.exec(name)?.[1]
  if (percent !== undefined) return { name: 'pN', percent: Number(percent) }
  return name !== 'pN' && Object.hasOwn(aggregateFunctions, name)
    ? { name: name as AggregateFunction, percent: null }
    : undefined
}

/** True for the name of a function that groups rows. */
export function isGroupFunction(name: string): name is GroupFunction {
  return Object.hasOwn(groupFunctions, name)
}

/** True if rows can be grouped by the column's values. */
export function isGroupable({ rules }: Column): boolean {
  return comparable.types.includes(rules.shown)
}

/** True if the column's values have an order, so that a first and a last one exist. */
export function isOrdered({ rules }: Column): boolean {
  return orderedTypes.includes(rules.shown)
}

/** The aggregate functions that a column has, in documented order. */
export function columnAggregates({ rules }: Column): readonly AggregateFunction[] {
  return aggregateNames.filter((name) => aggregateFunctions[name].of.types.includes(rules.shown))
}

/** The functions that group rows by a part of this column's values, in documented order. */
export function columnGroups({ rules }: Column): readonly GroupFunction[] {
  return groupNames.filter((name) => groupFunctions[name].of.types.includes(rules.shown))
}

/** Why rows can't be grouped by a part of this column's values; undefined if they can. */
export function groupMistake(name: GroupFunction, column: Column): string | undefined {
  const { of } = groupFunctions[name]
  if (of.types.includes(column.rules.shown)) return undefined
  const has = columnGroups(column)
  const others = has.length === 0 ? 'has no such part' : `has ${has.join(', ')}`
  return `${name} needs ${of.needs}; ${column.name} is ${article(column.rules.shown)} and ${others}`
}

/** The aggregate functions that a column has, for messages. */
export function listedFunctions(column: Column): string {
  return columnAggregates(column)
    .map((name) => (name === 'pN' ? 'p1 to p99' : name))
    .join(', ')
}

/** Names that other languages use for these functions. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['average', 'avg'],
  ['mean', 'avg'],
  ['total', 'sum'],
  ['minimum', 'min'],
  ['maximum', 'max'],
  ['count_distinct', 'distinct'],
  ['countdistinct', 'distinct'],
  ['nunique', 'distinct'],
  ['uniq', 'distinct'],
  ['unique', 'distinct'],
  ['quotient', 'ratio'],
  ['change', 'growth'],
  ['left', 'prefix'],
  ['substr', 'prefix'],
  ['substring', 'prefix'],
])

/** The function that a wrong name means; undefined if that can't be guessed, as for `p100`. */
export function meantFunction(wrong: string, names: readonly string[]): string | undefined {
  if (/^p\d+$/i.test(wrong)) return undefined
  const other = otherNames.get(wrong.toLowerCase())
  if (other !== undefined && names.includes(other)) return other
  return nearestNames(wrong, names)[0]
}
