import type { Column } from '../../columns/column.js'
import { columnsOf } from '../../columns/formula.js'
import { ServiceError } from '../../errors.js'
import { resultParts } from '../../query/summary/result-column.js'
import type { Aggregate, GroupBy, Summary } from '../../query/summary.js'
import type { Summarized } from '../engine.js'
import { condition } from './condition.js'
import type { Cell, Dialect, NamedColumn, Parameters } from './dialect.js'
import { MeasureSql } from './measures.js'
import { GroupKeys } from './group-keys.js'

/** The SQL of a summary's groups. */
export interface GroupedSql {
  /** The columns to read of the rows. */
  readonly columns: readonly NamedColumn[]
  /** The names of the groups' keys. */
  readonly keys: readonly string[]
  /** The keys as they are served, over the groups. */
  readonly served: readonly string[]
  /** The measures, over the groups. */
  readonly measures: readonly string[]
  /** True for a group whose sums are not exact; the summary must be compiled for any size. */
  readonly outOfRange: string
  /** True for a group of which a measure looks at a row; without groups, all rows are one. */
  readonly exists: string
  /** Selects the groups of the rows: their keys, aggregates and `n`, the number of their rows. */
  readonly select: (rows: string, parameters: Parameters) => string
}

/** Compiles the groups of a summary; `isAnySize` is for numbers of any size. */
export function groupedSql(dialect: Dialect, summary: Summary, isAnySize: boolean): GroupedSql {
  const sources = new Map<Column, string>()
  const sqlOf = (column: Column) => {
    const name = sources.get(column) ?? `c${sources.size}`
    sources.set(column, name)
    return name
  }
  const groupKeys = new GroupKeys(dialect, sqlOf)
  const groups = summary.groups.map((group) => groupKeys.of(group))
  const { pivot } = summary
  const place = pivot ? groupKeys.placeOf(pivot.group, pivot.values) : 'NULL'
  const aggregates = summary.measures.map(({ aggregate }) => aggregate)
  const { history } = summary.version
  const sql = new MeasureSql(dialect, aggregates, { sqlOf, history, place }, isAnySize)
  const measures = aggregates.map((aggregate) => sql.measure(aggregate))
  const lookedAt = groups.length === 0 ? null : valuesLookedAt(aggregates)
  const exists = lookedAt ? `${sql.rowsAt(lookedAt)} > 0` : 'true'
  const keys = groups.map((_, index) => `k${index}`)
  const values = [...groups.map(({ key }, index) => `${key} AS k${index}`), ...sql.values.list]
  const list = [...keys, ...sql.aggregates.list, 'count(*) AS n']
  const by = keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`
  return {
    columns: [...sources].map(([column, name]) => [name, column] as const),
    keys,
    served: groups.map(({ served }, index) => served(`k${index}`)),
    measures,
    outOfRange: [...sql.outOfRange].join(' OR ') || 'false',
    exists,
    select: (rows, parameters) => {
      const joins = groupKeys.joins(parameters)
      return `SELECT ${list.join(', ')}
      FROM (SELECT ${values.join(', ') || '1 AS v'} FROM (${rows})${joins})${by}`
    },
  }
}

/** The values of the history that measures look at; null if one of them looks at every row. */
function valuesLookedAt(aggregates: readonly Aggregate[]): readonly bigint[] | null {
  const values = aggregates.flatMap(({ of }) => (of ? columnsOf(of).map(({ at }) => at) : [null]))
  const known = values.filter((at) => at !== null)
  return known.length < values.length ? null : [...new Set(known)]
}

/** True for the groups that exist and meet `having`; the SQL is over the groups. */
export function havingSql(
  { having }: Summary,
  { exists, measures }: Pick<GroupedSql, 'exists' | 'measures'>,
  parameters: Parameters,
): string {
  const all = having.map(({ measure, predicate }) =>
    condition(predicate, () => measures[measure] ?? '', parameters),
  )
  return [exists, ...all].join(' AND ')
}

/** The terms of ORDER BY. Ties follow the groups, ascending; empty values come last. */
export function orderTerms(
  { order }: Summary,
  keys: readonly string[],
  measures: readonly string[],
): readonly string[] {
  const asked = order.map(({ by, isDescending }) => {
    const sql = 'group' in by ? keys[by.group] : measures[by.measure]
    return `${sql} ${isDescending ? 'DESC' : 'ASC'} NULLS LAST`
  })
  return [...asked, ...keys.map((key) => `${key} ASC NULLS LAST`)]
}

/**
 * The groups, from the first of two statements that is exact; `run` returns null where it is not.
 * @throws bad_request for a number that no type holds
 */
export async function summarizeExactly(
  run: (isAnySize: boolean) => Promise<Summarized | null>,
  isTooLarge: (cause: unknown) => boolean,
): Promise<Summarized> {
  try {
    const summarized = (await run(false)) ?? (await run(true))
    if (!summarized) throw new TypeError('sums of numbers of any size are exact')
    return summarized
  } catch (cause) {
    if (!isTooLarge(cause)) throw cause
    const detail =
      'A sum or quotient is too large to be exact: it has more than 38 digits, or exceeds a ' +
      'DOUBLE. Add filters.'
    throw new ServiceError('bad_request', detail, { cause })
  }
}

/** The columns of the answer with SQL over a group; `labelOf` is the label of a served key. */
export function summaryCells(
  summary: Summary,
  sql: Pick<GroupedSql, 'served' | 'measures'>,
  labelOf: (names: NonNullable<GroupBy['labels']>['names'], served: string) => string,
): readonly Cell[] {
  return resultParts(summary).map(({ column, of }): Cell => {
    if ('measure' in of) return { column, sql: sql.measures[of.measure] ?? '' }
    const served = sql.served[of.group] ?? ''
    const names = of.isLabel ? summary.groups[of.group]?.labels?.names : undefined
    return { column, sql: names ? labelOf(names, served) : served }
  })
}
