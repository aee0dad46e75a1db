import type { Version } from '../../../versions/version.js'
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
  /** Of all files. */
  readonly rowGroups: number
  /** Columns by their names in the files. */
  readonly columns: ReadonlyMap<string, FooterColumn>
}

/** Files per statement that reads footers: the footer of a wide file has thousands of entries. */
const batchFilesMax = 200

/** Reads only footers, not values. */
export async function readFooters(version: Version, run: RunStatement): Promise<Footers> {
  let rowGroups = 0
  const columns = new Map<string, FooterColumn>()
  for (let from = 0; from < version.files.length; from += batchFilesMax) {
    const paths = version.files.slice(from, from + batchFilesMax).map(({ path }) => path)
    rowGroups += await rowGroupsOf(paths, run)
    await addColumns(columns, version, paths, run)
  }
  return { rowGroups, columns }
}

async function rowGroupsOf(paths: readonly string[], run: RunStatement): Promise<number> {
  const [[groups] = []] = await run({
    sql: 'SELECT count(*) FROM parquet_metadata($1) WHERE column_id = 0',
    values: [bindPaths(paths)],
  })
  return Number(groups)
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
