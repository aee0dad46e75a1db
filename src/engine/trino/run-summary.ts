import type { Summary } from '../../query/summary.js'
import type { Summarized } from '../engine.js'
import { encodeCsvRow } from '../sql/encode-csv.js'
import { encodeRow, textOf } from '../sql/encode.js'
import {
  groupedSql,
  havingSql,
  orderTerms,
  summarizeExactly,
  summaryCells,
} from '../sql/summary.js'
import { rowsOf } from './compile.js'
import { trino } from './dialect.js'
import { statement } from './statement.js'
import type { RunTrino, Statement } from './statement.js'
import { TrinoError } from './trino-client.js'

/** A number that no type holds. */
const beyondTypes: readonly string[] = ['NUMERIC_VALUE_OUT_OF_RANGE', 'INVALID_CAST_ARGUMENT']

/** The groups of a summary. @throws bad_request for a number that no type holds */
export function runSummary(summary: Summary, run: RunTrino): Promise<Summarized> {
  return summarizeExactly(
    (isAnySize) => runOnce(summary, run, isAnySize),
    (cause) => cause instanceof TrinoError && beyondTypes.includes(cause.code),
  )
}

/** Null if numbers are out of the range of the faster sums. */
async function runOnce(
  summary: Summary,
  run: RunTrino,
  isAnySize: boolean,
): Promise<Summarized | null> {
  const found = await run(compileSummary(summary, isAnySize))
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
function compileSummary(summary: Summary, isAnySize: boolean): Statement {
  const grouped = groupedSql(trino, summary, isAnySize)
  const names = grouped.measures.map((_, index) => `m${index}`)
  const measured = grouped.measures.map((measure, index) => `${measure} AS m${index}`)
  const judged = [`${grouped.outOfRange} AS out_of_range`, `${grouped.exists} AS is_seen`]
  const columns = [...grouped.keys, 'n', ...measured, ...judged]
  const order = ['fits DESC', ...orderTerms(summary, grouped.keys, names)].join(', ')
  return statement((parameters) => {
    const rows = rowsOf(summary.version, summary.predicates, grouped.columns, parameters)
    const having = havingSql(summary, { exists: 'is_seen', measures: names }, parameters)
    // Columns of their own, because a line may have its texts several times.
    const labels: string[] = []
    const cells = summaryCells(summary, { ...grouped, measures: names }, (labelNames, served) => {
      const json = parameters.text(JSON.stringify(Object.fromEntries(labelNames)))
      const map = `CAST(json_parse(${json}) AS MAP(VARCHAR, VARCHAR))`
      return `l${labels.push(`element_at(${map}, ${textOf(served)})`) - 1}`
    })
    const line = summary.format === 'csv' ? encodeCsvRow(trino, cells) : encodeRow(trino, cells)
    const labelled = ['*', ...labels.map((label, index) => `${label} AS l${index}`)]
    return `WITH groups AS (${grouped.select(rows, parameters)}),
    measured AS (SELECT ${columns.join(', ')} FROM groups),
    judged AS (SELECT *, coalesce(${having}, false) AS fits FROM measured),
    placed AS (SELECT *, sum(n) OVER () AS rows_met, count_if(fits) OVER () AS group_count,
      bool_or(out_of_range) OVER () AS any_out,
      row_number() OVER (ORDER BY ${order}) AS place FROM judged),
    labelled AS (SELECT ${labelled.join(', ')} FROM placed
      WHERE place = 1 OR fits AND place <= ${summary.limit})
    SELECT CAST(rows_met AS VARCHAR), CAST(group_count AS VARCHAR), CAST(any_out AS VARCHAR),
      CASE WHEN fits THEN ${line} END
    FROM labelled ORDER BY place`
  })
}
