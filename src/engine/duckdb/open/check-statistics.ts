import { isFloat, typeText } from '../../../columns/data-type.js'
import { quoted } from '../../../text.js'
import { FileError } from '../../../versions/opener.js'
import type { FileColumn } from '../../../versions/opener.js'
import { bindPaths, boundFilesSql } from '../paths.js'
import type { RunStatement } from '../run-statement.js'
import { identifier, literal } from '../../sql/quote.js'
import type { FileGroup } from './file-group.js'
import { isDoubtful, lengthSql, slices } from './read-values.js'

/** Rows that are looked up together for their row group. */
const blockRows = 4096

function endSql(end: 'min' | 'max'): string {
  const text = `coalesce(stats_${end}_value, stats_${end})`
  return `CASE WHEN NOT contains(${text}, '\\x') THEN ${text} END AS ${end}`
}

/**
 * What the footers say, for one group of files. `f` is the file, `g` the row group. A text that is
 * cut in a letter has no readable end: it says nothing.
 */
const claims = `CREATE OR REPLACE TEMP TABLE claims AS
  SELECT list_position($1, file_name) - 1 AS f, row_group_id AS g, path_in_schema AS name,
    row_group_num_rows AS rows, stats_null_count AS nulls,
    ${endSql('min')}, ${endSql('max')}
  FROM parquet_metadata($1)`
/** The rows of each row group, in blocks. */
const places = `CREATE OR REPLACE TEMP TABLE places AS
  SELECT *, unnest(range(start // ${blockRows}, (stop - 1) // ${blockRows} + 1)) AS block
  FROM (SELECT f, g, rows,
      CAST(sum(rows) OVER (PARTITION BY f ORDER BY g) AS BIGINT) AS stop, stop - rows AS start
    FROM (SELECT f, g, any_value(rows)::BIGINT AS rows FROM claims GROUP BY f, g))`

/**
 * Compares what the footers say of each row group with its values: DuckDB leaves rows out, and
 * plans its memory, by what they say. Reads every value, as `readValues` does with other columns.
 * @throws FileError for the first column whose statistics exclude a value that it has
 */
export async function checkStatistics(
  run: RunStatement,
  { files, columns }: FileGroup,
): Promise<void> {
  const paths = files.filter(({ rows }) => rows > 0).map(({ path }) => path)
  const compared = columns.filter(isCompared)
  if (paths.length === 0 || compared.length === 0) return
  // Such a file is refused for the name.
  if (columns.some(({ name }) => /^file_(index|row_number)$/i.test(name))) return
  const values = [bindPaths(paths)]
  await run({ sql: claims, values })
  await run({ sql: places })
  for (const slice of slices(compared)) {
    const [[file] = [], [group] = [], [place] = []] = await run({ sql: compareSql(slice), values })
    const column = slice[Number(place)]
    if (file === undefined || !column) continue
    const reason =
      `has statistics that disagree with the values of column ${quoted(column.name)}, row group ` +
      `${Number(group)} (from 0): the file is damaged or badly written; copy or write it again`
    throw new FileError(paths[Number(file)] ?? '', reason)
  }
}

/** Not columns of columns, nor those with bounds in the old order, which are not used. */
export function isCompared({ type, marks = [] }: FileColumn): boolean {
  const isPlain = type.kind === 'scalar' || type.kind === 'decimal'
  return isPlain && typeText(type) !== 'VARIANT' && !marks.includes('old statistics')
}

function compareSql(columns: readonly FileColumn[]): string {
  const found = columns.map(({ name, type }, at) => {
    const value = `r.${identifier(name)}`
    const number = isFloat(type) ? `CASE WHEN NOT isnan(${value}) THEN ${value} END` : value
    const length = isDoubtful({ type }) ? lengthSql(value, type) : '0'
    return `min(${number}) AS a${at}, max(${number}) AS z${at}, count(${value}) AS n${at},
      ${length} AS l${at}`
  })
  const said = columns.map(({ name, type }, at) => {
    const own = (sql: string) => `any_value(CASE WHEN name = ${literal(name)} THEN ${sql} END)`
    const end = (sql: string) => `TRY_CAST(${own(sql)} AS ${typeText(type)})`
    return `${end('min')} AS lo${at}, ${end('max')} AS hi${at}, ${own('nulls')} AS e${at}`
  })
  const names = columns.map(({ name }) => literal(name))
  const wrong = columns.map(
    (_, at) => `WHEN a${at} < lo${at} OR z${at} > hi${at} OR e${at} <> rows - n${at}
      OR l${at} < 0 THEN ${at}`,
  )
  return `SELECT f, g, place FROM (SELECT f, g, CASE ${wrong.join(' ')} END AS place
    FROM (SELECT p.f, p.g, count(*) AS rows, ${found.join(', ')} FROM ${boundFilesSql('$1')} AS r
      JOIN places AS p ON p.f = r.file_index AND p.block = r.file_row_number // ${blockRows}
        AND r.file_row_number >= p.start AND r.file_row_number < p.stop GROUP BY p.f, p.g)
    LEFT JOIN (SELECT f, g, ${said.join(', ')} FROM claims WHERE name IN (${names.join(', ')})
      GROUP BY f, g) USING (f, g))
  WHERE place IS NOT NULL ORDER BY f, g LIMIT 1`
}
