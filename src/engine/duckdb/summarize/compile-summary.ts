import { plainColumn } from '../../../columns/column.js'
import type { Column } from '../../../columns/column.js'
import { typeText } from '../../../columns/data-type.js'
import { labelName, resultColumn } from '../../../query/summary/result-column.js'
import type { GroupBy, Summary } from '../../../query/summary.js'
import { bindBigint, bindText } from '../bind.js'
import type { Choice } from '../choice.js'
import { encodeCsvRow } from '../encode/encode-csv.js'
import { encodeRow } from '../encode/encode.js'
import { parquetValue } from '../encode/parquet-types.js'
import type { PlainPaths } from '../plain-paths.js'
import { compileRows } from '../read/compile.js'
import { SqlParameters, condition } from '../read/condition.js'
import { planCount } from '../read/pieces.js'
import type { Statement } from '../run-statement.js'
import { MeasureSql } from './measures.js'
import { groupKey } from './values.js'

/** The parts of a summary's statement. */
export interface SummarySql {
  readonly parameters: SqlParameters
  /** Selects the groups: their keys, aggregates and `n`, the number of their rows. */
  readonly groups: string
  /** True for the groups that meet `having`. */
  readonly having: string
  /** ` ORDER BY …`; empty for a single group. */
  readonly order: string
  /** True for a group whose sums are not exact; the summary must be compiled for any size. */
  readonly outOfRange: string
  /** The columns of the answer with SQL over a group. */
  readonly cells: readonly { readonly column: Column; readonly sql: string }[]
}

/** Compiles a summary over the rows of the chosen files. `scales` is for numbers of any size. */
export function compileGroups(
  summary: Summary,
  choice: Choice,
  paths: PlainPaths,
  scales: boolean,
): SummarySql {
  const parameters = new SqlParameters()
  const sources = new Map<Column, string>()
  const sqlOf = (column: Column) => {
    const name = sources.get(column) ?? `c${sources.size}`
    sources.set(column, name)
    return name
  }
  const keys = summary.groups.map((group) => groupKey(group, sqlOf(group.column)))
  const aggregates = summary.measures.map(({ aggregate }) => aggregate)
  const sql = new MeasureSql(aggregates, sqlOf, scales)
  const measures = aggregates.map((aggregate) => sql.measure(aggregate))
  const columns = [...sources].map(([column, name]) => [name, column] as const)
  const scans = planCount(choice).map((scan) => paths.scan(scan))
  const rows = compileRows(scans, summary.predicates, columns, parameters)
  const keyNames = keys.map((_, index) => `k${index}`)
  const values = [...keys.map(({ key }, index) => `${key} AS k${index}`), ...sql.values.list]
  const list = [...keyNames, ...sql.aggregates.list, 'count(*) AS n']
  const by = keyNames.length === 0 ? '' : ` GROUP BY ${keyNames.join(', ')}`
  const having = summary.having.map(({ measure, predicate }) =>
    condition(predicate, () => `(${measures[measure]})`, parameters),
  )
  return {
    parameters,
    groups: `SELECT ${list.join(', ')}
      FROM (SELECT ${values.join(', ') || '1'} FROM (${rows}))${by}`,
    having: having.join(' AND ') || 'true',
    order: orderSql(summary, keyNames, measures),
    outOfRange: [...sql.outOfRange].join(' OR ') || 'false',
    cells: [
      ...summary.groups.flatMap((group, index) => {
        const sql = keys[index]?.served(`k${index}`) ?? ''
        return [{ column: resultColumn(group), sql }, ...labelCells(group, sql, parameters)]
      }),
      ...summary.measures.map((measure, index) => ({
        column: resultColumn(measure),
        sql: measures[index] ?? '',
      })),
    ],
  }
}

/** The label of a group, if it has labels: the name of its value, or NULL. */
function labelCells(group: GroupBy, sql: string, parameters: SqlParameters): SummarySql['cells'] {
  if (!group.labels) return []
  const { names } = group.labels
  const list = (texts: Iterable<string>) =>
    `from_json(${parameters.add(bindText(JSON.stringify([...texts])))}, '["VARCHAR"]')`
  const place = `list_position(${list(names.keys())}, CAST(${sql} AS VARCHAR))`
  const column = plainColumn(labelName(group), { kind: 'scalar', name: 'VARCHAR' })
  return [{ column, sql: `list_extract(${list(names.values())}, ${place})` }]
}

/**
 * One statement for a summary whose groups are texts. It returns one row: the totals, and the first
 * groups in order, their lengths in bytes and the bytes of all.
 */
export function compileSummary(sql: SummarySql, summary: Summary): Statement {
  const { cells } = sql
  const line = summary.format === 'csv' ? encodeCsvRow(cells) : encodeRow(cells)
  // Without GROUP BY, what keeps the lines is no group that could be spilled: see `keepsTexts`.
  const text = `${compileFirst(sql, summary, `${line} AS line`)}
    SELECT any_value(rows_met), any_value(group_count), any_value(out_of_range),
      string_agg(strlen(line), ' ' ORDER BY place), encode(string_agg(line, '' ORDER BY place))
    FROM totals LEFT JOIN first ON true`
  return Object.freeze({ sql: text, values: sql.parameters.values })
}

/**
 * Creates a table of a summary's first groups for a Parquet file: the totals, the place of each
 * group, and its cells as `c0`, `c1`, …; a single row without a place if there is no group.
 */
export function compileTable(sql: SummarySql, summary: Summary, table: string): Statement {
  const cells = sql.cells.map(
    ({ column, sql }, index) => `${parquetValue(column.type, typed(column, sql))} AS c${index}`,
  )
  const text = `CREATE TEMP TABLE ${table} AS ${compileFirst(sql, summary, cells.join(', '))}
    SELECT * FROM totals LEFT JOIN first ON true`
  return Object.freeze({ sql: text, values: sql.parameters.values })
}

/** Sums of integers are HUGEINT, and texts of types without an order VARCHAR. */
function typed({ type }: Column, sql: string): string {
  return type.kind === 'enum' || type.kind === 'other' ? sql : `CAST(${sql} AS ${typeText(type)})`
}

/**
 * The start of a statement. `totals` has one row: the rows that met the predicates, the groups that
 * met `having`, and whether sums are not exact. `first` has the groups that are returned, with
 * their place and `list`.
 */
function compileFirst(
  { parameters, groups, having, order, outOfRange }: SummarySql,
  { limit }: Summary,
  list: string,
): string {
  return `WITH groups AS MATERIALIZED (${groups}),
    totals AS (SELECT coalesce(sum(n), 0) AS rows_met, count(*) FILTER (${having}) AS group_count,
      coalesce(bool_or(${outOfRange}), false) AS out_of_range FROM groups),
    limited AS (SELECT * FROM groups WHERE ${having}${order}
      LIMIT ${parameters.add(bindBigint(limit))}),
    first AS (SELECT row_number() OVER (${order}) AS place, ${list} FROM limited)`
}

/** Ties follow the groups, ascending; empty values come last. */
function orderSql(
  { order }: Summary,
  keys: readonly string[],
  measures: readonly string[],
): string {
  const asked = order.map(({ by, isDescending }) => {
    const sql = 'group' in by ? keys[by.group] : `(${measures[by.measure]})`
    return `${sql} ${isDescending ? 'DESC' : 'ASC'} NULLS LAST`
  })
  const terms = [...asked, ...keys.map((key) => `${key} ASC NULLS LAST`)]
  return terms.length === 0 ? '' : ` ORDER BY ${terms.join(', ')}`
}
