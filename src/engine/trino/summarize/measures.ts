import type { Column } from '../../../columns/column.js'
import type { Aggregate, Quotient } from '../../../query/summary.js'
import { SqlNames } from '../../sql-names.js'
import { comparableValue } from '../compile.js'
import { isFloat, presentValue } from '../condition.js'
import {
  doubleParts,
  exactQuotient,
  isOutOfRange,
  percentileOf,
  rounded,
  sortedSum,
  stepsOf,
  sumOfParts,
  wide,
} from './exact-numbers.js'
import type { PartSums } from './exact-numbers.js'
import { doubleValue } from './values.js'

/** The SQL of measures, which share values of rows and aggregates of groups. */
export class MeasureSql {
  /** SQL of a column in a row. */
  readonly #sqlOf: (column: Column) => string
  /** Expressions over the columns of a row. */
  readonly values = new SqlNames('v')
  /** Aggregates over the values. */
  readonly aggregates = new SqlNames('a')
  /** Conditions over aggregates: true for a group whose DOUBLE sums are not exact. */
  readonly outOfRange = new Set<string>()
  /** True to sort the numbers of DOUBLE sums, which may be of any size. */
  readonly #sorts: boolean

  constructor(sqlOf: (column: Column) => string, sorts: boolean) {
    this.#sqlOf = sqlOf
    this.#sorts = sorts
  }

  /** SQL of a measure over the aggregates, in the type of its result column. */
  measure(aggregate: Aggregate): string {
    switch (aggregate.kind) {
      case 'count':
        return aggregate.column === null
          ? this.aggregates.of('count(*)')
          : this.#aggregate('count', presentValue(aggregate.column, this.#sqlOf(aggregate.column)))
      case 'distinct':
        return this.aggregates.of(`count(DISTINCT ${this.#comparable(aggregate.column)})`)
      case 'min':
      case 'max':
        return this.aggregates.of(`${aggregate.kind}(${this.#comparable(aggregate.column)})`)
      case 'sum':
        return this.#sum(aggregate.column)
      case 'avg':
        return this.#average(aggregate.of)
      case 'percentile':
        return this.#percentile(aggregate.of, aggregate.percent)
      case 'ratio':
        return this.#ratio(aggregate.of)
    }
  }

  #comparable(column: Column): string {
    return this.values.of(comparableValue(column, this.#sqlOf(column)))
  }

  #aggregate(name: string, value: string): string {
    return this.aggregates.of(`${name}(${this.values.of(value)})`)
  }

  #sum(column: Column): string {
    if (isFloat(column)) return rounded(this.#doubleSum(this.#double(column)))
    return this.#exactSum(column, this.#sqlOf(column))
  }

  /** A sum of BIGINTs alone would overflow. */
  #exactSum({ type }: Column, sql: string): string {
    return this.#aggregate('sum', type.kind === 'decimal' ? sql : wide(sql))
  }

  /** SQL of a row's number as a DOUBLE; NULL without one. */
  #double(of: Column | Quotient): string {
    if (!('dividend' in of)) return doubleValue(of, this.#sqlOf(of))
    const [dividend, divisor] = [this.#double(of.dividend), this.#double(of.divisor)]
    return `CASE WHEN ${divisor} <> 0 THEN ${dividend} / ${divisor} END`
  }

  /** SQL of the sum of a DOUBLE in the rows, not yet rounded. */
  #doubleSum(sql: string): string {
    const value = this.values.of(sql)
    if (this.#sorts) return this.aggregates.of(sortedSum(value))
    const { whole, first, second } = doubleParts(value)
    const sums: PartSums = {
      whole: this.aggregates.of(`sum(${whole})`),
      first: this.aggregates.of(`sum(${first})`),
      second: this.aggregates.of(`sum(${second})`),
      largest: this.aggregates.of(`max(abs(${value}))`),
    }
    this.outOfRange.add(isOutOfRange(sums))
    return sumOfParts(sums)
  }

  #average(of: Column | Quotient): string {
    if (!('dividend' in of) && !isFloat(of)) {
      const sql = this.#sqlOf(of)
      const scale = scaleOf(of)
      const count = wide(this.#aggregate('count', sql))
      return exactQuotient(stepsOf(this.#exactSum(of, sql), scale), count, -scale)
    }
    const value = this.#double(of)
    return rounded(`${this.#doubleSum(value)} / ${this.#aggregate('count', value)}`)
  }

  #percentile(of: Column | Quotient, percent: number): string {
    const value = this.values.of(this.#double(of))
    const sorted = `array_sort(array_agg(${value}) FILTER (WHERE ${value} IS NOT NULL))`
    return rounded(percentileOf(this.aggregates.of(sorted), percent))
  }

  #ratio({ dividend, divisor }: Quotient): string {
    const above = this.#sumBeside(dividend, divisor)
    const below = this.#sumBeside(divisor, dividend)
    if (isFloat(dividend) || isFloat(divisor)) {
      return rounded(`CAST(${above} AS DOUBLE) / nullif(CAST(${below} AS DOUBLE), 0)`)
    }
    const [scaleAbove, scaleBelow] = [scaleOf(dividend), scaleOf(divisor)]
    return exactQuotient(
      stepsOf(above, scaleAbove),
      stepsOf(below, scaleBelow),
      scaleBelow - scaleAbove,
    )
  }

  /** SQL of the sum of a column in the rows in which another has a value too. */
  #sumBeside(column: Column, other: Column): string {
    const isBeside = `${presentValue(other, this.#sqlOf(other))} IS NOT NULL`
    const within = (sql: string) => `CASE WHEN ${isBeside} THEN ${sql} END`
    return isFloat(column)
      ? this.#doubleSum(within(this.#double(column)))
      : this.#exactSum(column, within(this.#sqlOf(column)))
  }
}

function scaleOf({ type }: Column): number {
  return type.kind === 'decimal' ? type.scale : 0
}
