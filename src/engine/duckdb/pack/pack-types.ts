import { quoted } from '../../../text.js'
import { PackError } from '../../../versions/packer.js'
import type { PackOrder } from '../../../versions/packer.js'
import type { Ask } from '../open/read-bounds.js'
import { targetSql } from '../paths.js'
import { identifier } from '../sql.js'
import { wholeScans } from './pack-scans.js'
import { readSql, scanSql } from './pack-sql.js'

/**
 * Writes a file without rows and reads it again: DuckDB turns types that Parquet lacks into others
 * without a word (HUGEINT into DOUBLE).
 * @throws PackError naming the columns that would come back as something else
 */
export async function requireSameTypes(ask: Ask, order: PackOrder, path: string): Promise<void> {
  const [strand] = wholeScans(order)
  if (!strand) throw new PackError('There is no file to pack.')
  const list = order.columns.map(({ name }, index) => `c${index} AS ${identifier(name)}`)
  const rows = `SELECT ${list.join(', ')} FROM (${scanSql(order, strand, order.columns)}) LIMIT 0`
  await ask(`COPY (${rows}) TO ${targetSql(path)} (FORMAT parquet)`)
  const [names = [], types = []] = await describe(ask, rows)
  const [, packed = []] = await describe(ask, `SELECT * FROM ${readSql([path])}`)
  const lost = names.flatMap((name, index) => {
    if (types[index] === packed[index]) return []
    return [`${quoted(String(name))} is ${String(types[index])}, not ${String(packed[index])}`]
  })
  if (lost.length === 0) return
  throw new PackError(`Parquet can't hold every column without loss: ${lost.join('; ')}.`)
}

function describe(ask: Ask, select: string): Promise<unknown[][]> {
  return ask(`SELECT column_name, column_type FROM (DESCRIBE ${select})`)
}
