import type { FinishedSearch } from '../../../versions/packing/pack-record.js'
import { searchName } from '../../../versions/packing/pack-record.js'
import { PackError } from '../../../versions/packing/packer.js'
import { targetSql } from '../paths.js'
import { foldedSql } from '../read/word-pattern.js'
import type { RunStatement } from '../run-statement.js'
import { identifier } from '../sql.js'
import { layoutSql, readSql } from './pack-sql.js'

/** A search reads the whole file, so its row groups are large. */
const layout = { codec: 'lz4_raw', parquetVersion: 'V2', rowGroupRows: 122_880 } as const

/**
 * Writes the search file of a column of packed files: each text, folded, once for each file that
 * has it. Files are counted in this order. Reads it back and compares it with the packed files.
 * @throws PackError if it differs
 */
export async function writeSearchFile(
  column: string,
  packed: readonly string[],
  run: RunStatement,
  pathOf: (name: string) => string,
): Promise<FinishedSearch> {
  const name = searchName(column)
  const path = pathOf(name)
  const texts = textsSql(column, packed)
  await run({
    sql: `COPY (${texts} ORDER BY file, text) TO ${targetSql(path)} ${layoutSql(layout)}`,
  })
  const [wanted, wantedSum] = await checksumOf(texts, run)
  const [rows, sum] = await checksumOf(`SELECT file, text FROM ${readSql([path])}`, run)
  if (rows !== wanted || sum !== wantedSum) {
    throw new PackError('A search file differs from the packed files; it was not kept.')
  }
  return { column, name, texts: Number(rows) }
}

function textsSql(column: string, packed: readonly string[]): string {
  const text = identifier(column)
  return `SELECT file, ${foldedSql('text')} AS text FROM (
    SELECT DISTINCT CAST(file_index AS INTEGER) AS file, ${text} AS text
    FROM ${readSql(packed)} WHERE ${text} IS NOT NULL)`
}

async function checksumOf(rows: string, run: RunStatement): Promise<readonly string[]> {
  const found = await run({
    sql: `SELECT count(*), coalesce(sum(CAST(hash(file, text) AS HUGEINT)), 0) FROM (${rows})`,
  })
  return found.map(([cell]) => String(cell))
}
