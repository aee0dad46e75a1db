import { plainColumn } from '../../../columns/column.js'
import type { Column } from '../../../columns/column.js'
import { ServiceError } from '../../../errors.js'
import { labelName, resultColumn } from '../../../query/summary/result-column.js'
import type { GroupBy, Summary } from '../../../query/summary.js'
import type { Summarized } from '../../engine.js'
import { rowsOf } from '../compile.js'
import { condition } from '../condition.js'
import { encodeCsvRow, encodeRow } from '../encode.js'
import type { RunTrino } from '../run-trino.js'
import { boundText, joined, sql } from '../sql.js'
import type { Sql } from '../sql.js'
import { TrinoError } from '../trino-client.js'
import { MeasureSql } from './measures.js'
import { groupKey } from './values.js'

/** A number that no type holds. */
const beyondTypes: readonly string[] = ['NUMERIC_VALUE_OUT_OF_RANGE', 'INVALID_CAST_ARGUMENT']

/**
 * The groups of a summary.
 * @throws bad_request for a number that no type holds
 */
export async function runSummary(summary: Summary, run: RunTrino): Promise<Summarized> {
  try {
    return (await runOnce(summary, run, false)) ?? (await runSorted(summary, run))
  } catch (cause) {
    if (!(cause instanceof TrinoError) || !beyondTypes.includes(cause.code)) throw cause
    const detail =
      'A sum or quotient is too large to be exact: it has more than 38 digits, or exceeds a ' +
      'DOUBLE. Add filters.'
    throw new ServiceError('bad_request', detail, { cause })
  }
}

async function runSorted(summary: Summary, run: RunTrino): Promise<Summarized> {
  const summarized = await runOnce(summary, run, true)
  if (!summarized) throw new TypeError('sorted sums are exact')
  return summarized
}

/** Null if numbers are out of the range of sums that need no sort. */
async function runOnce(
  summary: Summary,
  run: RunTrino,
  sorts: boolean,
): Promise<Summarized | null> {
  const found = await run(compileSummary(summary, sorts))
  const [[rowsMet = '0', groups = '0', isOutOfRange] = []] = found
  if (isOutOfRange === 'true') return null
  const rows = found.flatMap(([, , , line]) => (line == null ? [] : [Buffer.from(line)]))
  return { rows, groups: Number(groups), rowsMet: Number(rowsMet) }
}

/**
 * One statement: a row for each of the first groups, with the totals: the rows that met the
 * predicates, the groups that met `having`, and whether sums are not exact. The first row also
 * comes if its group does not meet `having`; then it has no text.
 */
function compileSummary(summary: Summary, sorts: boolean): Sql {
  const sources = new Map<Column, string>()
  const sqlOf = (column: Column) => {
    const name = sources.get(column) ?? `c${sources.size}`
    sources.set(column, name)
    return name
  }
  const keys = summary.groups.map((group) => groupKey(group, sqlOf(group.column)))
  const measureSql = new MeasureSql(sqlOf, sorts)
  const measures = summary.measures.map(({ aggregate }) => measureSql.measure(aggregate))
  const rows = rowsOf(summary.version, summary.predicates, [...sources.keys()])
  const keyNames = keys.map((_, index) => `k${index}`)
  const values = [...keys.map(({ key }, index) => `${key} AS k${index}`), ...measureSql.values.list]
  const aggregates = [...keyNames, ...measureSql.aggregates.list, 'count(*) AS n']
  const by = keyNames.length === 0 ? '' : ` GROUP BY ${keyNames.join(', ')}`
  const measured = [...keyNames, 'n', ...measures.map((each, index) => `${each} AS m${index}`)]
  const isOut = [...measureSql.outOfRange].join(' OR ') || 'false'
  const order = orderSql(summary, keyNames)
  const served = keys.map(({ served }, index) => served(`k${index}`))
  return sql`WITH source AS (${rows}),
    valued AS (SELECT ${values.join(', ') || '1 AS v'} FROM source),
    groups AS (SELECT ${aggregates.join(', ')} FROM valued${by}),
    measured AS (SELECT ${[...measured, `${isOut} AS out_of_range`].join(', ')} FROM groups),
    judged AS (SELECT *, coalesce(${havingSql(summary)}, false) AS fits FROM measured),
    placed AS (SELECT *, sum(n) OVER () AS rows_met, count_if(fits) OVER () AS group_count,
      bool_or(out_of_range) OVER () AS any_out,
      row_number() OVER (ORDER BY fits DESC${order}) AS place FROM judged)
    SELECT CAST(rows_met AS VARCHAR), CAST(group_count AS VARCHAR), CAST(any_out AS VARCHAR),
      CASE WHEN fits THEN ${lineSql(summary, served)} END
    FROM placed WHERE place = 1 OR fits AND place <= ${String(summary.limit)} ORDER BY place`
}

function havingSql({ having }: Summary): Sql {
  if (having.length === 0) return sql`true`
  const all = having.map(({ measure, predicate }) => condition(predicate, () => `m${measure}`))
  return joined(all, ' AND ')
}

/** Ties follow the groups, ascending; empty values come last. */
function orderSql({ order }: Summary, keys: readonly string[]): string {
  const asked = order.map(({ by, isDescending }) => {
    const name = 'group' in by ? keys[by.group] : `m${by.measure}`
    return `, ${name} ${isDescending ? 'DESC' : 'ASC'} NULLS LAST`
  })
  return [...asked, ...keys.map((key) => `, ${key} ASC NULLS LAST`)].join('')
}

/** The text of a group. Labels are looked up in a bound map, which has a name of its own. */
function lineSql(summary: Summary, served: readonly string[]): Sql {
  const labels: Sql[] = []
  const cells = [
    ...summary.groups.flatMap((group, index) => {
      const value = served[index] ?? ''
      const cell = { column: resultColumn(group), sql: value }
      if (!group.labels) return [cell]
      const at = `element_at(l[${labels.length + 1}], CAST(${value} AS VARCHAR))`
      labels.push(labelMap(group.labels.names))
      const column = plainColumn(labelName(group), { kind: 'scalar', name: 'VARCHAR' })
      return [cell, { column, sql: at }]
    }),
    ...summary.measures.map((measure, index) => {
      return { column: resultColumn(measure), sql: `m${index}` }
    }),
  ]
  const line = summary.format === 'csv' ? encodeCsvRow(cells) : encodeRow(cells)
  if (labels.length === 0) return sql`${line}`
  return sql`transform(ARRAY[ARRAY[${joined(labels, ', ')}]], l -> ${line})[1]`
}

function labelMap(names: NonNullable<GroupBy['labels']>['names']): Sql {
  const json = JSON.stringify(Object.fromEntries(names))
  return sql`CAST(json_parse(${boundText(json)}) AS MAP(VARCHAR, VARCHAR))`
}
