import type { Column } from '../../columns/column.js'
import { isFloat } from '../../columns/data-type.js'
import type { Aggregate, Quotient } from '../../query/summary.js'
import { presentValue } from './condition.js'
import type { Dialect } from './dialect.js'
import {
  doubleParts,
  exactQuotient,
  isOutOfRange,
  rounded,
  stepsOf,
  sumOfParts,
} from './exact-numbers.js'
import { comparableValue, doubleValue } from './values.js'

/** Gives each distinct expression of a level of the statement a name, once. */
class SqlNames {
  readonly #prefix: string
  readonly #names = new Map<string, string>()

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  of(expression: string): string {
    const name = this.#names.get(expression) ?? `${this.#prefix}${this.#names.size}`
    this.#names.set(expression, name)
    return name
  }

  /** `expression AS name`, for each. */
  get list(): readonly string[] {
    return [...this.#names].map(([expression, name]) => `${expression} AS ${name}`)
  }
}

/** The SQL of measures, which share values of rows and aggregates of groups. */
export class MeasureSql {
  readonly #dialect: Dialect
  /** SQL of a column in a row. */
  readonly #sqlOf: (column: Column) => string
  /** Expressions over the columns of a row. */
  readonly values = new SqlNames('v')
  /** Aggregates over the values. */
  readonly aggregates = new SqlNames('a')
  /** Conditions over aggregates: true for a group whose DOUBLE sums are not exact. */
  readonly outOfRange = new Set<string>()
  /** True for DOUBLE sums of numbers of any size. */
  readonly #isAnySize: boolean
  readonly #percents: ReadonlyMap<string, readonly number[]>

  constructor(
    dialect: Dialect,
    aggregates: readonly Aggregate[],
    sqlOf: (column: Column) => string,
    isAnySize: boolean,
  ) {
    this.#dialect = dialect
    this.#sqlOf = sqlOf
    this.#isAnySize = isAnySize
    const percents = new Map<string, number[]>()
    for (const each of aggregates) {
      if (each.kind !== 'percentile') continue
      const value = this.#double(each.of)
      percents.set(value, [...(percents.get(value) ?? []), each.percent])
    }
    this.#percents = percents
  }

  /** SQL of a measure over the aggregates, in the type of its result column. */
  measure(aggregate: Aggregate): string {
    switch (aggregate.kind) {
      case 'count':
        return aggregate.column === null
          ? this.aggregates.of('count(*)')
          : this.#aggregate('count', this.#present(aggregate.column))
      case 'distinct':
        return this.aggregates.of(`count(DISTINCT ${this.#comparable(aggregate.column)})`)
      case 'min':
      case 'max':
        return this.#extreme(aggregate.kind, aggregate.column)
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

  #present(column: Column): string {
    return presentValue(this.#dialect, column, this.#sqlOf(column))
  }

  #comparable(column: Column): string {
    return this.values.of(comparableValue(this.#dialect, column, this.#sqlOf(column)))
  }

  #extreme(kind: 'min' | 'max', column: Column): string {
    return this.aggregates.of(this.#dialect.extreme(kind, column, this.#comparable(column)))
  }

  #aggregate(name: string, value: string): string {
    return this.aggregates.of(`${name}(${this.values.of(value)})`)
  }

  #sum(column: Column): string {
    if (isFloat(column.type)) {
      return rounded(this.#dialect, this.#doubleSum(this.#double(column)))
    }
    return this.#exactSum(column, this.#sqlOf(column))
  }

  #exactSum(column: Column, sql: string): string {
    return this.#aggregate('sum', this.#dialect.summand(column, sql))
  }

  /** SQL of a row's number as a DOUBLE; NULL without one. */
  #double(of: Column | Quotient): string {
    if (!('dividend' in of)) return doubleValue(this.#dialect, of, this.#sqlOf(of))
    const [dividend, divisor] = [this.#double(of.dividend), this.#double(of.divisor)]
    return `CASE WHEN ${divisor} <> 0 THEN ${dividend} / ${divisor} END`
  }

  /** SQL of the sum of a DOUBLE in the rows, not yet rounded. */
  #doubleSum(sql: string): string {
    const value = this.values.of(sql)
    if (this.#isAnySize) return this.aggregates.of(this.#dialect.sumOfAnySize(value))
    const parts = doubleParts(this.#dialect, value)
    const sumOf = (each: string) => this.aggregates.of(`sum(${this.#dialect.partSummand(each)})`)
    const sums = {
      whole: sumOf(parts.whole),
      first: sumOf(parts.first),
      second: sumOf(parts.second),
    }
    this.outOfRange.add(isOutOfRange(this.aggregates.of(`max(abs(${value}))`)))
    return sumOfParts(this.#dialect, sums)
  }

  #average(of: Column | Quotient): string {
    if (!('dividend' in of) && !isFloat(of.type)) {
      const sql = this.#sqlOf(of)
      const scale = scaleOf(of)
      const count = this.#dialect.wide(this.#aggregate('count', sql))
      const steps = stepsOf(this.#dialect, this.#exactSum(of, sql), scale)
      return exactQuotient(this.#dialect, steps, count, -scale)
    }
    const value = this.#double(of)
    const mean = `${this.#doubleSum(value)} / ${this.#aggregate('count', value)}`
    return rounded(this.#dialect, mean)
  }

  #percentile(of: Column | Quotient, percent: number): string {
    const value = this.#double(of)
    const percents = this.#percents.get(value) ?? []
    const { kept, read } = this.#dialect.percentile(this.values.of(value), percent, percents)
    return rounded(this.#dialect, read(this.aggregates.of(kept)))
  }

  #ratio({ dividend, divisor }: Quotient): string {
    const above = this.#sumBeside(dividend, divisor)
    const below = this.#sumBeside(divisor, dividend)
    if (isFloat(dividend.type) || isFloat(divisor.type)) {
      const ratio = `CAST(${above} AS DOUBLE) / nullif(CAST(${below} AS DOUBLE), 0)`
      return rounded(this.#dialect, ratio)
    }
    const [scaleAbove, scaleBelow] = [scaleOf(dividend), scaleOf(divisor)]
    return exactQuotient(
      this.#dialect,
      stepsOf(this.#dialect, above, scaleAbove),
      stepsOf(this.#dialect, below, scaleBelow),
      scaleBelow - scaleAbove,
    )
  }

  /** SQL of the sum of a column in the rows in which another has a value too. */
  #sumBeside(column: Column, other: Column): string {
    const isBeside = `${this.#present(other)} IS NOT NULL`
    const within = (sql: string) => `CASE WHEN ${isBeside} THEN ${sql} END`
    return isFloat(column.type)
      ? this.#doubleSum(within(this.#double(column)))
      : this.#exactSum(column, within(this.#sqlOf(column)))
  }
}

function scaleOf({ type }: Column): number {
  return type.kind === 'decimal' ? type.scale : 0
}
