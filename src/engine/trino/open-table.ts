import { createHash } from 'node:crypto'
import type { Clock } from '../../clock.js'
import { hasBounds, plainColumn } from '../../columns/column.js'
import type { Column } from '../../columns/column.js'
import type { FileColumn, TextBounds } from '../../versions/opener.js'
import { tableName } from '../../versions/remote-table.js'
import type { OpenTable, OpenedTable, RemoteTable } from '../../versions/remote-table.js'
import { sourceOf, tableSql } from './compile.js'
import { servedText } from '../sql/encode.js'
import { identifier } from '../sql/quote.js'
import { trino } from './dialect.js'
import { statement } from './statement.js'
import type { RunTrino } from './statement.js'
import { TrinoClient, TrinoError } from './trino-client.js'
import type { TrinoLogin } from './trino-client.js'
import { dataTypeOf } from './trino-types.js'

/** Opens tables of Trino clusters as this user. */
export function trinoOpener(login: TrinoLogin, clock: Clock): OpenTable {
  return async (table, boundsOf, signal, known = null) => {
    try {
      const client = new TrinoClient(table.url, login, clock)
      const run: RunTrino = (statement) => client.run(statement, signal)
      const columns = await readColumns(table, run)
      if (columns.length === 0) {
        throw new Error('there is no such table, or the user may not see it')
      }
      const files = await readFiles(table, run)
      // The order of rows, which cursors need, is that of the key.
      const facts = [tableName(table), boundsOf, columns]
      const ofFiles = files && stateOf([...facts, files.state])
      if (ofFiles !== null && known?.state === ofFiles) return known
      const content = await readContent(table, columns, boundsOf, run)
      return {
        ...content,
        columns,
        state: ofFiles ?? stateOf([...facts, content.rows, [...content.bounds]]),
        modifiedMs: files?.modifiedMs ?? clock.now(),
      }
    } catch (cause) {
      signal.throwIfAborted()
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`${tableName(table)} can't be read: ${reason}`, { cause })
    }
  }
}

function stateOf(facts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}

/** The number of rows and the bounds of these columns. */
async function readContent(
  table: RemoteTable,
  columns: readonly FileColumn[],
  boundsOf: readonly string[],
  run: RunTrino,
): Promise<Pick<OpenedTable, 'rows' | 'bounds'>> {
  const bounded = columns
    .filter((column) => boundsOf.includes(column.name) && hasBounds(column))
    .map(({ name, type }) => plainColumn(name, type))
  const [[rows, ...found] = []] = await run({ text: boundsSql(table, bounded), values: [] })
  const bounds = bounded.map((column, index): [string, TextBounds | null] => {
    const [min = null, max = null] = found.slice(2 * index, 2 * index + 2)
    return [column.name, min === null || max === null ? null : { min, max }]
  })
  return { rows: Number(rows), bounds: new Map(bounds) }
}

async function readColumns(
  { catalog, schema, table }: RemoteTable,
  run: RunTrino,
): Promise<readonly FileColumn[]> {
  const compiled = statement(
    (parameters) => `SELECT column_name, data_type, is_nullable
    FROM ${identifier(catalog)}.information_schema.columns
    WHERE table_schema = ${parameters.text(schema)} AND table_name = ${parameters.text(table)}
    ORDER BY ordinal_position`,
  )
  const found = await run(compiled)
  return found.map(([name, type, nullable]) => ({
    name: name ?? '',
    type: dataTypeOf(type ?? ''),
    required: nullable === 'NO',
  }))
}

function boundsSql(table: RemoteTable, columns: readonly Column[]): string {
  const bounds = columns.flatMap((column) =>
    ['min', 'max'].map((each) => servedText(trino, column.type, `${each}(${sourceOf(column)})`)),
  )
  const cells = ['CAST(count(*) AS VARCHAR)', ...bounds]
  return `SELECT ${cells.join(', ')} FROM ${tableSql(table)}`
}

interface TableFiles {
  readonly state: string
  readonly modifiedMs: number
}

/** What tables of files tell of them: names and times; null for any other table. */
async function readFiles(table: RemoteTable, run: RunTrino): Promise<TableFiles | null> {
  const text = `WITH files AS (SELECT "$path" AS path, "$file_modified_time" AS modified
      FROM ${tableSql(table)} GROUP BY 1, 2)
    SELECT to_hex(checksum(CAST(ROW(path, modified) AS ROW(a VARCHAR,
        b TIMESTAMP(3) WITH TIME ZONE)))),
      CAST(coalesce(CAST(to_unixtime(max(modified)) * 1000 AS BIGINT), 0) AS VARCHAR) FROM files`
  try {
    const [[state, modified] = []] = await run({ text, values: [] })
    return { state: state ?? '', modifiedMs: Number(modified) }
  } catch (cause) {
    if (cause instanceof TrinoError && cause.code === 'COLUMN_NOT_FOUND') return null
    throw cause
  }
}
