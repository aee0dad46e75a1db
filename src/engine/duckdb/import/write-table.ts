import { dirname, join } from 'node:path'
import { decideColumns, readStatedTypes } from '../../../versions/tables/column-types.js'
import type { WriteTable } from '../../../versions/tables/import-table.js'
import { TableError } from '../../../versions/tables/table.js'
import type { TableTexts } from '../../../versions/tables/table.js'
import { readFailure } from '../duckdb-failure.js'
import { bindPaths, bindTarget, boundFilesSql, pathsSql } from '../paths.js'
import { withPlainPaths } from '../plain-paths.js'
import { fileOptions } from '../read/page-file.js'
import { runnerOn } from '../run-statement.js'
import { inSandbox } from '../sandbox.js'
import { identifier } from '../sql.js'
import { valueSql } from './column-sql.js'
import { readFacts, requireFits } from './read-facts.js'

/** The default of DuckDB; it needs a buffer of twice the longest record. */
const recordBytesMin = 2_000_000
/** One thread keeps the order of rows without waiting, and reads quoted line breaks right. */
const threads = 1
const never = new AbortController().signal

/** Writes tables; `defaultMemoryBytes` if the order sets no limit. */
export function duckDbTableWriter(defaultMemoryBytes: number): WriteTable {
  return (texts, target, order) =>
    withPlainPaths(async (plain) => {
      const folder = dirname(target)
      const memoryLimitBytes = order.memoryLimitBytes ?? defaultMemoryBytes
      const tempFolder = join(folder, 'tmp')
      const options = { folders: [folder], tempFolder, memoryLimitBytes, threads }
      try {
        return await inSandbox(options, async (connection) => {
          const run = runnerOn(connection, never)
          const from = textsSql(texts, plain.of(texts.path))
          await run({ sql: `CREATE VIEW texts AS SELECT * FROM ${from}` })
          const stated = readStatedTypes(order.types, texts.names)
          await requireFits(texts.names, stated, order, run)
          const facts = await readFacts(texts.names.length, run)
          const decided = decideColumns(texts, stated, facts)
          const cells = decided.columns.map(
            ({ name, type }, index) => `${valueSql(`c${index}`, type)} AS ${identifier(name)}`,
          )
          const copy = `COPY (SELECT ${cells.join(', ')} FROM texts) TO $1 ${fileOptions}`
          await run({ sql: copy, values: [bindTarget(target)] })
          const written = `SELECT count(*) FROM ${boundFilesSql('$1')}`
          const [counts = []] = await run({ sql: written, values: [bindPaths([plain.of(target)])] })
          if (Number(counts[0]) !== texts.rows) throw new Error('the written rows differ in number')
          return decided
        })
      } catch (cause) {
        if (readFailure(cause).type !== 'Out of Memory') throw cause
        throw new TableError(
          `error: the ${texts.names.length} columns of ${order.file} need more memory than ` +
            `${Math.floor(memoryLimitBytes / 1e6)} MB: raise --memory-limit.`,
        )
      }
    })
}

/** Every option is set: nothing is guessed from the content. */
function textsSql({ names, recordBytesMax }: TableTexts, path: string): string {
  const types = names.map((_, index) => `c${index}: 'VARCHAR'`)
  return `read_csv(${pathsSql([path])}, auto_detect = false, header = false, delim = ',',
    quote = '"', escape = '"', nullstr = '', new_line = '\\n', strict_mode = true,
    null_padding = true, max_line_size = ${Math.max(recordBytesMin, recordBytesMax + 1)},
    parallel = false, columns = {line: 'BIGINT', ${types.join(', ')}})`
}
