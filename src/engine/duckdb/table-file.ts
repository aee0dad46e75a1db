import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Column } from '../../columns/column.js'
import { identifier } from '../sql/quote.js'
import { bindBigint } from './bind.js'
import { dictionaryOption } from './dictionary-option.js'
import { unwritable } from './duckdb-failure.js'
import { bindTarget } from './paths.js'
import type { RunStatement } from './run-statement.js'

/** Every Parquet reader supports it. */
const codec = 'snappy'
/** More rows than any page has, so that a page is one row group. */
const rowGroupRows = 122_880

/** How every file of an answer is written; `dictionary` is of `dictionaryOption`. */
export function fileOptions(dictionary: string): string {
  return `(FORMAT parquet, ${dictionary}COMPRESSION ${codec}, ROW_GROUP_SIZE ${rowGroupRows})`
}

/** A temporary table with a cell of each column: `c0`, `c1`, … */
interface OrderedTable {
  readonly name: string
  readonly columns: readonly Pick<Column, 'name' | 'type'>[]
  /** What its rows are sorted by, in SQL. */
  readonly order: string
}

/**
 * Drops the table and returns its first rows as a Parquet file.
 * @throws service_unavailable when no file can be written to the folder
 */
export async function takeFile(
  { name, columns, order }: OrderedTable,
  rows: number,
  folder: string,
  run: RunStatement,
): Promise<Buffer> {
  const cells = columns.map(({ type }, index) => ({ sql: `c${index}`, type }))
  const dictionary = await dictionaryOption(run, name, cells)
  const list = columns.map((column, index) => `c${index} AS ${identifier(column.name)}`)
  const sql = `COPY (SELECT ${list.join(', ')} FROM ${name} ORDER BY ${order} LIMIT $1)
    TO $2 ${fileOptions(dictionary)}`
  const file = await writeFile(folder, (path) =>
    run({ sql, values: [bindBigint(rows), bindTarget(path)] }),
  )
  await run({ sql: `DROP TABLE ${name}` })
  return file
}

/**
 * Returns the bytes of the file that `write` creates, and removes the file, also after a failure.
 * @throws service_unavailable when no file can be written there
 */
async function writeFile(
  folder: string,
  write: (path: string) => Promise<unknown>,
): Promise<Buffer> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const own = await mkdtemp(join(folder, 'page-'))
    try {
      const path = join(own, 'page.parquet')
      await write(path)
      return await readFile(path)
    } finally {
      await rm(own, { recursive: true, force: true })
    }
  } catch (cause) {
    throw unwritable(cause, folder)
  }
}
