import { dirname, join } from 'node:path'
import type { CellType } from '../../../versions/tables/column-types.js'
import type { TableTexts, WriteTable } from '../../../versions/tables/import-table.js'
import { TableError } from '../../../versions/tables/table.js'
import { readFailure } from '../duckdb-failure.js'
import { bindPaths, bindTarget, boundFilesSql } from '../paths.js'
import { withPlainPaths } from '../plain-paths.js'
import { fileOptions } from '../table-file.js'
import { runnerOn } from '../run-statement.js'
import { inSandbox } from '../sandbox.js'
import { identifier, literal } from '../../sql/quote.js'

/** The default of DuckDB; it needs a buffer of twice the longest record. */
const recordBytesMin = 2_000_000
/** One thread keeps the order of rows without waiting, and reads quoted line breaks right. */
const threads = 1
const never = new AbortController().signal

/** Writes tables; `defaultMemoryBytes` if the order sets no limit. */
export function duckDbTableWriter(defaultMemoryBytes: number): WriteTable {
  return (texts, target, limit) =>
    withPlainPaths(async (plain) => {
      const folder = dirname(target)
      const memoryLimitBytes = limit ?? defaultMemoryBytes
      const tempFolder = join(folder, 'tmp')
      const options = { folders: [folder], tempFolder, memoryLimitBytes, threads }
      const work = inSandbox(options, async (connection) => {
        const run = runnerOn(connection, never)
        const values = [bindPaths([plain.of(texts.path)]), bindTarget(target)]
        await run({ sql: copySql(texts), values })
        const written = `SELECT count(*) FROM ${boundFilesSql('$1')}`
        const [counts = []] = await run({ sql: written, values: [bindPaths([plain.of(target)])] })
        if (Number(counts[0]) !== texts.rows) throw new Error('the written rows differ in number')
      })
      await work.catch((cause: unknown) => {
        if (readFailure(cause).type !== 'Out of Memory') throw cause
        const [columns, megabytes] = [texts.columns.length, Math.floor(memoryLimitBytes / 1e6)]
        throw new TableError(
          `error: ${columns} columns need more memory than ${megabytes} MB: raise --memory-limit.`,
        )
      })
    })
}

/** Every option is set: nothing is guessed from the content. */
function copySql({ columns, recordBytesMax }: TableTexts): string {
  const cells = columns.map(
    ({ name, type }, at) => `${cellSql(`c${at}`, type)} AS ${identifier(name)}`,
  )
  const types = ['one', ...cells.map((_, at) => `c${at}`)].map((name) => `${name}: 'VARCHAR'`)
  return `COPY (SELECT ${cells.join(', ')} FROM read_csv($1, auto_detect = false, header = false,
    delim = ',', quote = '"', escape = '"', nullstr = '', new_line = '\\n', strict_mode = true,
    null_padding = true, max_line_size = ${Math.max(recordBytesMin, recordBytesMax + 1)},
    parallel = false, columns = {${types.join(', ')}})) TO $2 ${fileOptions('')}`
}

const [dottedDay, isoDay] = [String.raw`^(\d\d)\.(\d\d)\.(\d{4})`, String.raw`\3-\2-\1`]
const sqlTypes: Readonly<Record<string, string>> = { integer: 'BIGINT', instant: 'TIMESTAMPTZ' }

/** SQL of a cell's value in its type, from SQL of its text; it fails for any other text. */
function cellSql(text: string, type: CellType): string {
  if (type === 'text') return text
  if (type === 'boolean') return `lower(trim(${text})) IN ('true', 'истина')`
  const day = `regexp_replace(trim(${text}), ${literal(dottedDay)}, ${literal(isoDay)})`
  const number = `replace(translate(${text}, ' \u00a0\u202f', ''), ',', '.')`
  const isDay = ['date', 'timestamp', 'instant'].includes(type)
  return `CAST(${isDay ? day : number} AS ${sqlTypes[type] ?? type})`
}
