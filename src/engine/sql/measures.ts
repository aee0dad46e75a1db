import type { Column } from '../../columns/column.js'
import { isFloat } from '../../columns/data-type.js'
import type { ColumnAt, Quotient, Side } from '../../columns/formula.js'
import { atOf } from '../../columns/operand-rules.js'
import type { Aggregate } from '../../query/summary.js'
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
import { asDouble, exactSide, scaleOf, timesFactor } from './side-sum.js'
import type { SideSum } from './side-sum.js'
import { comparableValue, doubleValue, groupKey } from './values.js'

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

/** What measures are computed from. */
interface MeasureRows {
  /** SQL of a column in a row. */
  readonly sqlOf: (column: Column) => string
  /** The column of the values that measures look at; null without one. */
  readonly history: Column | null
  /** SQL of the place of a row's value in the pivot; NULL without a pivot. */
  readonly place: string
}

/** The SQL of measures, which share values of rows and aggregates of groups. */
export class MeasureSql {
  readonly #dialect: Dialect
  readonly #rows: MeasureRows
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
    rows: MeasureRows,
    isAnySize: boolean,
  ) {
    this.#dialect = dialect
    this.#rows = rows
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
        return this.#count(aggregate)
      case 'distinct':
        return this.aggregates.of(`count(DISTINCT ${this.#comparable(aggregate.of)})`)
      case 'min':
      case 'max':
        return this.#extreme(aggregate.kind, aggregate.of)
      case 'sum':
        return this.#sum(aggregate.of)
      case 'avg':
        return this.#average(aggregate.of)
      case 'percentile':
        return this.#percentile(aggregate.of, aggregate.percent)
      case 'ratio':
        return this.#ratio(aggregate.of)
      case 'growth':
        return this.#growth(aggregate.of)
    }
  }

  #count({ of, place }: Aggregate & { readonly kind: 'count' }): string {
    if (of !== null) return this.#aggregate('count', this.#present(of))
    if (place === undefined) return this.aggregates.of('count(*)')
    return this.#aggregate('count', `CASE WHEN ${this.#isIn(place)} THEN 1 END`)
  }

  /** SQL of the number of rows with one of these values of the history. */
  rowsAt(values: readonly bigint[]): string {
    const isLookedAt = values.map((at) => this.#isAt(at)).join(' OR ')
    return this.#aggregate('count', `CASE WHEN ${isLookedAt} THEN 1 END`)
  }

  /** SQL that is true for a row with this value of the history. */
  #isAt(at: bigint): string {
    const { history, sqlOf } = this.#rows
    if (!history) throw new TypeError('there is no history to look at')
    const kind = history.rules.shown === 'integer' ? 'value' : 'year'
    const { key } = groupKey(this.#dialect, { column: history, by: { kind } }, sqlOf(history))
    return `${key} = ${at}`
  }

  #isIn(place: number): string {
    return `${this.#rows.place} = '${place}'`
  }

  /** SQL of a column in a row; NULL in the rows that it does not look at. */
  #sqlOf({ column, at, place }: ColumnAt): string {
    const sql = this.#rows.sqlOf(column)
    const conditions = [
      ...(at === null ? [] : [this.#isAt(at)]),
      ...(place === undefined ? [] : [this.#isIn(place)]),
    ]
    return conditions.length === 0 ? sql : `CASE WHEN ${conditions.join(' AND ')} THEN ${sql} END`
  }

  #present(of: ColumnAt): string {
    return presentValue(this.#dialect, of.column, this.#sqlOf(of))
  }

  #comparable(of: ColumnAt): string {
    return this.values.of(comparableValue(this.#dialect, of.column, this.#sqlOf(of)))
  }

  #extreme(kind: 'min' | 'max', of: ColumnAt): string {
    return this.aggregates.of(this.#dialect.extreme(kind, of.column, this.#comparable(of)))
  }

  #aggregate(name: string, value: string): string {
    return this.aggregates.of(`${name}(${this.values.of(value)})`)
  }

  #sum(of: ColumnAt): string {
    if (isFloat(of.column.type)) {
      return rounded(this.#dialect, this.#doubleSum(this.#double(of)))
    }
    return this.#exactSum(of.column, this.#sqlOf(of))
  }

  #exactSum(column: Column, sql: string): string {
    return this.#aggregate('sum', this.#dialect.summand(column, sql))
  }

  /** SQL of a row's number as a DOUBLE; NULL without one. */
  #double(of: ColumnAt | Quotient): string {
    if (!('dividend' in of)) return doubleValue(this.#dialect, of.column, this.#sqlOf(of))
    const [dividend, divisor] = [of.dividend, of.divisor].map((side) =>
      timesFactor(side, this.#sideDouble(side)),
    )
    return `CASE WHEN ${divisor} <> 0 THEN ${dividend} / ${divisor} END`
  }

  /** The same of a side without its factor: an empty column is 0 beside one that is not. */
  #sideDouble({ terms: [first, ...others] }: Side): string {
    if (!first) throw new TypeError('a side has a column')
    if (others.length === 0) return this.#double(first)
    const doubles = [first, ...others].map((term) => this.#double(term))
    const sum = doubles.map((double, index) => {
      const sign = index === 0 ? '' : others[index - 1]?.isSubtracted ? ' - ' : ' + '
      return `${sign}coalesce(${double}, 0e0)`
    })
    const isThere = doubles.map((double) => `${double} IS NOT NULL`).join(' OR ')
    return `CASE WHEN ${isThere} THEN ${sum.join('')} END`
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

  #average(of: ColumnAt | Quotient): string {
    if (!('dividend' in of) && !isFloat(of.column.type)) {
      const sql = this.#sqlOf(of)
      const scale = scaleOf(of)
      const count = this.#dialect.wide(this.#aggregate('count', sql))
      const steps = stepsOf(this.#dialect, this.#exactSum(of.column, sql), scale)
      return exactQuotient(this.#dialect, steps, count, -scale)
    }
    const value = this.#double(of)
    const mean = `${this.#doubleSum(value)} / ${this.#aggregate('count', value)}`
    return rounded(this.#dialect, mean)
  }

  #percentile(of: ColumnAt | Quotient, percent: number): string {
    const value = this.#double(of)
    const percents = this.#percents.get(value) ?? []
    const { kept, read } = this.#dialect.percentile(this.values.of(value), percent, percents)
    return rounded(this.#dialect, read(this.aggregates.of(kept)))
  }

  #ratio({ dividend, divisor }: Quotient): string {
    const isBeside = atOf(dividend) === atOf(divisor)
    const above = this.#sideSum(dividend, isBeside ? divisor : null)
    const below = this.#sideSum(divisor, isBeside ? dividend : null)
    const double = () =>
      rounded(this.#dialect, `${asDouble(above)} / nullif(${asDouble(below)}, 0)`)
    if (above.kind === 'double' || below.kind === 'double') return double()
    const { steps, scale } = below
    const exact = exactQuotient(this.#dialect, above.steps, steps, scale - above.scale)
    // A refusal for a product that is too large would tell how large the sum is.
    const fits = [above.fits, below.fits].filter((each) => each !== null)
    if (fits.length === 0) return exact
    return `CASE WHEN ${fits.join(' AND ')} THEN ${exact} ELSE ${double()} END`
  }

  /** The sum of a side, over the rows in which the other side, if it is given, has a value too. */
  #sideSum(side: Side, other: Side | null): SideSum {
    const isBeside = other?.terms.map((term) => `${this.#present(term)} IS NOT NULL`).join(' OR ')
    const within = (sql: string) =>
      isBeside === undefined ? sql : `CASE WHEN ${isBeside} THEN ${sql} END`
    if (side.terms.some(({ column }) => isFloat(column.type))) {
      const sum = this.#doubleSum(within(this.#sideDouble(side)))
      return { kind: 'double', sql: timesFactor(side, sum) }
    }
    const sums = side.terms.map((term) => ({
      sum: this.#exactSum(term.column, within(this.#sqlOf(term))),
      scale: scaleOf(term),
      isSubtracted: term.isSubtracted,
    }))
    return exactSide(this.#dialect, sums, side.factor)
  }

  /** SQL of the difference of the sums by the first one, which is positive. */
  #growth({ dividend: { terms: from }, divisor: { terms: to } }: Quotient): string {
    const [[first], [last]] = [from, to]
    if (!first || !last) throw new TypeError('growth compares two values')
    if (isFloat(first.column.type)) {
      const [before, after] = [this.#double(first), this.#double(last)]
      const base = this.#doubleSum(before)
      // A row has one of both values at most.
      const difference = this.#doubleSum(`coalesce(${after}, -${before})`)
      const isThere = `${base} > 0 AND ${this.#aggregate('count', after)} > 0`
      const growth = rounded(this.#dialect, `${difference} / nullif(${base}, 0)`)
      return `CASE WHEN ${isThere} THEN ${growth} END`
    }
    const [base, sum] = [first, last].map((of) =>
      stepsOf(this.#dialect, this.#exactSum(of.column, this.#sqlOf(of)), scaleOf(of)),
    )
    const difference = this.#dialect.wide(`${sum} - ${base}`)
    const growth = exactQuotient(this.#dialect, difference, String(base), 0)
    return `CASE WHEN ${base} > 0 THEN ${growth} END`
  }
}
