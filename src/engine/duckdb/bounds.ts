import { columnRules } from '../../catalog/column-types.js'
import { typeText } from '../../catalog/data-type.js'
import type { FileColumn, TextBounds } from '../../catalog/opener.js'
import { bindText, bindTexts } from './bind.js'
import type { Statement } from './compile.js'
import { servedText } from './encode.js'
import { identifier } from './sql.js'

/** Runs one statement and gives its result by columns. */
export type Ask = (sql: string, ...values: Statement['values']) => Promise<unknown[][]>

/** True for types whose bounds help to choose files: those compared exactly, and stored text. */
export function hasBounds({ type }: FileColumn): boolean {
  const { domain } = columnRules(type)
  return domain.kind === 'grid' || (domain.kind === 'text' && domain.form === 'text')
}

/**
 * Smallest and largest value of a file's column, as a filter would write them; null where every
 * value is empty. From the footer where its statistics are whole, else from the column itself.
 */
export async function readBounds(
  ask: Ask,
  path: string,
  column: FileColumn,
): Promise<TextBounds | null> {
  const known = await footerBounds(ask, path, column)
  return known === undefined ? await scanBounds(ask, path, column) : known
}

/**
 * Undefined where a row group has no statistics, where a writer shortened a text, and where an
 * end is infinite: then the finite values behind it are not known.
 */
async function footerBounds(
  ask: Ask,
  path: string,
  { name, type }: FileColumn,
): Promise<TextBounds | null | undefined> {
  const [least, most] = [servedText(type, 'least'), servedText(type, 'most')]
  const [min = [], max = [], isWhole = []] = await ask(
    `SELECT ${least}, ${most}, is_whole
         AND (least IS NULL) = (${least} IS NULL) AND (most IS NULL) = (${most} IS NULL)
     FROM (SELECT
         min(CAST(stats_min_value AS ${typeText(type)})) AS least,
         max(CAST(stats_max_value AS ${typeText(type)})) AS most,
         count(*) = count(DISTINCT row_group_id) AND bool_and(
           coalesce(stats_null_count = num_values, false)
           OR (stats_min_value IS NOT NULL AND stats_max_value IS NOT NULL
             AND coalesce(min_is_exact, true) AND coalesce(max_is_exact, true))) AS is_whole
       FROM parquet_metadata($1) WHERE path_in_schema = $2)`,
    bindTexts([path]),
    bindText(name),
  )
  return isWhole[0] === true ? textBounds(min[0], max[0]) : undefined
}

async function scanBounds(
  ask: Ask,
  path: string,
  { name, type }: FileColumn,
): Promise<TextBounds | null> {
  const column = identifier(name)
  const [min = [], max = []] = await ask(
    `SELECT ${servedText(type, `min(${column})`)}, ${servedText(type, `max(${column})`)}
     FROM read_parquet($1, hive_partitioning = false, union_by_name = false)
     WHERE ${servedText(type, column)} IS NOT NULL`,
    bindTexts([path]),
  )
  return textBounds(min[0] ?? null, max[0] ?? null)
}

function textBounds(min: unknown, max: unknown): TextBounds | null {
  return min === null ? null : { min: String(min), max: String(max) }
}
