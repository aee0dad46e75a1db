import { quoted } from '../../../text.js'
import { PackError } from '../../../versions/packing/packer.js'
import type { PackOrder } from '../../../versions/packing/packer.js'
import { targetSql } from '../paths.js'
import type { RunStatement } from '../run-statement.js'
import { identifier } from '../sql.js'
import { wholeScans } from './pack-scans.js'
import { readSql, scanSql, shapes } from './pack-sql.js'

/**
 * Writes a file without rows and reads it back: DuckDB silently replaces types that Parquet lacks
 * (HUGEINT by DOUBLE). The union types that it writes have parts without a name, which no table of
 * it may have.
 * @throws PackError naming the columns whose type would change
 */
export async function requireSameTypes(
  run: RunStatement,
  order: PackOrder,
  path: string,
): Promise<void> {
  const [scan] = wholeScans(order)
  if (!scan) throw new PackError('There is no file to pack.')
  const list = order.columns.map(({ name }, index) => `c${index} AS ${identifier(name)}`)
  const rows = `SELECT ${list.join(', ')} FROM (${scanSql(order, scan, order.columns)}) LIMIT 0`
  await run({ sql: `COPY (${rows}) TO ${targetSql(path)} (FORMAT parquet, ${shapes})` })
  const [names = [], types = []] = await describe(run, rows)
  const [, packed = []] = await describe(run, `SELECT * FROM ${readSql([path])}`)
  const lost = names.flatMap((name, index) => {
    if (JSON.stringify(order.columns[index]?.type).includes('"name":""')) {
      return [`${quoted(String(name))} has parts without a name`]
    }
    if (types[index] === packed[index]) return []
    return [`${quoted(String(name))} is ${String(types[index])}, not ${String(packed[index])}`]
  })
  if (lost.length === 0) return
  throw new PackError(`Parquet can't hold every column without loss: ${lost.join('; ')}.`)
}

function describe(run: RunStatement, select: string): Promise<unknown[][]> {
  return run({ sql: `SELECT column_name, column_type FROM (DESCRIBE ${select})` })
}
