import { typeText } from '../../../columns/data-type.js'
import type { FileColumn, TextBounds } from '../../../versions/opener.js'
import { bindText } from '../bind.js'
import { servedText } from '../../sql/encode.js'
import { isCompared } from './check-statistics.js'
import { duckdb } from '../dialect.js'
import { bindPaths, boundFilesSql } from '../paths.js'
import type { RunStatement } from '../run-statement.js'
import { columnSql } from '../sql.js'

/**
 * Reads the smallest and largest value of a column in each of some files that hold it in the same
 * type, in the form of a filter's values; a file without a value has none. They come from the
 * footers if the statistics there are complete, otherwise from the column itself.
 */
export async function readBounds(
  run: RunStatement,
  paths: readonly string[],
  column: FileColumn,
): Promise<ReadonlyMap<string, TextBounds>> {
  if (paths.length === 0) return new Map()
  const known = await footerBounds(run, paths, column)
  const unknown = paths.filter((path) => !known.has(path))
  const scanned = unknown.length === 0 ? [] : await scanBounds(run, unknown, column)
  const bounds = new Map(scanned)
  for (const [path, each] of known) if (each) bounds.set(path, each)
  return bounds
}

/**
 * Skips files in which a row group has no statistics, a writer shortened a text, or a bound is
 * infinite, which hides the finite values behind it. Null if every value is empty.
 */
async function footerBounds(
  run: RunStatement,
  paths: readonly string[],
  column: FileColumn,
): Promise<ReadonlyMap<string, TextBounds | null>> {
  const { name, type } = column
  const [least, most] = [servedText(duckdb, type, 'least'), servedText(duckdb, type, 'most')]
  const [files = [], min = [], max = [], full = []] = await run({
    sql: `SELECT file_name, ${least}, ${most}, is_full
     FROM (SELECT file_name,
         bool_and(coalesce(stats_null_count = 0, false)) AS is_full,
         min(CAST(stats_min_value AS ${typeText(type)})) AS least,
         max(CAST(stats_max_value AS ${typeText(type)})) AS most,
         count(*) = count(DISTINCT row_group_id) AND bool_and(
           coalesce(stats_null_count = num_values, false)
           OR (stats_min_value IS NOT NULL AND stats_max_value IS NOT NULL
             AND coalesce(min_is_exact, true) AND coalesce(max_is_exact, true))) AS is_whole
       FROM parquet_metadata($1) WHERE path_in_schema = $2 GROUP BY file_name)
     WHERE is_whole
       AND (least IS NULL) = (${least} IS NULL) AND (most IS NULL) = (${most} IS NULL)`,
    values: [bindPaths(paths), bindText(name)],
  })
  return new Map(
    files.map((file, index) => [
      String(file),
      min[index] === null
        ? null
        : textBounds(min[index], max[index], full[index] === true && isCompared(column)),
    ]),
  )
}

async function scanBounds(
  run: RunStatement,
  paths: readonly string[],
  { name, type, marks }: FileColumn,
): Promise<readonly (readonly [path: string, bounds: TextBounds])[]> {
  const column = columnSql(name, marks)
  const served = `${servedText(duckdb, type, column)} IS NOT NULL`
  const ends = ['min', 'max'].map((end) =>
    servedText(duckdb, type, `${end}(${column}) FILTER (WHERE ${served})`),
  )
  const [files = [], min = [], max = [], full = []] = await run({
    sql: `SELECT file_index, ${ends.join(', ')}, bool_and(${served})
     FROM ${boundFilesSql('$1')} GROUP BY file_index`,
    values: [bindPaths(paths)],
  })
  return files.flatMap((file, index) =>
    min[index] === null
      ? []
      : [[paths[Number(file)] ?? '', textBounds(min[index], max[index], full[index] === true)]],
  )
}

function textBounds(min: unknown, max: unknown, isFull: boolean): TextBounds {
  return { min: String(min), max: String(max), ...(isFull && { isFull }) }
}
