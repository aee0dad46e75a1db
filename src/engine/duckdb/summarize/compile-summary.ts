import type { Column } from '../../../columns/column.js'
import { typeText } from '../../../columns/data-type.js'
import type { Summary } from '../../../query/summary.js'
import type { Cell } from '../../sql/dialect.js'
import { encodeCsvRow } from '../../sql/encode-csv.js'
import { encodeRow } from '../../sql/encode.js'
import { groupedSql, havingSql, orderTerms, summaryCells } from '../../sql/summary.js'
import { bindBigint } from '../bind.js'
import type { Choice } from '../choice.js'
import { duckdb } from '../dialect.js'
import { parquetValue } from '../encode/parquet-types.js'
import type { PlainPaths } from '../plain-paths.js'
import { compileRows } from '../read/compile.js'
import { SqlParameters } from '../read/condition.js'
import { planCount } from '../read/pieces.js'
import type { Statement } from '../run-statement.js'

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
  readonly cells: readonly Cell[]
}

/** Compiles a summary over the rows of the chosen files; `isAnySize` is for numbers of any size. */
export function compileGroups(
  summary: Summary,
  choice: Choice,
  paths: PlainPaths,
  isAnySize: boolean,
): SummarySql {
  const parameters = new SqlParameters()
  const sql = groupedSql(duckdb, summary, isAnySize)
  const scans = planCount(choice).map((scan) => paths.scan(scan))
  const rows = compileRows(scans, summary.predicates, sql.columns, parameters)
  const measures = sql.measures.map((measure) => `(${measure})`)
  const order = orderTerms(summary, sql.keys, measures).join(', ')
  return {
    parameters,
    groups: sql.select(rows, parameters),
    having: havingSql(summary, { ...sql, measures }, parameters),
    order: order && ` ORDER BY ${order}`,
    outOfRange: sql.outOfRange,
    cells: summaryCells(summary, sql, (names, served) => {
      const list = (texts: Iterable<string>) =>
        `from_json(${parameters.text(JSON.stringify([...texts]))}, '["VARCHAR"]')`
      const place = `list_position(${list(names.keys())}, CAST(${served} AS VARCHAR))`
      return `list_extract(${list(names.values())}, ${place})`
    }),
  }
}

/**
 * One statement for a summary whose groups are texts. It returns one row: the totals, and the first
 * groups in order, their lengths in bytes and the bytes of all.
 */
export function compileSummary(sql: SummarySql, summary: Summary): Statement {
  const { cells } = sql
  const line = summary.format === 'csv' ? encodeCsvRow(duckdb, cells) : encodeRow(duckdb, cells)
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
