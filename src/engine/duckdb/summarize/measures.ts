import type { Column } from '../../../columns/column.js'
import type { Aggregate, Quotient } from '../../../query/summary.js'
import { SqlNames } from '../../sql-names.js'
import { presentValue } from '../read/condition.js'
import {
  doubleParts,
  exactQuotient,
  isOutOfRange,
  listOf,
  rounded,
  scaledSum,
  stepsOf,
  sumOfParts,
} from './exact-numbers.js'
import type { PartSums } from './exact-numbers.js'
import { comparableValue, doubleValue, isFloating } from './values.js'

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
  /** True for DOUBLE sums of numbers of any size. */
  readonly #scales: boolean
  readonly #percents: ReadonlyMap<string, readonly number[]>

  constructor(
    aggregates: readonly Aggregate[],
    sqlOf: (column: Column) => string,
    scales: boolean,
  ) {
    this.#sqlOf = sqlOf
    this.#scales = scales
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
          : this.#aggregate('count', presentValue(aggregate.column, this.#sqlOf(aggregate.column)))
      case 'distinct':
        return this.aggregates.of(`count(DISTINCT ${this.#comparable(aggregate.column)})`)
      case 'min':
      case 'max':
        return this.aggregates.of(extreme(aggregate, this.#comparable(aggregate.column)))
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
    if (isFloating(column)) return rounded(this.#doubleSum(this.#double(column)))
    return this.#exactSum(column, this.#sqlOf(column))
  }

  #exactSum({ type }: Column, sql: string): string {
    // Without the cast, DuckDB would add these integers as DOUBLEs.
    const isWidest = type.kind === 'scalar' && type.name === 'UHUGEINT'
    return this.#aggregate('sum', isWidest ? `CAST(${sql} AS HUGEINT)` : sql)
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
    if (this.#scales) return this.aggregates.of(scaledSum(value))
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
    if (!('dividend' in of) && !isFloating(of)) {
      const sql = this.#sqlOf(of)
      const scale = scaleOf(of)
      const count = this.#aggregate('count', sql)
      return exactQuotient(stepsOf(this.#exactSum(of, sql), scale), count, -scale)
    }
    const value = this.#double(of)
    return rounded(`${this.#doubleSum(value)} / ${this.#aggregate('count', value)}`)
  }

  /** The percentiles of one value are computed at once, because each keeps all values. */
  #percentile(of: Column | Quotient, percent: number): string {
    const value = this.#double(of)
    const percents = this.#percents.get(value) ?? []
    const shares = percents.map((each) => each / 100).join(', ')
    const values = listOf(this.values.of(value))
    const list = this.aggregates.of(`list_aggregate(${values}, 'quantile_cont', [${shares}])`)
    return rounded(`list_extract(${list}, ${percents.indexOf(percent) + 1})`)
  }

  #ratio({ dividend, divisor }: Quotient): string {
    const above = this.#sumBeside(dividend, divisor)
    const below = this.#sumBeside(divisor, dividend)
    if (isFloating(dividend) || isFloating(divisor)) {
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
    return isFloating(column)
      ? this.#doubleSum(within(this.#double(column)))
      : this.#exactSum(column, within(this.#sqlOf(column)))
  }
}

/**
 * True for an aggregate that keeps a text for each group. DuckDB must destroy what it keeps, also
 * when a query fails: where it was spilled and no memory is left to read it back, DuckDB ends the
 * process. So such aggregates run only in instances that do not spill.
 */
export function keepsTexts(aggregate: Aggregate): boolean {
  const isExtreme = aggregate.kind === 'min' || aggregate.kind === 'max'
  return isExtreme && aggregate.column.rules.domain.kind === 'text'
}

/** SQL of the smallest or largest value. */
function extreme(aggregate: Aggregate, value: string): string {
  const { kind } = aggregate
  // DuckDB counts the memory of this form, and frees it when a query is stopped.
  return keepsTexts(aggregate) ? `${kind}(${value}, 1)[1]` : `${kind}(${value})`
}

function scaleOf({ type }: Column): number {
  return type.kind === 'decimal' ? type.scale : 0
}
