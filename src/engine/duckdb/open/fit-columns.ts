import { hasBounds } from '../../../columns/column.js'
import { typeText, withTypes } from '../../../columns/data-type.js'
import type { DataType } from '../../../columns/data-type.js'
import type { ColumnFit, FileColumn, FitQuestion } from '../../../versions/opener.js'
import { servedText } from '../../sql/encode.js'
import { duckdb } from '../dialect.js'
import { bindPaths, boundFilesSql } from '../paths.js'
import { textOrNull } from '../run-statement.js'
import type { RunStatement } from '../run-statement.js'
import { castSql, columnSql } from '../sql.js'
import type { FileGroup } from './file-group.js'

/** Answers by path, then by column; reads every value of the columns. */
export async function fitColumns(
  run: RunStatement,
  { files, columns }: FileGroup,
  questions: readonly FitQuestion[],
  boundsOf: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, ColumnFit>>> {
  const answers = new Map<string, Map<string, ColumnFit>>()
  const paths = files.map(({ path }) => path)
  for (const { column: name, target } of questions) {
    const column = columns.find((each) => each.name === name)
    if (!column) continue
    const found = await fitColumn(run, paths, column, target, boundsOf.includes(name))
    for (const [index, path] of paths.entries()) {
      const own = answers.get(path) ?? new Map<string, ColumnFit>()
      own.set(name, found.get(index) ?? { ...unfilled, target: target && typeText(target) })
      answers.set(path, own)
    }
  }
  return answers
}

const unfilled: ColumnFit = { hasValues: false, target: null, misfit: null, bounds: null }

/**
 * A value fits if it is the same after a cast to the type and back. NaN and infinite numbers are
 * served as null, and fit.
 */
async function fitColumn(
  run: RunStatement,
  paths: readonly string[],
  { name, type, marks }: FileColumn,
  target: DataType | null,
  wantsBounds: boolean,
): Promise<ReadonlyMap<number, ColumnFit>> {
  const stored = withTypes(type)
  const value = columnSql(name, marks)
  const text = servedText(duckdb, stored, value)
  const wanted = target ?? stored
  const cast = castSql(value, stored, wanted)
  const back = `TRY_CAST(TRY_CAST(${value} AS ${typeText(wanted)}) AS ${typeText(stored)})`
  const isMisfit = target ? `(${text}) IS NOT NULL AND ${back} IS DISTINCT FROM ${value}` : 'false'
  const hasEnds = wantsBounds && hasBounds({ type: wanted })
  const end = (sql: string) => (hasEnds ? servedText(duckdb, wanted, sql) : 'NULL')
  const [indexes = [], counts = [], rows = [], values = [], least = [], most = []] = await run({
    sql: `SELECT f, count(text), min(CASE WHEN bad THEN r END),
        arg_min(text, CASE WHEN bad THEN r END),
        ${end('min(CASE WHEN NOT bad THEN v END)')}, ${end('max(CASE WHEN NOT bad THEN v END)')}
      FROM (SELECT file_index AS f, file_row_number AS r, ${text} AS text, ${isMisfit} AS bad,
          CASE WHEN NOT (${isMisfit}) THEN ${cast} END AS v
        FROM ${boundFilesSql('$1')})
      GROUP BY f`,
    values: [bindPaths(paths)],
  })
  return new Map(
    indexes.map((index, at) => {
      const [min, max] = [textOrNull(least[at]), textOrNull(most[at])]
      const row = rows[at] ?? null
      const fit: ColumnFit = {
        hasValues: Number(counts[at]) > 0,
        target: target && typeText(target),
        misfit: row === null ? null : { row: Number(row), value: String(values[at]) },
        bounds: min === null || max === null ? null : { min, max },
      }
      return [Number(index), fit]
    }),
  )
}
