import { dirname, join } from 'node:path'
import type { StagedTable } from '../../../versions/tables/stage-table.js'
import type { WriteTable } from '../../../versions/tables/write-table.js'
import { bindPaths, bindTarget, boundFilesSql } from '../paths.js'
import { withPlainPaths } from '../plain-paths.js'
import { fileOptions } from '../read/page-file.js'
import { runnerOn } from '../run-statement.js'
import { inSandbox } from '../sandbox.js'
import { identifier } from '../sql.js'
import { cellSql } from './cell-sql.js'

/** The default of DuckDB; it needs a buffer of twice the longest record. */
const recordBytesMin = 2_000_000
/** One thread keeps the order of rows without waiting, and reads quoted line breaks right. */
const threads = 1

/** Writes staged tables; `defaultMemoryBytes` if the caller sets no limit. */
export function duckDbTableWriter(defaultMemoryBytes: number): WriteTable {
  return (table, target, { signal, memoryLimitBytes }) =>
    withPlainPaths(async (plain) => {
      const folder = dirname(target)
      const options = {
        folders: [folder],
        tempFolder: join(folder, 'tmp'),
        memoryLimitBytes: memoryLimitBytes ?? defaultMemoryBytes,
        threads,
      }
      await inSandbox(options, async (connection) => {
        const run = runnerOn(connection, signal)
        const values = [bindPaths([plain.of(table.path)]), bindTarget(target)]
        await run({ sql: copySql(table), values })
        const written = `SELECT count(*) FROM ${boundFilesSql('$1')}`
        const [counts = []] = await run({ sql: written, values: [bindPaths([plain.of(target)])] })
        if (Number(counts[0]) !== table.rows) throw new Error('the written rows differ in number')
      })
    })
}

function copySql(table: StagedTable): string {
  const cells = table.columns.map(
    ({ name, type }, index) => `${cellSql(`c${index}`, type)} AS ${identifier(name)}`,
  )
  return `COPY (SELECT ${cells.join(', ')} FROM ${stagedSql(table)}) TO $2 ${fileOptions('')}`
}

/** Every option is set: nothing is guessed from the content. */
function stagedSql({ columns, recordBytesMax }: StagedTable): string {
  const names = ['one', ...columns.map((_, index) => `c${index}`)]
  const types = names.map((name) => `'${name}': 'VARCHAR'`)
  return `read_csv($1, auto_detect = false, header = false, delim = ',', quote = '"',
    escape = '"', nullstr = '', new_line = '\\n', strict_mode = true, null_padding = false,
    max_line_size = ${Math.max(recordBytesMin, recordBytesMax + 1)}, parallel = false,
    columns = {${types.join(', ')}})`
}
