import type { Column } from '../../../columns/column.js'
import { bindBigint } from '../bind.js'
import { dictionaryOption } from '../dictionary-option.js'
import { bindTarget } from '../paths.js'
import { fileOptions, writeFile } from '../read/page-file.js'
import type { RunStatement } from '../run-statement.js'
import { identifier } from '../../sql/quote.js'

/** A temporary table with the column `place`, from 1, and a cell of each column: `c0`, `c1`, … */
export interface PlacedTable {
  readonly name: string
  readonly columns: readonly Column[]
}

/** Drops the table and returns its first rows as a Parquet file, in the order of their places. */
export async function takeFile(
  { name, columns }: PlacedTable,
  rows: number,
  folder: string,
  run: RunStatement,
): Promise<Buffer> {
  const cells = columns.map(({ type }, index) => ({ sql: `c${index}`, type }))
  const dictionary = await dictionaryOption(run, name, cells)
  const list = columns.map((column, index) => `c${index} AS ${identifier(column.name)}`)
  const sql = `COPY (SELECT ${list.join(', ')} FROM ${name} WHERE place <= $1 ORDER BY place)
    TO $2 ${fileOptions(dictionary)}`
  const file = await writeFile(folder, (path) =>
    run({ sql, values: [bindBigint(rows), bindTarget(path)] }),
  )
  await run({ sql: `DROP TABLE ${name}` })
  return file
}
