import { typeText } from '../../../columns/data-type.js'
import type { FileColumn, TextBounds } from '../../../versions/opener.js'
import { bindText } from '../bind.js'
import { servedText } from '../../sql/encode.js'
import { isCompared } from './check-statistics.js'
import { duckdb } from '../dialect.js'
import { bindPaths, boundFilesSql } from '../paths.js'
import type { RunStatement } from '../run-statement.js'
import { columnSql } from '../sql.js'

/** What the footers say of each row group and column. */
const ends = `CREATE OR REPLACE TEMP TABLE ends AS
  SELECT file_name, row_group_id, path_in_schema, num_values, stats_null_count, stats_min_value,
    stats_max_value, min_is_exact, max_is_exact
  FROM parquet_metadata($1)`

/**
 * Reads the smallest and largest values of columns in each of some files that hold them in the same
 * types, in the form of a filter's values: by column, then by path. A file without a value has
 * none. They come from the footers if the statistics there are complete, otherwise from the column.
 */
export async function readBounds(
  run: RunStatement,
  paths: readonly string[],
  columns: readonly FileColumn[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, TextBounds>>> {
  const all = new Map<string, ReadonlyMap<string, TextBounds>>(
    columns.map(({ name }) => [name, new Map()]),
  )
  if (paths.length === 0 || columns.length === 0) return all
  await run({ sql: ends, values: [bindPaths(paths)] })
  for (const column of columns) {
    const known = await footerBounds(run, column)
    const unknown = paths.filter((path) => !known.has(path))
    const scanned = unknown.length === 0 ? [] : await scanBounds(run, unknown, column)
    const bounds = new Map(scanned)
    for (const [path, each] of known) if (each) bounds.set(path, each)
    all.set(column.name, bounds)
  }
  return all
}

/**
 * Skips files in which a row group has no statistics, a writer shortened a text, or a bound is
 * infinite, which hides the finite values behind it. Null if every value is empty.
 */
async function footerBounds(
  run: RunStatement,
  column: FileColumn,
): Promise<ReadonlyMap<string, TextBounds | null>> {
  const { name, type } = column
  const read = (end: string) => `TRY_CAST(stats_${end}_value AS ${typeText(type)})`
  const [least, most] = [servedText(duckdb, type, 'least'), servedText(duckdb, type, 'most')]
  const [files = [], min = [], max = [], full = []] = await run({
    sql: `SELECT file_name, ${least}, ${most}, is_full
     FROM (SELECT file_name,
         bool_and(coalesce(stats_null_count = 0, false)) AS is_full,
         min(${read('min')}) AS least,
         max(${read('max')}) AS most,
         count(*) = count(DISTINCT row_group_id) AND bool_and(
           coalesce(stats_null_count = num_values, false)
           OR (${read('min')} IS NOT NULL AND ${read('max')} IS NOT NULL
             AND coalesce(min_is_exact, true) AND coalesce(max_is_exact, true))) AS is_whole
       FROM ends WHERE path_in_schema = $1 GROUP BY file_name)
     WHERE is_whole
       AND (least IS NULL) = (${least} IS NULL) AND (most IS NULL) = (${most} IS NULL)`,
    values: [bindText(name)],
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
