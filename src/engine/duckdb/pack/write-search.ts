import { rangeRows } from '../../../versions/forms/form.js'
import { PackError } from '../../../versions/forms/forms-order.js'
import type { FormsOrder } from '../../../versions/forms/forms-order.js'
import { targetSql } from '../paths.js'
import { selectRows } from '../read/compile.js'
import { SqlParameters } from '../read/condition.js'
import { foldedSql } from '../../sql/word-pattern.js'
import type { RunStatement, Statement } from '../run-statement.js'
import { columnsOf, layoutSql, readSql, scansOfAll } from './pack-sql.js'

/** A search reads the whole file, so its row groups are large. */
const rowGroupRows = 122_880

/**
 * Writes the search file of a column: each text, folded, with each file and range of rows that has
 * it. Reads it back and compares it with the files.
 * @throws PackError if it differs
 */
export async function writeSearch(
  order: FormsOrder,
  source: string,
  path: string,
  run: RunStatement,
): Promise<void> {
  const { sql, values = [] } = textsOf(order, source)
  // Equal texts side by side take little space, and DuckDB compares them once.
  const sorted = `COPY (${sql} ORDER BY text, file, range) TO ${targetSql(path)}`
  await run({ sql: `${sorted} ${layoutSql(rowGroupRows)}`, values })
  const sum = (rows: string) =>
    `SELECT count(*), coalesce(sum(CAST(hash(file, range, text) AS HUGEINT)), 0) FROM (${rows})`
  const wanted = await run({ sql: sum(sql), values })
  const found = await run({ sql: sum(`SELECT file, range, text FROM ${readSql(path)}`) })
  if (String(wanted) !== String(found)) {
    throw new PackError('A search file differs from the files; it was not kept.')
  }
}

/** Ranges are counted from the first row of each file. */
function textsOf(order: FormsOrder, source: string): Statement {
  const column = columnsOf(order).get(source)
  if (!column) throw new RangeError('a searched column is not among the columns')
  const parameters = new SqlParameters()
  const selects = scansOfAll(order).map((scan) => {
    const indexes = scan.files.map(({ index }) => index).join(', ')
    return selectRows(scan, [], parameters, (sqlOf) => {
      const file = `list_extract([${indexes}], CAST(file_index AS BIGINT) + 1)`
      const range = `file_row_number // ${rangeRows}`
      return `CAST(${file} AS INTEGER) AS file, CAST(${range} AS INTEGER) AS range,
        ${sqlOf(column)} AS text`
    })
  })
  const sql = `SELECT file, range, ${foldedSql('text')} AS text FROM (
    SELECT DISTINCT file, range, text FROM (${selects.join(' UNION ALL ')}) WHERE text IS NOT NULL)`
  return { sql, values: parameters.values }
}
