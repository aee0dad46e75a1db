import { isFloat } from '../../../columns/data-type.js'
import { isCompared } from './check-statistics.js'
import { readTexts } from './mark-columns.js'
import type { FileGroup } from './file-group.js'
import type { RunStatement } from '../run-statement.js'

/** Columns of which every row group says that no cell is empty. */
const filledTexts = `
  SELECT file_name, CAST(to_json(list(path_in_schema)) AS VARCHAR) FROM (
    SELECT file_name, path_in_schema FROM parquet_metadata($1) GROUP BY ALL
    HAVING bool_and(coalesce(stats_null_count = 0, false)))
  GROUP BY file_name`

/**
 * Of the columns of these names, those with a value in every row of a file, by path. The footers
 * say it, which `checkStatistics` compared with the values. A number of floating point may be NaN.
 */
export async function filledColumns(
  run: RunStatement,
  { files, columns }: FileGroup,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const known = columns.filter((column) => {
    return names.includes(column.name) && isCompared(column) && !isFloat(column.type)
  })
  if (known.length === 0) return new Map()
  const paths = files.map(({ path }) => path)
  const texts = await readTexts(run, filledTexts, paths)
  return new Map(
    [...texts].map(([path, text]) => {
      // What the statement above writes.
      const filled = JSON.parse(text) as readonly string[]
      return [path, known.map(({ name }) => name).filter((name) => filled.includes(name))]
    }),
  )
}
