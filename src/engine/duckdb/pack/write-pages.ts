import { rangeRows } from '../../../versions/forms/form.js'
import { PackError } from '../../../versions/forms/forms-order.js'
import type { FileToCopy } from '../../../versions/forms/forms-order.js'
import { dictionaryOption } from '../dictionary-option.js'
import { pathsSql, targetSql } from '../paths.js'
import type { RunStatement } from '../run-statement.js'
import { identifier } from '../../sql/quote.js'
import { checksumSql, layoutSql, readSql, shapes } from './pack-sql.js'
import type { FileColumn } from './pack-sql.js'

/** A file whose row groups have at most so many rows serves as pages itself. */
const groupRowsMax = 2 * rangeRows

/**
 * Writes the rows of a file in the same order in small row groups, reads them back and compares
 * every cell. False if there is nothing to gain: the file's own row groups are small, or Parquet
 * can't hold all its types.
 * @throws PackError if the rows differ
 */
export async function writePages(
  { path, types }: FileToCopy,
  target: string,
  run: RunStatement,
): Promise<boolean> {
  const columns = [...types]
  const hasSmallGroups = (await largestGroup(path, run)) <= groupRowsMax
  if (hasSmallGroups || !(await keepsTypes(columns, path, target, run))) return false
  const source = readSql(path)
  const cells = columns.map(([name, type]) => ({ sql: identifier(name), type }))
  const layout = layoutSql(rangeRows, await dictionaryOption(run, source, cells))
  const rows = `SELECT ${namesSql(columns)} FROM ${source}`
  await run({ sql: `COPY (${rows}) TO ${targetSql(target)} ${layout}` })
  const wanted = await run({ sql: checksumSql(columns, path) })
  const found = await run({ sql: checksumSql(columns, target) })
  if (String(wanted) !== String(found)) {
    throw new PackError('The pages of a file differ from it; they were not kept.')
  }
  return true
}

async function largestGroup(path: string, run: RunStatement): Promise<number> {
  const [[rows] = []] = await run({
    sql: `SELECT max(row_group_num_rows) FROM parquet_metadata(${pathsSql([path])})
      WHERE column_id = 0`,
  })
  return Number(rows ?? 0)
}

/**
 * Writes a file without rows and reads it back: DuckDB silently replaces types that Parquet lacks
 * (HUGEINT by DOUBLE). The union types that it writes have parts without a name, which no table of
 * it may have.
 */
async function keepsTypes(
  columns: readonly FileColumn[],
  path: string,
  target: string,
  run: RunStatement,
): Promise<boolean> {
  if (columns.some(([, type]) => JSON.stringify(type).includes('"name":""'))) return false
  const rows = `SELECT ${namesSql(columns)} FROM ${readSql(path)} LIMIT 0`
  await run({ sql: `COPY (${rows}) TO ${targetSql(target)} (FORMAT parquet, ${shapes})` })
  const describe = (select: string) => run({ sql: `SELECT column_type FROM (DESCRIBE ${select})` })
  const [wanted, found] = [await describe(rows), await describe(`SELECT * FROM ${readSql(target)}`)]
  return String(wanted) === String(found)
}

function namesSql(columns: readonly FileColumn[]): string {
  return columns.map(([name]) => identifier(name)).join(', ')
}
