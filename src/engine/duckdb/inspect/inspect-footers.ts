import type { Column } from '../../../columns/column.js'
import { typeText } from '../../../columns/data-type.js'
import type { FileFooter } from '../../../versions/inspector.js'
import type { Version } from '../../../versions/version.js'
import { bindText } from '../bind.js'
import { hasBounds } from '../open/read-bounds.js'
import { bindPaths } from '../paths.js'
import type { RunStatement } from '../run-statement.js'
import { isRoundedText } from './rounded.js'

/** What the footers of all files say about one column. */
export interface FooterColumn {
  /** True if no row has a value; null if a footer does not say. */
  readonly isEmpty: boolean | null
  /** A value that a double can't represent; null if no footer shows one. */
  readonly roundedExample: string | null
}

interface Footers {
  /** In the order of the version's files. */
  readonly files: readonly FileFooter[]
  /** Columns by their names in the files. */
  readonly columns: ReadonlyMap<string, FooterColumn>
}

/** Files per statement that reads footers: the footer of a wide file has thousands of entries. */
const batchFilesMax = 200

/** Reads only footers, not values. */
export async function readFooters(version: Version, run: RunStatement): Promise<Footers> {
  const files: FileFooter[] = []
  const columns = new Map<string, FooterColumn>()
  for (let from = 0; from < version.files.length; from += batchFilesMax) {
    const paths = version.files.slice(from, from + batchFilesMax).map(({ path }) => path)
    files.push(...(await readLayouts(version.key[0], paths, run)))
    await addColumns(columns, version, paths, run)
  }
  return { files, columns }
}

/** Reads the row groups of each file, and their order in the first key column. */
async function readLayouts(
  key: Column | undefined,
  paths: readonly string[],
  run: RunStatement,
): Promise<readonly FileFooter[]> {
  const [files = [], groups = [], unsorted = [], silent = []] = await run({
    sql: `SELECT file_name, count(DISTINCT row_group_id),
        count(CASE WHEN least < before THEN 1 END), count(CASE WHEN is_silent THEN 1 END)
      FROM (SELECT file_name, row_group_id, least, is_silent,
          lag(most IGNORE NULLS)
            OVER (PARTITION BY file_name, is_key ORDER BY row_group_id) AS before
        FROM (SELECT file_name, row_group_id, path_in_schema = $2 AS is_key,
            ${ends(key)}
          FROM parquet_metadata($1) WHERE column_id = 0 OR path_in_schema = $2))
      GROUP BY file_name`,
    values: [bindPaths(paths), bindText(key && hasBounds(key) ? key.source : '')],
  })
  const found = new Map(
    files.map((file, index) => [
      String(file),
      {
        rowGroups: Number(groups[index]),
        unsortedRowGroups: Number(unsorted[index]),
        silentRowGroups: Number(silent[index]),
      },
    ]),
  )
  const none: FileFooter = { rowGroups: 0, unsortedRowGroups: 0, silentRowGroups: 0 }
  return paths.map((path) => found.get(path) ?? none)
}

/**
 * The smallest and largest value of the first key column in a row group; NULL for other columns.
 */
function ends(key: Column | undefined): string {
  if (!key || !hasBounds(key)) {
    return 'NULL::INTEGER AS least, NULL::INTEGER AS most, false AS is_silent'
  }
  const end = (name: string) =>
    `CASE WHEN path_in_schema = $2 THEN TRY_CAST(${name} AS ${typeText(key.type)}) END`
  return `${end('stats_min_value')} AS least, ${end('stats_max_value')} AS most,
    path_in_schema = $2 AND stats_min_value IS NULL
      AND coalesce(stats_null_count < num_values, true) AS is_silent`
}

async function addColumns(
  known: Map<string, FooterColumn>,
  version: Version,
  paths: readonly string[],
  run: RunStatement,
): Promise<void> {
  const [names = [], empty = [], isCounted = [], least = [], most = []] = await run({
    sql: `SELECT path_in_schema, bool_and(coalesce(stats_null_count = num_values, false)),
        bool_and(stats_null_count IS NOT NULL),
        arg_max(stats_min_value, abs(TRY_CAST(stats_min_value AS DOUBLE))),
        arg_max(stats_max_value, abs(TRY_CAST(stats_max_value AS DOUBLE)))
      FROM parquet_metadata($1) GROUP BY path_in_schema`,
    values: [bindPaths(paths)],
  })
  const places = new Map(names.map((name, index) => [String(name), index]))
  for (const { source, type } of version.columns) {
    const index = places.get(source)
    // A nested column has no entry with its own name.
    if (index === undefined) continue
    const before = known.get(source) ?? { isEmpty: true, roundedExample: null }
    const isEmpty = empty[index] === true ? true : isCounted[index] === true ? false : null
    const example = [most[index], least[index]]
      .map((value) => String(value))
      .find((text) => isRoundedText(type, text))
    known.set(source, {
      isEmpty: before.isEmpty === false || isEmpty === false ? false : before.isEmpty && isEmpty,
      roundedExample: before.roundedExample ?? example ?? null,
    })
  }
}
